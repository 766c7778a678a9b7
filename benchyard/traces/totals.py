"""What all slices of a name, or on a path, took together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.arranging import arranged
from benchyard.traces.model import Slices, Trace
from benchyard.traces.nesting import Nesting, Path, nest

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


def nested(trace: Trace) -> tuple[Trace, Nesting]:
    """Return a trace arranged, and how its slices contain each other.

    One that is arranged already is not arranged again: of ten million slices that takes seconds.
    """
    if _in_order(trace.slices):
        nesting = nest(trace.slices)
        if _holds(trace.slices, nesting):
            return trace, nesting
    made = arranged(trace)
    return made, nest(made.slices)


def _in_order(slices: Slices) -> bool:
    tracks = np.diff(slices.track)
    starts = np.diff(slices.start)
    together = (tracks == 0) & (starts == 0)
    wrong = (tracks < 0) | ((tracks == 0) & (starts < 0))
    return not (wrong.any() or (together & (np.diff(slices.duration) > 0)).any())


def _holds(slices: Slices, nesting: Nesting) -> bool:
    end = slices.end
    inner = np.flatnonzero(nesting.parent != _NONE)
    return bool((end[nesting.parent[inner]] >= end[inner]).all())


def totals_of_paths(slices: Slices, nesting: Nesting) -> Totals:
    """Return the sums of each path, in the order of the nesting's paths.

    Sums below 2^53 ns, which is 104 days, are exact.
    """
    return Totals(
        np.bincount(nesting.path, minlength=len(nesting.paths)),
        summed(nesting.path, slices.duration, len(nesting.paths)),
        summed(nesting.path, nesting.self_time, len(nesting.paths)),
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


def summed(key: NDArray[np.int64], values: NDArray[np.int64], keys: int) -> Sums:
    """Return the sum of the values of each key."""
    return np.bincount(key, weights=values, minlength=keys).astype(np.int64)
