"""What contains what: parents, depths, self times and paths of slices that nest; their sums."""

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import Numbers, Slices, Trace, Track

Places = NDArray[np.int64]
HalfSteps = NDArray[np.uint64]
_NONE = -1


@dataclass(frozen=True, slots=True)
class Path:
    """A name below the names that contain it.

    Args:
        parent: Which of the paths contains this one; -1 for none.
        name: Which of the trace's names it ends in.
    """

    parent: int
    name: int


@dataclass(frozen=True, slots=True, eq=False)
class Nesting:
    """How slices contain each other: four columns, one value a slice.

    Args:
        parent: The place of the slice that contains each; -1 for none.
        depth: How many slices contain each.
        self_time: How long each took without what it contains, in nanoseconds.
        path: Which of ``paths`` each is on.
        paths: Each behind the one that contains it.
    """

    parent: Places
    depth: Places
    self_time: NDArray[np.int64]
    path: Places
    paths: Sequence[Path]


def arranged(trace: Trace) -> Trace:
    """Return a trace whose slices nest on each track, ordered as ``nest`` takes them.

    A slice that overlaps others without one containing the other goes to the first further lane
    of its track where it fits: ``worker (2)``. No slice is dropped.
    """
    slices = ordered(trace.slices)
    lane = np.zeros(len(slices), np.int32)
    for part in parts_of_tracks(slices.track):
        begins, ends = half_steps(slices.start[part], slices.duration[part])
        if not nests(*parents(begins, ends), ends):
            lane[part] = _lanes(begins.tolist(), ends.tolist())
    if not lane.any():
        return replace(trace, slices=slices)
    track, tracks, moved = _with_lanes(trace.tracks, slices.track, lane)
    onto_lanes = replace(slices, track=track)
    return replace(trace.on_tracks(tracks, moved), slices=ordered(onto_lanes))


def ordered(slices: Slices) -> Slices:
    """Return slices by track, start, and the longer one first.

    Those in order are not sorted again: of ten million that takes seconds.
    """
    columns = (slices.track, slices.start, -slices.duration)
    undecided = np.ones(max(len(slices) - 1, 0), np.bool_)
    for column in columns:
        before, after = column[:-1], column[1:]
        if (undecided & (after < before)).any():
            return slices.taken(np.lexsort(columns[::-1]))
        undecided &= after == before
    return slices


def nests(parent: Places, depth: Places, ends: Places | HalfSteps) -> bool:
    """Tell whether what ``parents`` returned is right: no slice ends behind its parent."""
    inner = np.flatnonzero(depth)
    return bool(depth.min(initial=0) >= 0 and (ends[parent[inner]] >= ends[inner]).all())


def _lanes(begins: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Return the lane of each slice: the first one where it nests."""
    lanes: list[list[int]] = []
    found: list[int] = []
    for begin, end in zip(begins, ends, strict=True):
        for number, still_open in enumerate(lanes):
            while still_open and still_open[-1] <= begin:
                still_open.pop()
            if not still_open or end <= still_open[-1]:
                still_open.append(end)
                found.append(number)
                break
        else:
            found.append(len(lanes))
            lanes.append([end])
    return found


def _with_lanes(
    tracks: Sequence[Track], track: Numbers, lane: Numbers
) -> tuple[Numbers, list[Track], NDArray[np.int64]]:
    """Return each slice's new track, the new tracks, and where each old one is now."""
    highest = np.zeros(len(tracks), np.int64)
    np.maximum.at(highest, track, lane)
    moved = np.arange(len(tracks)) + np.concatenate(([0], np.cumsum(highest)[:-1]))
    taken = {(one.process, one.thread) for one in tracks}
    made: list[Track] = []
    for one, lanes in zip(tracks, highest.tolist(), strict=True):
        made.append(one)
        made.extend(_further_lane(one, number, taken) for number in range(2, lanes + 2))
    return (moved[track] + lane).astype(np.int32), made, moved


def _further_lane(track: Track, number: int, taken: set[tuple[str, str]]) -> Track:
    names = (f"{track.thread} ({tried})" for tried in count(number))
    name = next(name for name in names if (track.process, name) not in taken)
    taken.add((track.process, name))
    return Track(track.process, name)


def nest(slices: Slices) -> Nesting:
    """Return how slices contain each other.

    Args:
        slices: Nesting on each track, and ordered by track, start, and the longer one first, as
            ``arranged`` leaves them.
    """
    parent = np.full(len(slices), _NONE, np.int64)
    depth = np.zeros(len(slices), np.int64)
    for part in parts_of_tracks(slices.track):
        found, depths = parents(*half_steps(slices.start[part], slices.duration[part]))
        parent[part] = np.where(found == _NONE, _NONE, found + part.start)
        depth[part] = depths
    path, paths = _paths(parent, depth, slices.name)
    return Nesting(parent, depth, _self_times(slices.duration, parent), path, paths)


def parts_of_tracks(track: NDArray[np.int32]) -> Iterator[slice]:
    """Yield where each track's slices lie, of a column in which tracks follow each other."""
    if not len(track):
        return
    cuts = np.flatnonzero(np.diff(track)) + 1
    for first, last in zip([0, *cuts.tolist()], [*cuts.tolist(), len(track)], strict=True):
        yield slice(first, last)


def half_steps(
    start: NDArray[np.int64], duration: NDArray[np.int64]
) -> tuple[HalfSteps, HalfSteps]:
    """Return starts and ends in half nanoseconds; what took none takes one of these.

    So a slice of no length has its place inside of what contains it, and never ends before it
    begins. Times below ``MOST_NS`` fit; the start is the first one's.
    """
    begins = (start - (start[0] if len(start) else 0)).astype(np.uint64) * 2
    return begins, begins + np.maximum(duration.astype(np.uint64) * 2, 1)


def parents(begins: HalfSteps, ends: HalfSteps) -> tuple[Places, Places]:
    """Return of each slice of a track which one contains it, and its depth.

    Both are right where the slices nest; where some overlap, ``ends[parent] < ends`` shows at
    least one of them.

    Args:
        begins: Ascending.
        ends: Of those that begin together the later one first.
    """
    number = len(begins)
    over = np.searchsorted(np.sort(ends), begins, side="right")
    depth = np.arange(number, dtype=np.int64) - over
    parent = np.full(number, _NONE, np.int64)
    above = np.flatnonzero(depth == 0)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        parent[here] = above[np.searchsorted(above, here) - 1]
        above = here
    return parent, depth


def _self_times(duration: NDArray[np.int64], parent: Places) -> NDArray[np.int64]:
    inner = parent != _NONE
    return duration - summed(parent[inner], duration[inner], len(duration))


def summed(key: Places, values: NDArray[np.int64], keys: int) -> NDArray[np.int64]:
    """Return the sum of the values of each key, in integers: floats round above 2^53."""
    sums = np.zeros(keys, np.int64)
    np.add.at(sums, key, values)
    return sums


def _paths(parent: Places, depth: Places, name: NDArray[np.int32]) -> tuple[Places, Sequence[Path]]:
    path = np.full(len(parent), _NONE, np.int64)
    paths: list[Path] = []
    width = int(name.max(initial=0)) + 1
    for level in range(int(depth.max(initial=-1)) + 1):
        here = np.flatnonzero(depth == level)
        above = path[parent[here]] if level else np.full(len(here), _NONE)
        keys, which = np.unique((above + 1) * width + name[here], return_inverse=True)
        path[here] = len(paths) + which
        paths.extend(Path(int(key) // width - 1, int(key) % width) for key in keys)
    return path, paths


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
