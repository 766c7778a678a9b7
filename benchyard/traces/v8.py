"""CPU profiles of V8: of Node, Deno and Chrome's DevTools.

Source: chromedevtools.github.io/devtools-protocol, Profiler.Profile.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Annotated

import msgspec

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import TIME, Trace
from benchyard.traces.stacks import add_stacks, stacks_of

_NS_PER_US = 1_000
_ROOT = "(root)"
#: In microseconds; without a bound, sums of them might be none.
_Time = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]


class _CallFrame(msgspec.Struct):
    functionName: str = ""  # noqa: N815 - as it stands in the file, like the following
    url: str = ""
    lineNumber: int = -1  # noqa: N815

    @property
    def name(self) -> str:
        """The function with its place; places are counted from 0."""
        said = self.functionName or "(anonymous)"
        file = self.url.rpartition("/")[2]
        return f"{said} ({file}:{self.lineNumber + 1})" if file else said


class _Node(msgspec.Struct):
    id: int
    callFrame: _CallFrame  # noqa: N815
    children: list[int] = []
    parent: int | None = None


class _Profile(msgspec.Struct):
    nodes: list[_Node]
    startTime: _Time = 0  # noqa: N815
    endTime: _Time = 0  # noqa: N815
    samples: list[int] = []
    timeDeltas: list[_Time] = []  # noqa: N815


def read_cpuprofile(content: bytes, where: str) -> Trace:
    """Read a profile: each sample lasts until the next one.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.

    Raises:
        InputError: If it is no such file.
    """
    try:
        profile = msgspec.json.decode(content, type=_Profile)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a CPU profile of V8: {error}") from error
    builder = TraceBuilder()
    if len(profile.samples) != len(profile.timeDeltas):
        builder.lose("samples and times differ in number", "its end")
    # Times are told each from the one before, and not always in order.
    seen = sorted(zip(accumulate(profile.timeDeltas), profile.samples, strict=False))
    start = max(0, round(seen[0][0] * _NS_PER_US)) if seen else 0
    samples = _samples(profile, seen, builder, where)
    add_stacks(builder, builder.track("profile", "main"), samples, start)
    return replace(builder.trace(), unit=replace(TIME, sampled=True))


def _samples(
    profile: _Profile, seen: Sequence[tuple[float, int]], builder: TraceBuilder, where: str
) -> Iterator[tuple[tuple[str, ...], int]]:
    frames = {one.id: one.callFrame.name for one in profile.nodes}
    callers = {child: one.id for one in profile.nodes for child in one.children}
    callers |= {one.id: one.parent for one in profile.nodes if one.parent is not None}
    stack_of = stacks_of(frames, callers, where)
    ends = [time for time, _ in seen[1:]] + [profile.endTime - profile.startTime]
    for place, ((start, node), end) in enumerate(zip(seen, ends, strict=False), 1):
        try:
            stack = stack_of(node)
        except KeyError:
            builder.lose("a node that the file does not list", f"sample {place:,}")
            stack = ()
        # All begin at the root, which is no function.
        yield stack[stack[:1] == (_ROOT,) :], max(0, round((end - start) * _NS_PER_US))
