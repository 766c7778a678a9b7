"""Profiles in JSON: CPU profiles of V8, profiles of the Firefox Profiler, Speedscope's format.

Sources: chromedevtools.github.io/devtools-protocol, Profiler.Profile; speedscope.app/
file-format-schema.json; github.com/firefox-devtools/profiler, src/types/profile.ts.

A reader takes a file's unpacked content, and its name for messages; other files are InputErrors.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, chain, repeat
from typing import Annotated, Literal, TypeVar

import msgspec

from benchyard.core.errors import InputError
from benchyard.core.wording import quote
from benchyard.traces.building import OpenSlices, TraceBuilder
from benchyard.traces.model import BYTES, MOST_NS, SAMPLES, TIME, Trace, Unit
from benchyard.traces.stacks import Frames, add_samples, chosen, stacks_of

T = TypeVar("T")
_NS_PER_US, _NS_PER_MS = 1_000, 1_000_000
_Index = Annotated[int, msgspec.Meta(ge=0)]
#: Microseconds or milliseconds; without a bound, sums of them might be none.
_Number = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]


def _decoded(content: bytes, kind: type[T], where: str, what: str) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: not {what}: {error}") from error


# -- V8: Node, Deno and Chrome's DevTools

_ROOT = "(root)"


class _CallFrame(msgspec.Struct, rename="camel"):
    function_name: str = ""
    url: str = ""
    line_number: int = -1

    @property
    def name(self) -> str:
        """The function with its place; places are counted from 0."""
        said = self.function_name or "(anonymous)"
        file = self.url.rpartition("/")[2]
        return f"{said} ({file}:{self.line_number + 1})" if file else said


class _Node(msgspec.Struct, rename="camel"):
    id: int
    call_frame: _CallFrame
    children: list[int] = []
    parent: int | None = None


class _CpuProfile(msgspec.Struct, rename="camel"):
    nodes: list[_Node] = []
    start_time: _Number = 0
    end_time: _Number = 0
    samples: list[int] = []
    time_deltas: list[_Number] = []


def read_cpuprofile(content: bytes, where: str) -> Trace:
    """Read a CPU profile of V8: each sample lasts until the next one."""
    profile = _decoded(content, _CpuProfile, where, "a CPU profile of V8")
    builder = TraceBuilder()
    _add_profile(builder, builder.track("profile", "main"), profile, where)
    return builder.sampled(TIME)


def _add_profile(
    builder: TraceBuilder, track: int, profile: _CpuProfile, where: str, begin: int = 0
) -> None:
    if len(profile.samples) != len(profile.time_deltas):
        builder.lose("samples and times differ in number", "its end")
    names = {one.id: one.call_frame.name for one in profile.nodes}
    callers = {child: one.id for one in profile.nodes for child in one.children}
    callers |= {one.id: one.parent for one in profile.nodes if one.parent is not None}
    stack_of = stacks_of(names, callers, where)

    def frames(node: int) -> Sequence[str]:
        stack = stack_of(node)
        return stack[stack[0] == _ROOT :]  # all begin at the root, which is no function

    add_samples(builder, track, _until_next(profile, begin), frames, "node")


def _until_next(profile: _CpuProfile, begin: int) -> Iterator[tuple[int, int, int]]:
    # Times are told each from the one before, and not always in order.
    seen = sorted(zip(accumulate(profile.time_deltas), profile.samples, strict=False))
    idle = begin + max(0, round(seen[0][0] * _NS_PER_US)) if seen else 0
    ends = [time for time, _ in seen[1:]] + [profile.end_time - profile.start_time]
    for (start, node), end in zip(seen, ends, strict=False):
        yield idle, node, max(0, round((end - start) * _NS_PER_US))
        idle = 0


class _Chunk(msgspec.Struct, rename="camel"):
    cpu_profile: _CpuProfile = msgspec.field(default_factory=_CpuProfile)
    time_deltas: list[_Number] = []
    start_time: _Number = 0


class ProfileChunk(msgspec.Struct):
    """Arguments of DevTools' events ``Profile``, with the start, and ``ProfileChunk``."""

    data: _Chunk = msgspec.field(default_factory=_Chunk)


def add_chunks(builder: TraceBuilder, track: int, chunks: Sequence[ProfileChunk]) -> None:
    """Add a CPU profile of V8 that a trace has in pieces; see ``read_cpuprofile``."""
    pieces = [one.data for one in chunks]
    begin = max(0, round(max(one.start_time for one in pieces) * _NS_PER_US))
    profile = _CpuProfile(
        nodes=[node for one in pieces for node in one.cpu_profile.nodes],
        samples=[node for one in pieces for node in one.cpu_profile.samples],
        time_deltas=[time for one in pieces for time in one.time_deltas],
    )
    _add_profile(builder, track, profile, "a profile in the trace", begin)


