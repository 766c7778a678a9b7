"""Events of Chrome's format as columns; tracks are numbers of processes and threads still."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from benchyard.core.model import Json
from benchyard.traces.chrome.events import Event, as_number
from benchyard.traces.model import Counter, Flow, Instant, Loss, Numbers, Slices, Times

KeyT = TypeVar("KeyT")
Id = int | str
#: Of our counters: their only argument is named by their unit, which Perfetto shows.
UNIT_CATEGORY = "unit"


class Numbered(dict[KeyT, int]):
    """Things in the order in which they were first asked for; each is given the next number."""

    def __missing__(self, key: KeyT) -> int:
        """Take in a new one."""
        self[key] = len(self)
        return self[key]


class Tracks(dict[tuple[Id, Id], int]):
    """Numbers of processes and threads, as they are written, and which track they are of.

    Attributes:
        distinct: The same, numbers that are written as text as numbers.
    """

    def __init__(self) -> None:
        """Begin without any."""
        super().__init__()
        self.distinct: Numbered[tuple[Id, Id]] = Numbered()

    def __missing__(self, key: tuple[Id, Id]) -> int:
        """Take in a new one."""
        self[key] = self.distinct[as_number(key[0]), as_number(key[1])]
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

    track: Tracks = field(default_factory=Tracks)
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

    def add(self, slices: Sequence[Event], starts: Times, ends: Times) -> None:
        """Add events with a beginning and an end, in nanoseconds."""
        track = np.array([self.track[event.pid, event.tid] for event in slices], np.int32)
        name = np.array([self.names[event.name] for event in slices], np.int32)
        self.extend(track, name, starts, ends - starts)

    def extend(self, track: Numbers, name: Numbers, start: Times, duration: Times) -> None:
        """Add slices; times in nanoseconds."""
        self._starts.frombytes(start.tobytes())
        self._durations.frombytes(duration.tobytes())
        self._tracks.frombytes(track.tobytes())
        self._names.frombytes(name.tobytes())

    def slice(self, track: int, name: str, start: int, duration: int) -> None:
        """Add one slice; times in nanoseconds."""
        self._starts.append(start)
        self._durations.append(duration)
        self._tracks.append(track)
        self._names.append(self.names[name])

    def count(self, event: Event, time: int, series: str, value: float) -> None:
        """Add a value of a counter."""
        id_ = f" [{event.id}]" if event.id != "" else ""
        key = (as_number(event.pid), event.name + id_, series, event.cat == UNIT_CATEGORY)
        seen = self._counters.get(key)
        if seen is None:
            seen = self._counters[key] = _Seen()
        seen.times.append(time)
        seen.values.append(value)

    def instant(self, event: Event, time: int, details: Mapping[str, Json]) -> None:
        """Add a single moment; what it is stands in its name, or else in its phase."""
        track = self.track[event.pid, event.tid]
        name = event.name or f"phase {event.ph}"
        self.instants.append(Instant(track, name, time, details))

    def lose(self, reason: str, where: str) -> None:
        """Count what could not be taken in."""
        known = self.losses.get(reason)
        count, first = (known.count + 1, known.first) if known else (1, where)
        self.losses[reason] = Loss(reason, count, first)

    def lasts(self, track: Numbers, time: Times) -> Times:
        """Return when the last known thing on each track ended, of all here and of others."""
        found = np.full(len(self.track.distinct), np.iinfo(np.int64).min)
        slices = self.slices()
        np.maximum.at(found, slices.track, slices.end)
        for one in self.instants:
            found[one.track] = max(found[one.track], one.time)
        np.maximum.at(found, track, time)
        return found

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


def _counter(name: str, series: str, unit: str, seen: _Seen) -> Counter:
    times = np.array(seen.times, np.int64)
    values = np.array(seen.values, np.float64)
    order = np.argsort(times, kind="stable")
    full = name if series in ("", "value") else f"{name}: {series}"
    return Counter("", full, times[order], values[order], unit)
