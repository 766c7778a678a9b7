"""Profiles of the Firefox Profiler, which samply and others write too: processed, not Gecko's.

Source: github.com/firefox-devtools/profiler, src/types/profile.ts and
docs-developer/CHANGELOG-formats.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Annotated, Literal

import msgspec

from benchyard.core.errors import InputError
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import BYTES, MOST_NS, TIME, Trace
from benchyard.traces.stacks import add_stacks, stacks_of

_NS_PER_MS = 1_000_000
_Index = Annotated[int, msgspec.Meta(ge=0)]
_Number = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]


class _Table(msgspec.Struct, rename="camel"):
    """Columns of stacks (frame, and what each continues), of frames (func), or of functions."""

    frame: list[_Index] = []
    prefix: list[_Index | None] = []
    prefix_offset: list[_Index] = []
    func: list[_Index] = []
    name: list[_Index] = []

    def callers(self) -> dict[int, int]:
        """Return the stack that each one continues; newer files say how far above it stands."""
        offsets = {at: at - by for at, by in enumerate(self.prefix_offset) if by}
        return offsets | {at: one for at, one in enumerate(self.prefix) if one is not None}


class _Tables(msgspec.Struct, rename="camel"):
    """Of a thread; newer files have them once, for all."""

    stack_table: _Table | None = None
    frame_table: _Table | None = None
    func_table: _Table | None = None
    string_array: list[str] | None = None


class _Samples(msgspec.Struct, rename="camel"):
    stack: list[_Index | None]
    time: list[_Number] | None = None
    time_deltas: list[_Number] = []
    weight: list[_Number] | None = None
    weight_type: Literal["samples", "tracing-ms", "bytes"] = "samples"


class _Thread(_Tables):
    samples: _Samples = msgspec.field(default_factory=lambda: _Samples([]))
    name: str = ""
    process_name: str = ""
    pid: int | str = ""
    tid: int | str = ""


class _Meta(msgspec.Struct, rename="camel"):
    interval: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 1
    start_time: _Number = 0


class _File(msgspec.Struct):
    meta: _Meta
    threads: list[_Thread]
    shared: _Tables = msgspec.field(default_factory=_Tables)


def read_firefox(content: bytes, where: str, kind: str = "") -> Trace:
    """Read a profile; each thread is a track. A sample lasts for its weight in intervals.

    Args:
        content: Of the file, unpacked.
        where: Its name, for messages.
        kind: Of weights: samples, tracing-ms, bytes; those of the first thread without it.

    Raises:
        InputError: If it is no such file, or has no weights of this kind.
    """
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a profile of the Firefox Profiler: {error}") from error
    kinds = dict.fromkeys(one.samples.weight_type for one in file.threads)
    if kind and kind not in kinds:
        raise InputError(f"{where} has no weights of type {kind!r}; it has {', '.join(kinds)}")
    wanted = kind or next(iter(kinds), "samples")
    builder = TraceBuilder()
    zero = round(file.meta.start_time * _NS_PER_MS)
    builder.zero = zero if 0 < zero < MOST_NS else None
    _Reader(builder, file, where).read(wanted)
    unit = BYTES if wanted == "bytes" else TIME
    return replace(builder.trace(), unit=replace(unit, sampled=True))


class _Reader:
    def __init__(self, builder: TraceBuilder, file: _File, where: str) -> None:
        self._builder = builder
        self._file = file
        self._where = where

    def read(self, kind: str) -> None:
        for number, thread in enumerate(self._file.threads, 1):
            samples = thread.samples
            if samples.weight_type == kind:
                stack_of = self._stacks(thread, self._file.shared)
                process = f"{thread.process_name or 'process'} {thread.pid}".strip()
                track = self._builder.track(process, f"{thread.name} {thread.tid or number}")
                add_stacks(self._builder, track, self._values(samples, stack_of, number))
            elif samples.stack:
                why = f"{samples.weight_type}, which are not added to others: --type shows them"
                self._builder.lose(why, f"thread {number}")

    def _stacks(self, thread: _Tables, shared: _Tables) -> Callable[[int], tuple[str, ...]]:
        texts = thread.string_array or shared.string_array or []
        functions = thread.func_table or shared.func_table or _Table()
        frames = thread.frame_table or shared.frame_table or _Table()
        stacks = thread.stack_table or shared.stack_table or _Table()
        try:
            names = [texts[functions.name[one]] for one in frames.func]
            last = {at: names[frame] for at, frame in enumerate(stacks.frame)}
        except IndexError:
            raise InputError(f"{self._where}: its tables do not fit each other") from None
        return stacks_of(last, stacks.callers(), self._where)

    def _values(
        self, samples: _Samples, stack_of: Callable[[int], tuple[str, ...]], number: int
    ) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield stacks with their values, and an empty one where nothing was sampled for long."""
        interval = self._file.meta.interval * _NS_PER_MS
        factor = {"samples": interval, "tracing-ms": _NS_PER_MS, "bytes": 1}[samples.weight_type]
        times = samples.time or accumulate(samples.time_deltas)
        weights = samples.weight or [1.0] * len(samples.stack)
        now, frames = 0, ()
        for place, (stack, weight, time) in enumerate(
            zip(samples.stack, weights, times, strict=False), 1
        ):
            gap = round(time * _NS_PER_MS) - now
            if samples.weight_type != "bytes" and gap >= interval:
                yield (), gap
                now += gap
            value = round(weight * factor)
            try:
                frames = () if stack is None else stack_of(stack)
            except KeyError:
                value = -1
            if value < 0:
                why = "a stack that is not listed, or a negative weight"
                self._builder.lose(why, f"thread {number}, sample {place:,}")
            else:
                yield frames, value
                now += value
