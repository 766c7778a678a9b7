"""A trace in figures: how often and how long each name and path, how busy each track.

Quantiles are those of ``benchyard.statistics.measures.quantile``: definition 7 of Hyndman and Fan.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import TIME, Counter, Loss, Trace, Track, Unit
from benchyard.traces.nesting import (
    Lane,
    Path,
    PathSums,
    Totals,
    lanes_of,
    names_of,
    totals_of_names,
)

#: A sign takes the last of an integer's 64 bits.
_BITS = 63


@dataclass(frozen=True, slots=True, eq=False)
class Durations:
    """How long slices took, one row a name or a path; times in nanoseconds.

    Args:
        which: Which of the trace's names, or of its paths, each row is of; ascending. What has no
            slice has no row.
        count: How many slices.
        total: How long these took. What lies inside of a slice of the same name counts once.
        self_time: How long they took without what they contain.
        median: Of the slices' durations, as are the following.
        p90: What 90 % of them do not exceed.
        p99: What 99 % of them do not exceed.
        least: The shortest one.
        most: The longest one.
    """

    which: NDArray[np.int64]
    count: NDArray[np.int64]
    total: NDArray[np.int64]
    self_time: NDArray[np.int64]
    median: NDArray[np.float64]
    p90: NDArray[np.float64]
    p99: NDArray[np.float64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.which)


@dataclass(frozen=True, slots=True)
class TrackStatistics:
    """A track in figures; times in nanoseconds.

    Args:
        slices: How many.
        busy: How long at least one slice was open.
        idle: The rest of the trace's span.
    """

    track: Track
    slices: int
    busy: int
    idle: int


@dataclass(frozen=True, slots=True)
class CounterStatistics:
    """A counter in figures, in its unit; None where it has no finite value.

    Args:
        process: The name of its process.
        values: How many finite values were seen.
        mean: By time: a value holds until the next one is seen, the last one until the trace ends.
    """

    process: str
    name: str
    unit: str
    values: int
    least: float | None = None
    mean: float | None = None
    most: float | None = None
    last: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TraceStatistics:
    """A trace in figures.

    Args:
        span: When the first thing began and the last one ended, in nanoseconds.
        names: What the rows of ``by_name`` and the paths refer to.
        paths: What the rows of ``by_path`` refer to.
        tracks: In the order of the trace; lanes are tracks of their own. None without a slice.
        counters: In the order of the trace.
        losses: What is missing here and was in the source.
        unit: Of durations.
    """

    span: tuple[int, int]
    names: Sequence[str]
    paths: Sequence[Path]
    by_name: Durations
    by_path: Durations
    tracks: Sequence[TrackStatistics]
    counters: Sequence[CounterStatistics]
    losses: Sequence[Loss]
    unit: Unit = TIME

    def path(self, number: int) -> tuple[str, ...]:
        """Return the names on a path, the outermost first."""
        return names_on(self.paths, self.names, number)


def names_on(paths: Sequence[Path], names: Sequence[str], number: int) -> tuple[str, ...]:
    """Return the names on a path, the outermost first."""
    found: list[str] = []
    while number >= 0:
        found.append(names[paths[number].name])
        number = paths[number].parent
    return tuple(found[::-1])


def statistics_of(trace: Trace) -> TraceStatistics:
    """Return a trace in figures.

    Args:
        trace: Its slices may be in any order; lanes are made where they overlap.
    """
    span = trace.span()
    bits = int(trace.slices.duration.max(initial=0)).bit_length()
    sums = PathSums()
    keyed = _Keyed(len(trace.slices), bits)
    tracks: list[TrackStatistics] = []
    for lane in lanes_of(trace):
        keyed.take(sums.take(lane)[lane.nesting.path], lane.slices.duration)
        tracks.append(_track(lane, span))
    paths = sums.paths
    of_paths = sums.totals()
    of_names = totals_of_names(of_paths, paths, len(trace.names))
    by_path = _durations(keyed.ascending(), of_paths)
    by_name = _durations(keyed.ascending(names_of(paths)), of_names)
    return TraceStatistics(
        span,
        trace.names,
        paths,
        by_name,
        by_path,
        tracks,
        [_counter(one, span[1]) for one in trace.counters],
        trace.losses,
        trace.unit,
    )


class _Keyed:
    """A key and a duration of each slice, to be sorted by both.

    In one column of integers, where both fit: it sorts ten times as fast as two columns do.
    """

    def __init__(self, count: int, bits: int) -> None:
        self._bits = bits
        self._key = np.empty(count, np.int32)
        self._duration = np.empty(count, np.int64)
        self._taken = 0

    def take(self, key: NDArray[np.int64], duration: NDArray[np.int64]) -> None:
        part = slice(self._taken, self._taken + len(key))
        self._key[part], self._duration[part] = key, duration
        self._taken = part.stop

    def ascending(self, key_of: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return the durations, those of the first key first, ascending within each.

        Args:
            key_of: Other keys, by the present ones.
        """
        key = self._key if key_of is None else key_of.astype(np.int32)[self._key]
        if int(key.max(initial=0)).bit_length() + self._bits > _BITS:
            return self._duration[np.lexsort((self._duration, key))]
        both = key.astype(np.int64)
        both <<= self._bits
        both |= self._duration
        both.sort()
        both &= (1 << self._bits) - 1
        return both


def _durations(ascending: NDArray[np.int64], totals: Totals) -> Durations:
    which = np.flatnonzero(totals.count)
    count = totals.count[which]
    first = np.cumsum(count) - count
    return Durations(
        which,
        count,
        totals.total[which],
        totals.self_time[which],
        median=_quantile(ascending, first, count, 0.5),
        p90=_quantile(ascending, first, count, 0.9),
        p99=_quantile(ascending, first, count, 0.99),
        least=ascending[first],
        most=ascending[first + count - 1],
    )


def _quantile(
    ascending: NDArray[np.int64], first: NDArray[np.int64], count: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    height = (count - 1) * share
    below = np.floor(height).astype(np.int64)
    weight = height - below
    low = ascending[first + below]
    high = ascending[first + np.minimum(below + 1, count - 1)]
    return np.where(low == high, low, low * (1 - weight) + high * weight)


def _track(lane: Lane, span: tuple[int, int]) -> TrackStatistics:
    busy = int(lane.slices.duration[lane.nesting.depth == 0].sum())
    return TrackStatistics(lane.track, len(lane.slices), busy, span[1] - span[0] - busy)


def _counter(counter: Counter, end: int) -> CounterStatistics:
    finite = np.isfinite(counter.values)
    values, times = counter.values[finite], counter.times[finite]
    about = (counter.process, counter.name, counter.unit, len(values))
    if not len(values):
        return CounterStatistics(*about)
    held = np.diff(times, append=end).astype(np.float64)
    # Values that were all seen at the very end held for no time at all: each counts as much.
    weights = held / held.sum() if held.sum() > 0 else np.full(len(values), 1 / len(values))
    least, most = float(values.min()), float(values.max())
    mean = min(most, max(least, float((values * weights).sum())))
    return CounterStatistics(*about, least, mean, most, float(values[-1]))
