"""A trace in figures, beside a plain look at every slice."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.measures import quantile
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import Counter, Trace
from benchyard.traces.nesting import arranged, nest
from benchyard.traces.statistics import Durations, statistics_of

ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 50), st.integers(0, 30)
    ),
    max_size=30,
)


def made(rows: list[tuple[str, str, int, int]]) -> Trace:
    builder = TraceBuilder()
    for thread, name, start, duration in rows:
        builder.slice(builder.track("p", thread), name, start, duration)
    return builder.trace()


def row_of(found: Durations, place: int) -> Mapping[str, float]:
    columns = ("count", "total", "self_time", "median", "p90", "p99", "least", "most")
    return {column: getattr(found, column)[place].item() for column in columns}


@given(ROWS)
def test_each_name_is_counted_as_by_hand(rows: list[tuple[str, str, int, int]]) -> None:
    trace = arranged(made(rows))
    nesting = nest(trace.slices)
    alone = trace.slices.duration.copy()
    for inner, outer in enumerate(nesting.parent.tolist()):
        alone[outer] -= trace.slices.duration[inner] if outer >= 0 else 0
    own: dict[str, list[tuple[int, int, bool]]] = defaultdict(list)
    for place, number in enumerate(trace.slices.name.tolist()):
        above, inside = int(nesting.parent[place]), False
        while above >= 0:
            inside |= int(trace.slices.name[above]) == number
            above = int(nesting.parent[above])
        times = int(trace.slices.duration[place]), int(alone[place])
        own[str(trace.names[number])].append((*times, inside))
    found = statistics_of(made(rows))
    assert {str(found.names[int(one)]) for one in found.by_name.which} == set(own)
    for place, number in enumerate(found.by_name.which.tolist()):
        slices = own[str(found.names[number])]
        durations = sorted(duration for duration, _, _ in slices)
        row = row_of(found.by_name, place)
        assert row["count"] == len(slices)
        assert row["total"] == sum(duration for duration, _, inside in slices if not inside)
        assert row["self_time"] == sum(time for _, time, _ in slices)
        assert (row["least"], row["most"]) == (durations[0], durations[-1])
        for column, share in (("median", 0.5), ("p90", 0.9), ("p99", 0.99)):
            assert row[column] == pytest.approx(quantile(durations, share))


@given(ROWS)
def test_paths_add_up_to_names_and_tracks_to_the_span(
    rows: list[tuple[str, str, int, int]],
) -> None:
    found = statistics_of(made(rows))
    assert found.by_path.count.sum() == found.by_name.count.sum() == len(rows)
    assert found.by_path.self_time.sum() == found.by_name.self_time.sum()
    first, last = found.span
    for track in found.tracks:
        assert track.busy + track.idle == last - first
        assert track.idle >= 0


def test_a_counter_is_weighed_by_time_and_knows_nothing_of_nothing() -> None:
    seen = np.array([2.0, np.nan, 4.0])
    counters = [
        Counter("p", "memory", np.array([0, 5, 10]), seen, "B"),
        Counter("p", "none", np.array([30]), np.array([np.inf])),
    ]
    memory, none = statistics_of(Trace([], [], TraceBuilder().trace().slices, counters)).counters
    assert (memory.values, memory.least, memory.most, memory.last) == (2, 2.0, 4.0, 4.0)
    assert memory.mean == pytest.approx((10 * 2 + 20 * 4) / 30)
    assert (none.values, none.mean) == (0, None)
