"""Parents, depths and paths of nested slices."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import Numbers, Slices, Trace, Track

Places = NDArray[np.int64]
HalfSteps = NDArray[np.uint64]
_NONE = -1


class Path(NamedTuple):
    """A name below the names that contain it.

    Args:
        parent: Which of the paths contains this one; -1 for none.
        name: Which of the trace's names it ends in.
    """

    parent: int
    name: int


class Nesting(NamedTuple):
    """Parents and depths of nested slices: two columns, one value for each slice.

    Args:
        parent: The place of the slice that contains each; -1 for none.
        depth: How many slices contain each.
    """

    parent: Places
    depth: Places


def arranged(trace: Trace) -> Trace:
    """Return a trace whose slices nest on each track, ordered as ``nest`` takes them.

    A slice that overlaps others without one containing the other goes to the first further lane
    of its track where it fits: ``worker (2)``. No slice is dropped.
    """
    slices = ordered(trace.slices)
    lane = np.zeros(len(slices), np.int32)
    for part in parts_of_tracks(slices.track):
        begins, ends = half_steps(slices.start[part], slices.duration[part])
        if not _nests(parents(begins, ends), ends):
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


def _nests(found: Nesting, ends: HalfSteps) -> bool:
    """Tell whether what ``parents`` returned is right: no slice ends behind its parent."""
    inner = np.flatnonzero(found.depth)
    whole = ends[found.parent[inner]] >= ends[inner]
    return bool(found.depth.min(initial=0) >= 0 and whole.all())


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
        found, depth[part] = parents(*half_steps(slices.start[part], slices.duration[part]))
        parent[part] = np.where(found == _NONE, _NONE, found + part.start)
    return Nesting(parent, depth)


def paths_of(nesting: Nesting, name: Numbers, known: dict[Path, int]) -> Places:
    """Return the number of the path that each slice is on.

    Args:
        nesting: Of the slices.
        name: Of each.
        known: Numbers of paths, each behind the one that contains it; new ones are added.
    """
    path = np.full(len(name), _NONE, np.int64)
    width = int(name.max(initial=0)) + 1
    for level in range(int(nesting.depth.max(initial=-1)) + 1):
        here = np.flatnonzero(nesting.depth == level)
        above = path[nesting.parent[here]] if level else np.full(len(here), _NONE)
        keys, which = np.unique((above + 1) * width + name[here], return_inverse=True)
        paths = (Path(key // width - 1, key % width) for key in keys.tolist())
        path[here] = np.array([known.setdefault(one, len(known)) for one in paths])[which]
    return path


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


def parents(begins: HalfSteps, ends: HalfSteps) -> Nesting:
    """Return how the slices of a track contain each other.

    It is right where the slices nest; where some overlap, ``ends[parent] < ends`` shows at
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
    return Nesting(parent, depth)


def summed(key: Places | Numbers, values: NDArray[np.int64], keys: int) -> NDArray[np.int64]:
    """Return the sum of the values of each key, in integers: floats round above 2^53."""
    sums = np.zeros(keys, np.int64)
    np.add.at(sums, key, values)
    return sums


def lanes_of(trace: Trace) -> Iterator[tuple[Track, Slices]]:
    """Yield each track, or further lane of one, with its slices, arranged.

    To spare memory only one track is there twice.
    """
    order = np.argsort(trace.slices.track, kind="stable")
    for part in list(parts_of_tracks(trace.slices.track[order])):
        slices = trace.slices.taken(order[part])
        track = trace.tracks[int(slices.track[0])]
        slices.track[:] = 0
        lanes = arranged(Trace([track], trace.names, slices))
        for inside in parts_of_tracks(lanes.slices.track):
            lane = lanes.slices.part(inside)
            yield lanes.tracks[int(lane.track[0])], lane
