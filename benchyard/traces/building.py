"""A trace made piece by piece: names and tracks once each, losses counted."""

from array import array
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Generic, TypeVar

import numpy as np

from benchyard.core.model import Json
from benchyard.traces.model import (
    Counter,
    Details,
    Flow,
    Instant,
    Loss,
    Numbers,
    Slices,
    Times,
    Trace,
    Track,
    Unit,
)

T = TypeVar("T")


@dataclass(slots=True)
class OpenSlices(Generic[T]):
    """What has begun on a track and not ended, the innermost last."""

    _open: list[tuple[Hashable, T]] = field(default_factory=list[tuple[Hashable, T]])
    _names: Tally[Hashable] = field(default_factory=Tally[Hashable])

    def begin(self, name: Hashable, begun: T) -> None:
        """Open a slice."""
        self._open.append((name, begun))
        self._names[name] += 1

    def end(self, name: Hashable = None) -> list[T]:
        """Close the innermost slice of a name, or of any name without one.

        Returns:
            What was open inside of it, the innermost first, and at last itself; empty if no such
            slice is open.
        """
        closed: list[T] = []
        while self._names[name] if name is not None else self._open and not closed:
            known, begun = self._open.pop()
            self._names[known] -= 1
            closed.append(begun)
            if known == name:
                break
        return closed

    def rest(self) -> list[T]:
        """Return what is open, the outermost first."""
        return [begun for _, begun in self._open]


class _Numbered(dict[T, int]):
    """Numbers for values: each new value gets the next number."""

    def __missing__(self, key: T) -> int:
        self[key] = len(self)
        return self[key]


