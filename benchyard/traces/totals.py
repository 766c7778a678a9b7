"""What all slices of a name, or on a path, took together; a track at a time, to spare memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.arranging import arranged
from benchyard.traces.model import Slices, Trace, Track
from benchyard.traces.nesting import Nesting, Path, nest, parts_of_tracks, summed

Sums = NDArray[np.int64]
_NONE = -1


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
    """Yield each track arranged; only one of them is in memory twice."""
    track = trace.slices.track
    order = None if (track[1:] >= track[:-1]).all() else np.argsort(track, kind="stable")
    for part in list(parts_of_tracks(track if order is None else track[order])):
        places = _places(part) if order is None else order[part]
        slices = trace.slices.taken(places)
        name = trace.tracks[int(slices.track[0])]
        slices.track[:] = 0
        yield from _lanes(Trace([name], trace.names, slices))


def _lanes(trace: Trace) -> Iterator[Lane]:
    """Yield the lanes of a trace with one track.

    One that is arranged already is not arranged again: of ten million slices that takes seconds.
    """
    if _in_order(trace.slices):
        nesting = nest(trace.slices)
        if _holds(trace.slices, nesting):
            yield Lane(trace.tracks[0], trace.slices, nesting)
            return
    made = arranged(trace)
    for part in parts_of_tracks(made.slices.track):
        lane = made.slices.taken(_places(part))
        yield Lane(made.tracks[int(lane.track[0])], lane, nest(lane))


def _places(part: slice) -> NDArray[np.int64]:
    return np.arange(part.start, part.stop, dtype=np.int64)


def _in_order(slices: Slices) -> bool:
    starts = np.diff(slices.start)
    together = starts == 0
    return not ((starts < 0).any() or (together & (np.diff(slices.duration) > 0)).any())


def _holds(slices: Slices, nesting: Nesting) -> bool:
    if nesting.depth.min(initial=0) < 0:
        return False
    end = slices.end
    inner = np.flatnonzero(nesting.parent != _NONE)
    return bool((end[nesting.parent[inner]] >= end[inner]).all())


@dataclass(slots=True)
class PathSums:
    """The paths of all lanes taken so far, and their sums."""

    _numbers: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    _rows: list[tuple[Sums, Totals]] = field(default_factory=list[tuple[Sums, Totals]])

    def take(self, lane: Lane) -> Sums:
        """Add a lane; return the number of each of its paths."""
        numbers = self._known(lane.nesting.paths)
        self._rows.append((numbers, _totals(lane)))
        return numbers

    @property
    def paths(self) -> list[Path]:
        """Each behind the one that contains it."""
        return [Path(parent, name) for parent, name in self._numbers]

    def totals(self) -> Totals:
        """Return the sums of each path."""
        rows = [numbers for numbers, _ in self._rows]
        numbers = np.concatenate([np.empty(0, np.int64), *rows])
        columns = ("count", "total", "self_time")
        return Totals(
            *(
                summed(
                    numbers,
                    np.concatenate(
                        [np.empty(0, np.int64), *(getattr(one, column) for _, one in self._rows)]
                    ),
                    len(self._numbers),
                )
                for column in columns
            )
        )

    def _known(self, paths: Sequence[Path]) -> Sums:
        found: list[int] = []
        for path in paths:
            key = (found[path.parent] if path.parent != _NONE else _NONE, path.name)
            found.append(self._numbers.setdefault(key, len(self._numbers)))
        return np.array(found, np.int64)


def _totals(lane: Lane) -> Totals:
    path, paths = lane.nesting.path, len(lane.nesting.paths)
    return Totals(
        np.bincount(path, minlength=paths),
        summed(path, lane.slices.duration, paths),
        summed(path, lane.nesting.self_time, paths),
    )


def totals_of_names(totals: Totals, paths: Sequence[Path], names: int) -> Totals:
    """Return the sums of each name.

    Args:
        totals: Of the paths.
        paths: Where each leads.
        names: How many names there are; one without a slice has sums of 0.
    """
    name = names_of(paths)
    outer = ~repeating(paths)
    return Totals(
        summed(name, totals.count, names),
        summed(name[outer], totals.total[outer], names),
        summed(name, totals.self_time, names),
    )


def names_of(paths: Sequence[Path]) -> Sums:
    """Return the name in which each path ends."""
    return np.fromiter((path.name for path in paths), np.int64, len(paths))


def repeating(paths: Sequence[Path]) -> NDArray[np.bool_]:
    """Return of each path whether its name contains itself on it."""
    name = names_of(paths)
    parent = np.fromiter((path.parent for path in paths), np.int64, len(paths))
    found = np.zeros(len(paths), np.bool_)
    # Only names that several paths end in can; all of these climb together, a step at a time.
    here = np.flatnonzero(np.bincount(name)[name] > 1) if len(name) else name
    above = parent[here]
    while len(here):
        inside = above != _NONE
        here, above = here[inside], above[inside]
        same = name[above] == name[here]
        found[here[same]] = True
        here, above = here[~same], parent[above[~same]]
    return found
