"""A trace in figures: how often and how long each name and path, how busy each track.

Quantiles are those of ``benchyard.statistics.measures.quantile``: definition 7 of Hyndman and Fan.
"""

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import TIME, Counter, Loss, Numbers, Times, Trace, Track, Unit
from benchyard.traces.nesting import Path, lanes_of, nest, paths_of, summed

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
        found: list[str] = []
        while number >= 0:
            found.append(self.names[self.paths[number].name])
            number = self.paths[number].parent
        return tuple(found[::-1])


def statistics_of(trace: Trace) -> TraceStatistics:
    """Return a trace in figures.

    Args:
        trace: Its slices may be in any order; lanes are made where they overlap.
    """
    span = trace.span()
    numbers: dict[Path, int] = {}
    path, duration = np.empty(len(trace.slices), np.int32), np.empty(len(trace.slices), np.int64)
    taken = 0
    tracks: list[TrackStatistics] = []
    for track, slices in lanes_of(trace):
        part = slice(taken, taken + len(slices))
        taken = part.stop
        nesting = nest(slices)
        path[part] = paths_of(nesting, slices.name, numbers)
        duration[part] = slices.duration
        busy = int(slices.duration[nesting.depth == 0].sum())
        tracks.append(TrackStatistics(track, len(slices), busy, span[1] - span[0] - busy))
    paths = [*numbers]
    by_name, by_path = _by_name_and_path(paths, path, duration, len(trace.names))
    counters = [_counter(one, span[1]) for one in trace.counters]
    about = (by_name, by_path, tracks, counters, trace.losses, trace.unit)
    return TraceStatistics(span, trace.names, paths, *about)


def _by_name_and_path(
    paths: Sequence[Path], path: Numbers, duration: Times, names: int
) -> tuple[Durations, Durations]:
    """Return the figures of each name and of each path; each slice has a path and a duration."""
    parent, name = np.array(paths, np.int64).reshape(-1, 2).T
    inner = parent >= 0
    outer = ~np.fromiter(_repeating(paths), np.bool_, len(paths))
    total = summed(path, duration, len(paths))
    own = total - summed(parent[inner], total[inner], len(paths))
    by_path = _durations(path, duration, total, own)
    total, own = summed(name[outer], total[outer], names), summed(name, own, names)
    return _durations(name.astype(np.int32)[path], duration, total, own), by_path


def _repeating(paths: Sequence[Path]) -> Iterator[bool]:
    """Yield for each path whether its last name stands on it once more, further out."""
    shared = Tally(path.name for path in paths)
    for path in paths:
        above = path.parent if shared[path.name] > 1 else -1
        while above >= 0 and paths[above].name != path.name:
            above = paths[above].parent
        yield above >= 0


def _ascending(key: Numbers, duration: Times) -> Times:
    """Return the durations, those of the first key first, ascending within each.

    A column of both sorts ten times as fast as two columns do; they fit into it nearly always.
    """
    bits = int(duration.max(initial=0)).bit_length()
    if int(key.max(initial=0)).bit_length() + bits > _BITS:
        return duration[np.lexsort((duration, key))]
    both = key.astype(np.int64)
    both <<= bits
    both |= duration
    both.sort()
    both &= (1 << bits) - 1
    return both


def _durations(key: Numbers, duration: Times, total: Times, own: Times) -> Durations:
    """Return the figures of all keys, each slice with one of them; sums are there already."""
    count = np.bincount(key, minlength=len(total))
    which = np.flatnonzero(count)
    count = count[which]
    first = np.cumsum(count) - count
    ascending = _ascending(key, duration)
    return Durations(
        which,
        count,
        total[which],
        own[which],
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
