"""Reads traces in Chrome's format, of any size, and drops nothing in silence."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from benchyard.core.model import Json
from benchyard.core.wording import quote
from benchyard.traces.chrome.chunks import Chunk, opened, spans
from benchyard.traces.chrome.columns import Columns
from benchyard.traces.chrome.events import Event, Unreadable, tolerant
from benchyard.traces.chrome.naming import Naming
from benchyard.traces.chrome.pairing import Pairing
from benchyard.traces.chrome.times import ns, times_of
from benchyard.traces.model import MOST_NS, Trace, microseconds

T = TypeVar("T")

#: Nanoseconds since 1970 have no more until the year 2554, when 64 bits end.
_MOST_DIGITS = 20
_SAMPLE = "a sample of a profiler's stack; not read"
_ENDLESS = "no duration (dur); taken as none"


def read_chrome(path: Path) -> Trace:
    """Read a trace; the arguments of slices are left out.

    Both forms (an array, an object with ``traceEvents``), gzipped or not, with or without the
    closing bracket. What cannot be taken in is counted in ``Trace.losses``, with its offset.

    Raises:
        InputError: If the file cannot be read, or holds no list of events.
    """
    reader = _Reader()
    with opened(path) as source:
        for chunk in source.chunks():
            reader.take(chunk)
    if source.cut_off:
        reader.columns.lose(source.cut_off, f"byte {source.offset:,}")
    return reader.trace(source.other)


class _Reader:
    def __init__(self) -> None:
        self.columns = Columns()
        self._naming = Naming()
        self._pairing = Pairing(self.columns)
        self._rare: dict[str, Callable[[Event, int], None]] = defaultdict(
            lambda: self._moment,
            {
                "M": self._named,
                "C": self._counted,
                "P": self._sample,
                **dict.fromkeys("BE", self._pairing.nested),
                **dict.fromkeys("bneSTpF", self._pairing.asynchronous),
                **dict.fromkeys("stf", self._pairing.arrow),
            },
        )

    def take(self, chunk: Chunk) -> None:
        events = chunk.events
        times = None if events is None else times_of(chunk, events)
        if events is None or times is None:
            self._take_one_by_one(chunk)
            return
        starts, ends = times
        whole = np.array([event.ph == "X" for event in events], bool)
        self.columns.add([event for event in events if event.ph == "X"], starts[whole], ends[whole])
        for event, time in zip(events, starts.tolist(), strict=True):
            if event.ph != "X":
                try:
                    self._rare[event.ph](event, time)
                except Unreadable as why:
                    self.columns.lose(str(why), f"byte {chunk.offset:,} or later")

    def _take_one_by_one(self, chunk: Chunk) -> None:
        for place, raw in spans(chunk.text):
            try:
                event, time, duration = tolerant(raw)
                if event.ph == "X":
                    if duration is None:
                        self.columns.lose(_ENDLESS, f"byte {chunk.offset + place:,}")
                    end = ns(time + (duration or 0))
                    track = self.columns.track[event.pid, event.tid]
                    self.columns.slice(track, event.name, ns(time), end - ns(time))
                else:
                    self._rare[event.ph](event, ns(time))
            except Unreadable as why:
                self.columns.lose(str(why), f"byte {chunk.offset + place:,}")

    def trace(self, other: Mapping[str, msgspec.Raw]) -> Trace:
        self._pairing.finish()
        for _ in _decoded(other.get("samples"), list[msgspec.Raw]):
            self.columns.lose(_SAMPLE, '"samples"')
        trace = self._naming.trace(self.columns)
        zero = _decoded(other.get("otherData"), dict[str, Any]).get("zero_unix_ns")
        if isinstance(zero, str) and zero.isdecimal() and len(zero) <= _MOST_DIGITS:
            return replace(trace, zero=int(zero) if int(zero) < MOST_NS else None)
        return trace

    def _named(self, event: Event, _: int) -> None:
        self._naming.take(event, _args(event))
        if event.name == "thread_name":
            self.columns.track[event.pid, event.tid]

    def _counted(self, event: Event, time: int) -> None:
        for series, value in _args(event).items():
            try:
                number = float(cast("Any", value))
            except (TypeError, ValueError):
                raise Unreadable("a counter's value is no number") from None
            self.columns.count(event, time, series, number)

    def _sample(self, event: Event, time: int) -> None:
        self.columns.lose(_SAMPLE, f"{microseconds(time)} µs, {quote(event.name)}")

    def _moment(self, event: Event, time: int) -> None:
        self.columns.instant(event, time, _args(event))


def _args(event: Event) -> dict[str, Json]:
    return cast("dict[str, Json]", _decoded(event.args, dict[str, Any]))


def _decoded(raw: msgspec.Raw | None, kind: type[T]) -> T:
    """Return what a member holds; an empty one where it is missing or something else."""
    try:
        return kind() if raw is None else msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return kind()
