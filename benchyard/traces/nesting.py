"""What contains what: parents, depths, self times and paths of slices that nest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import Slices

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


def nest(slices: Slices) -> Nesting:
    """Return how slices contain each other.

    Args:
        slices: Nesting on each track, and ordered by track, start, and the longer one first, as
            ``arranging.arranged`` leaves them.
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
    count = len(begins)
    over = np.searchsorted(np.sort(ends), begins, side="right")
    depth = np.arange(count, dtype=np.int64) - over
    parent = np.full(count, _NONE, np.int64)
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
