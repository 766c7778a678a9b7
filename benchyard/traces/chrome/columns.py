"""Events of Chrome's format as columns; tracks are numbers of processes and threads still."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

import numpy as np

from benchyard.core.model import Json
from benchyard.traces.chrome.events import Event
from benchyard.traces.model import Counter, Flow, Instant, Loss, Slices

KeyT = TypeVar("KeyT")
Id = int | str
_NS = Decimal(1000)
#: Of our counters: their only argument is named by their unit, which Perfetto shows.
UNIT_CATEGORY = "unit"


class Numbered(dict[KeyT, int]):
    """Things in the order in which they were first asked for; each is given the next number."""

    def __missing__(self, key: KeyT) -> int:
        """Take in a new one."""
        self[key] = len(self)
        return self[key]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Times, in nanoseconds, and values of a counter."""

    times: "array[int]" = field(default_factory=lambda: array("q"))
    values: "array[float]" = field(default_factory=lambda: array("d"))


@dataclass(slots=True)
class Columns:
    """All that was read so far.

    Attributes:
        track: Process and thread of each track.
        names: Of slices.
        instants: With the tracks above.
        flows: With the tracks above.
        losses: By reason.
    """

    track: Numbered[tuple[Id, Id]] = field(default_factory=Numbered[tuple[Id, Id]])
    names: Numbered[str] = field(default_factory=Numbered[str])
    instants: list[Instant] = field(default_factory=list[Instant])
    flows: list[Flow] = field(default_factory=list[Flow])
    losses: dict[str, Loss] = field(default_factory=dict[str, Loss])
    _tracks: "array[int]" = field(default_factory=lambda: array("i"))
    _names: "array[int]" = field(default_factory=lambda: array("i"))
    _starts: "array[int]" = field(default_factory=lambda: array("q"))
    _durations: "array[int]" = field(default_factory=lambda: array("q"))
    _counters: dict[tuple[Id, str, str, bool], _Seen] = field(
        default_factory=dict[tuple[Id, str, str, bool], _Seen]
    )

    def add(self, slices: Sequence[Event]) -> None:
        """Add events with a beginning; one without a duration takes none."""
        track, names = self.track, self.names
        starts = [ns(event.ts) for event in slices]
        # Ends are rounded, not durations: so what ends together still does.
        ends = [
            ns(event.ts + event.dur) if event.ts and event.dur else ns(event.ts or event.dur)
            for event in slices
        ]
        self._starts.extend(starts)
        self._durations.extend(end - start for start, end in zip(starts, ends, strict=True))
        self._tracks.extend([track[event.pid, event.tid] for event in slices])
        self._names.extend([names[event.name] for event in slices])

    def slice(self, track: int, name: str, start: int, duration: int) -> None:
        """Add one slice; times in nanoseconds."""
        self._starts.append(start)
        self._durations.append(duration)
        self._tracks.append(track)
        self._names.append(self.names[name])

    def count(self, event: Event, series: str, value: float) -> None:
        """Add a value of a counter."""
        id_ = f" [{event.id}]" if event.id != "" else ""
        key = (event.pid, event.name + id_, series, event.cat == UNIT_CATEGORY)
        seen = self._counters.get(key)
        if seen is None:
            seen = self._counters[key] = _Seen()
        seen.times.append(ns(event.ts))
        seen.values.append(value)

    def instant(self, event: Event, details: Mapping[str, Json]) -> None:
        """Add a single moment; what it is stands in its name, or else in its phase."""
        track = self.track[event.pid, event.tid]
        name = event.name or f"phase {event.ph}"
        self.instants.append(Instant(track, name, ns(event.ts), details))

    def lose(self, reason: str, where: str) -> None:
        """Count what could not be taken in."""
        known = self.losses.get(reason)
        count, first = (known.count + 1, known.first) if known else (1, where)
        self.losses[reason] = Loss(reason, count, first)

    def lasts(self) -> dict[int, int]:
        """Return when the last known thing on each track ended, in nanoseconds."""
        found = np.full(len(self.track), np.iinfo(np.int64).min)
        slices = self.slices()
        np.maximum.at(found, slices.track, slices.end)
        for one in self.instants:
            found[one.track] = max(found[one.track], one.time)
        return dict(enumerate(found.tolist()))

    def slices(self) -> Slices:
        """Return all slices; nothing can be added while they are in use."""
        return Slices(
            np.frombuffer(self._tracks, np.int32),
            np.frombuffer(self._names, np.int32),
            np.frombuffer(self._starts, np.int64),
            np.frombuffer(self._durations, np.int64),
        )

    def counters(self) -> list[tuple[Id, Counter]]:
        """Return each counter with the number of its process."""
        return [
            (pid, _counter(name, "" if is_unit else series, series if is_unit else "", seen))
            for (pid, name, series, is_unit), seen in self._counters.items()
        ]


def ns(microseconds: Decimal | None) -> int:
    """Return a time in nanoseconds, rounded; 0 without one."""
    return round(microseconds * _NS) if microseconds else 0


def _counter(name: str, series: str, unit: str, seen: _Seen) -> Counter:
    times = np.array(seen.times, np.int64)
    values = np.array(seen.values, np.float64)
    order = np.argsort(times, kind="stable")
    full = name if series in ("", "value") else f"{name}: {series}"
    return Counter("", full, times[order], values[order], unit)
