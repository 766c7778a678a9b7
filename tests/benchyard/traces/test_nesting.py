"""Slices that nest, and what is said of them: beside a plain look at every pair."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchyard.traces.model import MOST_NS, Flow, Instant, Slices, Trace, Track
from benchyard.traces.nesting import Path, arranged, nest, paths_of

STARTS = st.integers(-20, 20) | st.integers(1 - MOST_NS, MOST_NS - 1)
DURATIONS = st.integers(0, 12) | st.integers(0, MOST_NS - 1)
ONE = st.tuples(st.integers(0, 2), st.integers(0, 2), STARTS, DURATIONS)


def trace_of(rows: list[tuple[int, int, int, int]]) -> Trace:
    track, name, start, duration = ([row[column] for row in rows] for column in range(4))
    slices = Slices(
        np.array(track, np.int32),
        np.array(name, np.int32),
        np.array(start, np.int64),
        np.array(duration, np.int64),
        {place: {"row": place} for place in range(len(rows))},
    )
    return Trace([Track("p", f"t{number}") for number in range(3)], ["a", "b", "c"], slices)


def rows_of(trace: Trace) -> list[tuple[int, int, int, int]]:
    columns = trace.slices
    return [
        *zip(
            columns.track.tolist(),
            columns.name.tolist(),
            columns.start.tolist(),
            columns.duration.tolist(),
            strict=True,
        )
    ]


def halves(row: tuple[int, int, int, int]) -> tuple[int, int]:
    """Return begin and end; what took no time takes half a nanosecond."""
    return 2 * row[2], 2 * row[2] + max(2 * row[3], 1)


def contains(outer: tuple[int, int, int, int], inner: tuple[int, int, int, int]) -> bool:
    return outer[0] == inner[0] and halves(outer)[1] > halves(inner)[0]


@given(st.lists(ONE, max_size=40))
def test_slices_nest_on_each_track_and_none_is_lost(
    rows: list[tuple[int, int, int, int]],
) -> None:
    trace = arranged(trace_of(rows))
    found = rows_of(trace)
    assert sorted(row[1:] for row in found) == sorted(row[1:] for row in rows)
    for place, later in enumerate(found):
        for earlier in found[:place]:
            if contains(earlier, later):
                assert halves(later)[1] <= halves(earlier)[1]


@given(st.lists(ONE, max_size=40))
def test_details_follow_their_slice(rows: list[tuple[int, int, int, int]]) -> None:
    trace = arranged(trace_of(rows))
    for place, row in enumerate(rows_of(trace)):
        assert rows[int(str(trace.slices.details[place]["row"]))][1:] == row[1:]


@given(st.lists(ONE, max_size=40))
def test_the_parent_is_the_last_slice_that_contains(
    rows: list[tuple[int, int, int, int]],
) -> None:
    trace = arranged(trace_of(rows))
    found = rows_of(trace)
    nesting = nest(trace.slices)
    known: dict[Path, int] = {}
    path = paths_of(nesting, trace.slices.name, known)
    for place, row in enumerate(found):
        around = [one for one in range(place) if contains(found[one], row)]
        assert nesting.parent[place] == (around[-1] if around else -1)
        assert nesting.depth[place] == len(around)
        assert names_on([*known], int(path[place])) == [found[one][1] for one in [*around, place]]
    assert all(first.parent < place for place, first in enumerate(known))


def names_on(paths: list[Path], number: int) -> list[int]:
    names: list[int] = []
    while number >= 0:
        names.insert(0, paths[number].name)
        number = paths[number].parent
    return names


def test_what_overlaps_gets_lanes_and_other_tracks_keep_what_is_theirs() -> None:
    rows = [(0, 0, 0, 10), (0, 1, 5, 10), (0, 2, 6, 10), (1, 0, 0, 1), (0, 0, 20, 1)]
    trace = trace_of(rows)
    trace = Trace(
        trace.tracks,
        trace.names,
        trace.slices,
        instants=[Instant(1, "killed", 3)],
        flows=[Flow("data", 0, 1, 2, 3)],
    )
    found = arranged(trace)
    assert [track.thread for track in found.tracks] == ["t0", "t0 (2)", "t0 (3)", "t1", "t2"]
    assert [row[0] for row in rows_of(found)] == [0, 0, 1, 2, 3]
    assert found.tracks[found.instants[0].track].thread == "t1"
    assert (found.flows[0].from_track, found.flows[0].to_track) == (0, 4)


def test_a_lane_never_takes_the_name_of_a_track() -> None:
    slices = trace_of([(0, 0, 0, 10), (0, 1, 5, 10)]).slices
    found = arranged(Trace([Track("p", "t"), Track("p", "t (2)")], ["a", "b"], slices))
    assert [track.thread for track in found.tracks] == ["t", "t (3)", "t (2)"]


def test_slices_deep_in_each_other_keep_their_depth() -> None:
    depth = 2_000
    rows = [(0, 0, level, 2 * (depth - level)) for level in range(depth)]
    slices = arranged(trace_of(rows)).slices
    nesting, known = nest(slices), dict[Path, int]()
    assert nesting.depth.tolist() == paths_of(nesting, slices.name, known).tolist()
    assert nesting.depth.tolist() == [*range(depth)]
    assert all(later.parent == earlier.parent + 1 for earlier, later in pairwise(known))


def test_nothing_nests_in_nothing() -> None:
    slices = arranged(trace_of([])).slices
    nesting = nest(slices)
    assert len(nesting.parent) == len(paths_of(nesting, slices.name, {})) == 0
