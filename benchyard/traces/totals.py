"""How often and how long: sums over the slices of each path and each name."""

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import Slices, Trace, Track
from benchyard.traces.nesting import (
    Nesting,
    Path,
    arranged,
    nest,
    nests,
    ordered,
    parts_of_tracks,
    summed,
)

Sums = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """A track, or a further lane of one, by itself.

    Args:
        track: What it is called.
        slices: Arranged.
        nesting: How they contain each other; its paths are those of this lane.
    """

    track: Track
    slices: Slices
    nesting: Nesting


def lanes_of(trace: Trace) -> Iterator[Lane]:
    """Yield each track arranged; to spare memory only one of them is there twice."""
    order = np.argsort(trace.slices.track, kind="stable")
    for part in list(parts_of_tracks(trace.slices.track[order])):
        slices = ordered(trace.slices.taken(order[part]))
        track = trace.tracks[int(slices.track[0])]
        nesting = nest(slices)
        if nests(nesting.parent, nesting.depth, slices.end):
            yield Lane(track, slices, nesting)
            continue
        slices.track[:] = 0
        lanes = arranged(Trace([track], trace.names, slices))
        for inside in parts_of_tracks(lanes.slices.track):
            lane = lanes.slices.part(inside)
            yield Lane(lanes.tracks[int(lane.track[0])], lane, nest(lane))


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """Sums of slices, one row a name or a path; times in nanoseconds.

    Args:
        count: How many slices.
        total: How long these took. What lies inside of a slice of the same name counts once.
        self_time: How long they took without what they contain.
    """

    count: Sums
    total: Sums
    self_time: Sums


@dataclass(slots=True)
class PathSums:
    """The paths of all lanes taken so far, and their sums.

    A path is known by its name and the number of the path that contains it, in whatever lane.
    """

    _numbers: dict[Path, int] = field(default_factory=dict[Path, int])
    _sums: list[Sums] = field(default_factory=list[Sums])

    def take(self, lane: Lane) -> Sums:
        """Add a lane; return the number of each of its paths."""
        numbers: list[int] = []
        for path in lane.nesting.paths:
            parent = numbers[path.parent] if path.parent >= 0 else path.parent
            shared = Path(parent, path.name)
            numbers.append(self._numbers.setdefault(shared, len(self._numbers)))
        number = np.array(numbers, np.int64)
        on, ones = lane.nesting.path, np.ones(len(lane.slices), np.int64)
        columns = (ones, lane.slices.duration, lane.nesting.self_time)
        self._sums.append(np.array([number, *(summed(on, one, len(number)) for one in columns)]))
        return number

    @property
    def paths(self) -> list[Path]:
        """Each behind the one that contains it."""
        return [*self._numbers]

    def totals(self) -> Totals:
        """Return the sums of each path."""
        number, *columns = np.concatenate([np.empty((4, 0), np.int64), *self._sums], axis=1)
        return Totals(*(summed(number, column, len(self._numbers)) for column in columns))


def totals_of_names(totals: Totals, paths: Sequence[Path], names: int) -> Totals:
    """Return the sums of each name.

    Args:
        totals: Of the paths.
        paths: Where each leads.
        names: How many names there are; one without a slice has sums of 0.
    """
    name = names_of(paths)
    outer = np.array([not one for one in _repeating(paths)], np.bool_)
    return Totals(
        summed(name, totals.count, names),
        summed(name[outer], totals.total[outer], names),
        summed(name, totals.self_time, names),
    )


def names_of(paths: Sequence[Path]) -> Sums:
    """Return the name in which each path ends."""
    return np.fromiter((path.name for path in paths), np.int64, len(paths))


def _repeating(paths: Sequence[Path]) -> Iterator[bool]:
    """Yield of each path whether its name contains itself on it."""
    shared = Tally(path.name for path in paths)
    for path in paths:
        above = path.parent if shared[path.name] > 1 else -1
        while above >= 0 and paths[above].name != path.name:
            above = paths[above].parent
        yield above >= 0