# -- the Firefox Profiler, whose format samply and others write too: processed, not Gecko's


class _Table(msgspec.Struct, rename="camel"):
    """Columns of stacks (frame, and what each continues), of frames (func), or of functions."""

    frame: list[_Index] = []
    prefix: list[_Index | None] = []
    prefix_offset: list[_Index] = []
    func: list[_Index] = []
    name: list[_Index] = []

    def callers(self) -> dict[int, int]:
        """Return the parent of each stack; newer files have the distance to it."""
        offsets = {at: at - by for at, by in enumerate(self.prefix_offset) if by}
        return offsets | {at: one for at, one in enumerate(self.prefix) if one is not None}


class _Tables(msgspec.Struct, rename="camel"):
    """The tables of a thread; newer files share one set among all threads."""

    stack_table: _Table | None = None
    frame_table: _Table | None = None
    func_table: _Table | None = None
    string_array: list[str] | None = None

    def frames(self, shared: "_Tables", where: str) -> Frames[int | None]:
        texts = self.string_array or shared.string_array or []
        functions = self.func_table or shared.func_table or _Table()
        frames = self.frame_table or shared.frame_table or _Table()
        stacks = self.stack_table or shared.stack_table or _Table()
        try:
            names = [texts[functions.name[one]] for one in frames.func]
            last = {at: names[frame] for at, frame in enumerate(stacks.frame)}
        except IndexError:
            raise InputError(f"{where}: its tables do not fit each other") from None
        return stacks_of(last, stacks.callers(), where)


class _Samples(msgspec.Struct, rename="camel"):
    stack: list[_Index | None]
    time: list[_Number] | None = None
    time_deltas: list[_Number] = []
    weight: list[_Number] | None = None
    weight_type: Literal["samples", "tracing-ms", "bytes"] = "samples"

    def weighed(self, interval: float) -> Iterator[tuple[int, int | None, int]]:
        """Yield of each sample the idle time before it, its stack and its value."""
        factor = {"samples": interval, "tracing-ms": _NS_PER_MS, "bytes": 1}[self.weight_type]
        times = self.time or accumulate(self.time_deltas)
        weights = self.weight or [1.0] * len(self.stack)
        now = 0
        for stack, weight, time in zip(self.stack, weights, times, strict=False):
            gap, value = round(time * _NS_PER_MS) - now, round(weight * factor)
            idle = gap if gap >= interval and self.weight_type != "bytes" else 0
            yield idle, stack, value
            now += idle + max(0, value)


class _Thread(_Tables):
    samples: _Samples = msgspec.field(default_factory=lambda: _Samples([]))
    name: str = ""
    process_name: str = ""
    pid: int | str = ""
    tid: int | str = ""


class _Meta(msgspec.Struct, rename="camel"):
    interval: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 1
    start_time: _Number = 0


class _FirefoxFile(msgspec.Struct):
    meta: _Meta
    threads: list[_Thread]
    shared: _Tables = msgspec.field(default_factory=_Tables)


def read_firefox(content: bytes, where: str, kind: str = "") -> Trace:
    """Read a profile; each thread is a track. A sample lasts for its weight in intervals.

    Args:
        kind: Of weights: samples, tracing-ms, bytes; those of the first thread without it.
    """
    file = _decoded(content, _FirefoxFile, where, "a profile of the Firefox Profiler")
    kinds = [one.samples.weight_type for one in file.threads] or ["samples"]
    wanted = chosen(kind, kinds, f"{where} has no weights of type")
    builder = TraceBuilder()
    zero = round(file.meta.start_time * _NS_PER_MS)
    builder.zero = zero if 0 < zero < MOST_NS else None
    for number, thread in enumerate(file.threads, 1):
        told, samples = f"thread {number}", thread.samples
        if samples.weight_type == wanted:
            process = f"{thread.process_name or 'process'} {thread.pid}".strip()
            track = builder.track(process, f"{thread.name} {thread.tid or number}")
            values = samples.weighed(file.meta.interval * _NS_PER_MS)
            add_samples(builder, track, values, thread.frames(file.shared, where), "stack", told)
        elif samples.stack:
            why = f"{samples.weight_type}, which are not added to others: --type shows them"
            builder.lose(why, told)
    return builder.sampled(BYTES if wanted == "bytes" else TIME)