@dataclass(slots=True)
class TraceBuilder:
    """What a reader adds to, event by event; ``trace`` gives the whole."""

    zero: int | None = None
    _tracks: _Numbered[Track] = field(default_factory=_Numbered[Track])
    _names: _Numbered[str] = field(default_factory=_Numbered[str])
    _track: "array[int]" = field(default_factory=lambda: array("i"))
    _name: "array[int]" = field(default_factory=lambda: array("i"))
    _start: "array[int]" = field(default_factory=lambda: array("q"))
    _duration: "array[int]" = field(default_factory=lambda: array("q"))
    _details: dict[int, Details] = field(default_factory=dict[int, Details])
    _counters: "dict[tuple[str, str, str], tuple[array[int], array[float]]]" = field(
        default_factory=lambda: defaultdict(lambda: (array("q"), array("d")))
    )
    _instants: list[Instant] = field(default_factory=list[Instant])
    _flows: list[Flow] = field(default_factory=list[Flow])
    _losses: dict[str, Loss] = field(default_factory=dict[str, Loss])
    _titles: set[str] = field(default_factory=set[str])

    def track(self, process: str, thread: str) -> int:
        """Return which track this is; a new one is the last."""
        return self._tracks[Track(process, thread)]

    def name(self, name: str) -> int:
        """Return which name this is."""
        return self._names[name]

    def numbers(self, names: Sequence[str]) -> Numbers:
        """Return which name each is."""
        return np.array([self._names[name] for name in names], np.int32)

    def slice(
        self, track: int, name: str, start: int, duration: int, details: Details | None = None
    ) -> None:
        """Add a slice; times in nanoseconds."""
        if details:
            self._details[len(self._start)] = details
        self._track.append(track)
        self._name.append(self.name(name))
        self._start.append(start)
        self._duration.append(duration)

    def slices(self, track: Numbers, name: Numbers, start: Times, duration: Times) -> None:
        """Add whole columns of slices; times in nanoseconds."""
        self._track.frombytes(track.tobytes())
        self._name.frombytes(name.tobytes())
        self._start.frombytes(start.tobytes())
        self._duration.frombytes(duration.tobytes())

    @property
    def names(self) -> list[str]:
        """The names of slices so far."""
        return [*self._names]

    def lasts(self, track: Numbers, time: Times) -> Times:
        """Return when the last thing on each track ended, of all here and of others."""
        lasts = np.full(len(self._tracks), np.iinfo(np.int64).min)
        np.maximum.at(lasts, track, time)
        slices = self.trace().slices
        np.maximum.at(lasts, slices.track, slices.end)
        for instant in self._instants:
            lasts[instant.track] = max(lasts[instant.track], instant.time)
        return lasts

    def begin(self, track: int, name: str, start: int) -> int:
        """Add a slice whose end is not known yet; what contains others is begun before them.

        Returns:
            What ``end`` takes.
        """
        self.slice(track, name, start, 0)
        return len(self._start) - 1

    def end(self, begun: int, end: int) -> None:
        """Say when a slice ended, in nanoseconds."""
        self._duration[begun] = end - self._start[begun]

    def count(self, process: str, name: str, time: int, value: float, unit: str = "") -> None:
        """Add a value of a counter, seen at a time in nanoseconds."""
        times, values = self._counters[process, name, unit]
        times.append(time)
        values.append(value)

    def instant(
        self, track: int, name: str, time: int, details: Mapping[str, Json] | None = None
    ) -> None:
        """Add a single moment."""
        self._instants.append(Instant(track, name, time, details or {}))

    def flow(self, flow: Flow) -> None:
        """Add an arrow."""
        self._flows.append(flow)

    def lose(self, reason: str, where: str, count: int = 1) -> None:
        """Count what could not be taken in; ``where`` says where the first was."""
        known = self._losses.get(reason)
        first = known.first if known else where
        self._losses[reason] = Loss(reason, count + (known.count if known else 0), first)

    def add(self, trace: Trace, title: str = "", by: int = 0) -> None:
        """Add a trace.

        Args:
            trace: Its unit and its moment of time 0 are not looked at.
            title: Put before the names of its processes, with a number if another trace has it.
            by: So many nanoseconds later.
        """
        titles = (f"{title} ({number})" for number in count(2))
        title = next(one for one in chain([title], titles) if one not in self._titles)
        self._titles.add(title)
        before = f"{title}: " if title else ""
        slices = trace.slices
        tracks = [self.track(before + one.process, one.thread) for one in trace.tracks]
        track = np.array(tracks, np.int32)[slices.track]
        self._details |= {len(self._start) + at: one for at, one in slices.details.items()}
        name = self.numbers(trace.names)[slices.name]
        self.slices(track, name, slices.start + by, slices.duration)
        for one in trace.counters:
            times, values = self._counters[before + one.process, one.name, one.unit]
            times.frombytes((one.times + by).tobytes())
            values.frombytes(one.values.tobytes())
        for one in trace.instants:
            self.instant(tracks[one.track], one.name, one.time + by, one.details)
        for one in trace.flows:
            begin = (tracks[one.from_track], one.from_time + by)
            self.flow(Flow(one.name, *begin, tracks[one.to_track], one.to_time + by))
        for one in trace.losses:
            self.lose(before + one.reason, one.first, one.count)

    def sampled(self, unit: Unit, others: Iterable[str] = (), *, sampled: bool = True) -> Trace:
        """Return all that was added, as a profile.

        Args:
            unit: Of its values.
            others: What else the file measures.
            sampled: Whether all slices are stacks that were sampled.
        """
        return replace(self.trace(), unit=replace(unit, sampled=sampled, others=tuple(others)))

    def trace(self) -> Trace:
        """Return all that was added, not arranged; add nothing while a trace is in use."""
        slices = Slices(
            np.frombuffer(self._track, np.int32),
            np.frombuffer(self._name, np.int32),
            np.frombuffer(self._start, np.int64),
            np.frombuffer(self._duration, np.int64),
            self._details,
        )
        return Trace(
            [*self._tracks],
            [*self._names],
            slices,
            [_counter(*key, *columns) for key, columns in self._counters.items()],
            self._instants,
            self._flows,
            [*self._losses.values()],
            self.zero,
        )


def _counter(
    process: str, name: str, unit: str, times: "array[int]", values: "array[float]"
) -> Counter:
    seen = np.array(times, np.int64)
    order = np.argsort(seen, kind="stable")
    return Counter(process, name, seen[order], np.array(values, np.float64)[order], unit)
