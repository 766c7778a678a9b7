"""Slices that nest on each track: what overlaps otherwise gets a track of its own, a lane."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import Numbers, Slices, Trace, Track
from benchyard.traces.nesting import HalfSteps, half_steps, parents, parts_of_tracks


def arranged(trace: Trace) -> Trace:
    """Return a trace whose slices nest on each track, ordered as ``nesting.nest`` takes them.

    A slice that overlaps others without one containing the other goes to the first further lane
    of its track where it fits: ``worker (2)``. No slice is dropped.
    """
    slices = trace.slices.taken(_order(trace.slices))
    lane = np.zeros(len(slices), np.int32)
    for part in parts_of_tracks(slices.track):
        begins, ends = half_steps(slices.start[part], slices.duration[part])
        if not _nest(begins, ends):
            lane[part] = _lanes(begins.tolist(), ends.tolist())
    if not lane.any():
        return replace(trace, slices=slices)
    track, tracks, moved = _with_lanes(trace.tracks, slices.track, lane)
    onto_lanes = replace(slices, track=track)
    return replace(trace.on_tracks(tracks, moved), slices=onto_lanes.taken(_order(onto_lanes)))


def _order(slices: Slices) -> NDArray[np.int64]:
    return np.lexsort((-slices.duration, slices.start, slices.track))


def _nest(begins: HalfSteps, ends: HalfSteps) -> bool:
    parent, depth = parents(begins, ends)
    if depth.min(initial=0) < 0:
        return False
    inner = np.flatnonzero(depth)
    return bool((ends[parent[inner]] >= ends[inner]).all())


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
        made.extend(_named(one, number, taken) for number in range(2, lanes + 2))
    return (moved[track] + lane).astype(np.int32), made, moved


def _named(track: Track, number: int, taken: set[tuple[str, str]]) -> Track:
    names = (f"{track.thread} ({tried})" for tried in count(number))
    name = next(name for name in names if (track.process, name) not in taken)
    taken.add((track.process, name))
    return Track(track.process, name)