# -- Speedscope: profiles of sampled stacks, or of opened and closed frames

_NS = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}


class _Frame(msgspec.Struct):
    name: str


class _Shared(msgspec.Struct):
    frames: list[_Frame]


class _Moment(msgspec.Struct, gc=False):
    type: Literal["O", "C"]
    frame: _Index
    at: Decimal


class _Profile(msgspec.Struct, rename="camel"):
    type: Literal["sampled", "evented"]
    name: str = ""
    unit: str = "none"
    start_value: Decimal = Decimal()
    samples: list[list[_Index]] = []
    weights: list[Decimal] = []
    events: list[_Moment] = []

    @property
    def measured_in(self) -> Unit:
        return TIME if self.unit in _NS else BYTES if self.unit == "bytes" else SAMPLES

    def scaled(self, value: Decimal) -> int | None:
        """Return a value as a duration in the trace's unit; none of what is out of range."""
        found = value * _NS.get(self.unit, self.measured_in.scale)
        return round(found) if abs(found) < MOST_NS else None


class _SpeedscopeFile(msgspec.Struct):
    shared: _Shared
    profiles: list[_Profile]


def read_speedscope(content: bytes, where: str, kind: str = "") -> Trace:
    """Read a file; each profile is a track. Those in another unit are counted as not read.

    Args:
        kind: The unit, as the file says it, of profiles to read; the first one's without it.
    """
    file = _decoded(content, _SpeedscopeFile, where, "in Speedscope's format")
    builder = TraceBuilder()
    names = [frame.name for frame in file.shared.frames]
    named = Counter(one.name for one in file.profiles)
    units = {one.unit: one.measured_in for one in file.profiles} or {"": TIME}
    unit = units[chosen(kind, [*units], f"{where} has no profile of type")]
    for number, profile in enumerate(file.profiles, 1):
        told = f"profile {number}"
        if profile.measured_in != unit:
            why = f"a profile in {quote(profile.unit)}, which is not added to others"
            builder.lose(f"{why}: --type shows it", told)
            continue
        is_alone = profile.name and named[profile.name] == 1
        title = profile.name if is_alone else f"{profile.name or 'profile'} {number}"
        _Reader(builder, builder.track("profile", title), told).read(profile, names)
    sampled = any(one.type == "sampled" and one.measured_in == unit for one in file.profiles)
    return builder.sampled(unit, sampled=sampled)


@dataclass(frozen=True)
class _Reader:
    builder: TraceBuilder
    track: int
    where: str

    def read(self, profile: _Profile, names: Sequence[str]) -> None:
        if profile.type == "evented":
            self._events(profile, names)
            return
        weights = profile.weights or [Decimal(1)] * len(profile.samples)
        if len(weights) != len(profile.samples):
            self._lose("samples and weights differ in number", "its end")
        idles = chain([profile.scaled(profile.start_value) or 0], repeat(0))
        samples = zip(idles, profile.samples, map(profile.scaled, weights), strict=False)

        def frames(stack: Sequence[int]) -> Sequence[str]:
            return [names[frame] for frame in stack]

        add_samples(self.builder, self.track, samples, frames, "frame", self.where)

    def _events(self, profile: _Profile, names: Sequence[str]) -> None:
        waiting: OpenSlices[tuple[int, int]] = OpenSlices()
        last = 0
        for place, moment in enumerate(profile.events, 1):
            where, time = f"event {place:,}", profile.scaled(moment.at)
            if time is None:
                self._lose("a time is out of range", where)
            elif moment.frame >= len(names):
                self._lose("a frame that the file does not list", where)
            elif moment.type == "O":
                begun = self.builder.begin(self.track, names[moment.frame], time)
                waiting.begin(moment.frame, (time, begun))
            elif closed := waiting.end(moment.frame):
                self._close(closed[:-1], time, "closed with its caller", where)
                self.builder.end(closed[-1][1], max(time, closed[-1][0]))
            else:
                self._lose("closed and not open", where)
            last = max(last, time or 0)
        self._close(waiting.rest(), last, "taken to last until the end", "its end")

    def _close(self, opened: list[tuple[int, int]], time: int, how: str, where: str) -> None:
        """Close what is open and was never closed, and count it."""
        for start, begun in opened:
            self._lose(f"opened and never closed; {how}", where)
            self.builder.end(begun, max(time, start))

    def _lose(self, reason: str, where: str) -> None:
        self.builder.lose(reason, f"{self.where}, {where}")
