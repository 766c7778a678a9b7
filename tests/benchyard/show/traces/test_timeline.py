"""Timelines: that all is drawn that there is room for, and that the picture says what is not."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.model import Json
from benchyard.show.drawing import Drawing
from benchyard.show.traces.timeline import timeline_drawing
from benchyard.show.traces.timeline_layout import (
    MOST_COUNTERS,
    MOST_LEVELS,
    MOST_ROWS,
    Boxes,
    lay_out,
    merged,
    thinned,
)
from benchyard.traces.building import TraceBuilder
from benchyard.traces.model import Counter, Loss, Trace

PNG = b"\x89PNG\r\n\x1a\n"
#: Track, start and duration.
Rows = Sequence[tuple[int, int, int]]


def texts(drawing: Drawing) -> list[str]:
    """Return the texts of an SVG."""
    tree = ET.fromstring(drawing.svg())  # noqa: S314 - it is our own
    return ["".join(one.itertext()) for one in tree.iter() if one.tag.endswith("text")]


def small() -> Trace:
    """Return a trace with one of everything."""
    made = TraceBuilder(zero=1_795_161_600 * 10**9)
    lab, database = made.track("bench1", "lab"), made.track("bench1", "PostgreSQL")
    other = made.track("bench2", "worker")
    made.slice(lab, "run", 0, 9_000_000_000)
    made.slice(database, "load", 1_000_000_000, 4_000_000_000, {"outcome": "failed"})
    made.slice(database, "attempt 1", 1_000_000_000, 4_000_000_000)
    made.slice(other, "steps", 0, 8_000_000_000)
    made.instant(database, "retry", 5_000_000_000)
    for second in range(10):
        made.count("bench1", "CPU of the host", second * 10**9, second / 4, "cores")
        made.count("bench1", "swap of the host", second * 10**9, 0.0, "B")
    return made.trace()


def boxes(rows: Rows) -> Boxes:
    """Return boxes of level 0, each with a name of its own."""
    track, start, length = np.array(rows, np.int64).reshape(len(rows), 3).T
    place = np.arange(len(rows))
    return np.stack([track, 0 * place, start, start + length, place, place % 3 == 0])


# -- pictures


def test_all_names_are_in_the_picture() -> None:
    drawing = timeline_drawing(small(), "words, run 1")
    found = texts(drawing)
    assert {"words, run 1", "bench1", "bench2", "lab", "PostgreSQL", "worker"} <= {*found}
    assert {"run", "load", "attempt 1", "steps", "retry (1)", "CPU of the host"} <= {*found}
    assert "≤ 2.25 cores" in found
    assert "time since the start (s)" in found
    assert "4 slices on 3 tracks; 9 s; from 2026-11-20 08:00:00 UTC; red edge: failed" in found
    assert "zero throughout: swap of the host" in found
    assert drawing.picture("png").startswith(PNG)


ODD = (
    *("$x_1$ costs 5 $", "$\\frac{", "<b>&amp;", "a\x1b[31m\x00b", "\ud800", "x" * 5000, ""),
    "数据 🚀",
)


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_texts_and_nothing_else(name: str) -> None:
    made = TraceBuilder()
    track = made.track(name, name)
    made.slice(track, name, 0, 1000)
    made.instant(track, name, 10)
    made.count(name, name, 0, 1.0, name)
    made.lose(name, name)
    found = texts(timeline_drawing(made.trace(), name))
    assert "".join(found).isprintable()
    assert name in found or not name.startswith("$x")


@pytest.mark.parametrize("start", [0, -(2**61), 2**61])
@pytest.mark.parametrize("length", [0, 1, 2_000, 10**6, 10**13, 2**61])
def test_traces_of_any_length(start: int, length: int) -> None:
    made = TraceBuilder(zero=2**62)
    made.slice(made.track("p", "t"), "a", start, length)
    made.instant(made.track("p", "t"), "b", start)
    found = texts(timeline_drawing(made.trace()))
    assert any(text.startswith("time since the start") for text in found)


@pytest.mark.slow
def test_a_picture_of_many_is_small_and_says_so() -> None:
    count = 60_000
    made = TraceBuilder()
    tracks = [made.track("p", f"t{n}") for n in range(4)]
    for n in range(count):
        made.slice(tracks[n % 4], f"n{n % 7}", n * 1000, 700)
        made.instant(tracks[n % 4], f"kind {n % 9}", n * 1000)
    drawing = timeline_drawing(made.trace(), most=500)
    found = " ".join(texts(drawing))
    assert "of 60,000 slices, those shorter than" in found
    assert "others (19,998)" in found
    assert "of 60,000 instants, close ones of a name are one mark" in found
    assert len(drawing.svg()) < 500_000


# -- what there is room for


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-(10**6), 10**6), st.integers(0, 10**4)), max_size=60
)


@given(ROWS, st.integers(4, 60), st.floats(1, 1e4))
def test_merged_boxes_cover_the_same_and_are_few(rows: Rows, most: int, pixel: float) -> None:
    found, width = merged(boxes(rows), most, pixel)
    assert found.shape[1] <= max(most, len({track for track, _, _ in rows}) * 2)
    if len(rows) <= most:
        assert found.shape[1] == len(rows)
    for track, start, length in rows:
        assert ((found[0] == track) & (found[2] <= start) & (found[3] >= start + length)).any()
    # A box is one of those there were, or no longer than two pixels of what was put together.
    exact = {(track, start, start + length) for track, start, length in rows}
    for track, start, end in found[[0, 2, 3]].T.tolist():
        assert (track, start, end) in exact or end - start <= 2 * width + 1


def test_what_is_drawn_together_has_the_name_of_the_longest_and_the_failure() -> None:
    found, _ = merged(boxes([(0, 100, 1), (0, 102, 5), (0, 108, 1), (0, 500, 300)]), 2, 50.0)
    assert sorted(found[[4, 5]].T.tolist()) == [[1, 1], [3, 1]]
    found, _ = merged(boxes([(0, 100, 1), (1, 100, 1), (0, 200, 1)]), 2, 50.0)
    assert set(found[0].tolist()) == {0, 1}


def test_of_too_many_tracks_the_busiest_are_drawn() -> None:
    made = TraceBuilder()
    for number in range(MOST_ROWS + 20):
        made.slice(made.track("p", f"t{number}"), "a", 0, 1000 + number)
    made.track("p", "without anything")
    found = lay_out(made.trace(), 10**6, 1000)
    assert [*found.rows] == [*range(20, MOST_ROWS + 20)]
    assert found.notes == ["20 more tracks, less busy than these, are not drawn"]
    assert {*found.boxes[0].tolist()} == {*found.rows}


def test_what_lies_too_deep_is_told() -> None:
    made = TraceBuilder()
    for level in range(MOST_LEVELS + 3):
        made.slice(made.track("p", "t"), f"a{level}", level, 1000 - 2 * level)
    found = lay_out(made.trace(), 10**6, 1000)
    assert found.rows == {0: MOST_LEVELS}
    assert found.notes == [f"3 slices below the {MOST_LEVELS}th level are not drawn"]
    assert found.boxes.shape[1] == MOST_LEVELS


def counter(name: str, *values: float) -> Counter:
    return Counter("p", name, np.arange(len(values)), np.array(values, np.float64))


def test_counters_that_tell_something_are_drawn() -> None:
    odd = [counter("nothing"), counter("unknown", np.nan, np.inf), counter("still", 0.0, np.nan)]
    many = [counter(f"c{number}", 0.0, 1.0) for number in range(MOST_COUNTERS + 2)]
    found = lay_out(Trace([], [], TraceBuilder().trace().slices, counters=[*odd, *many]), 10, 1000)
    assert [one.name for one in found.counters] == [f"c{n}" for n in range(MOST_COUNTERS)]
    assert found.notes == ["zero throughout: still", "2 more counters are not drawn"]


def test_losses_are_told() -> None:
    details: dict[str, Json] = {}
    made = TraceBuilder()
    made.slice(made.track("p", "t"), "a", 0, 1, details)
    trace = made.trace()
    lost = Trace(trace.tracks, trace.names, trace.slices, losses=[Loss("odd", 3, "byte 7")] * 2)
    assert lay_out(lost, 10, 10).notes == ["missing, 3 times: odd (first at byte 7); and 1 more"]


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(-9, 9)), min_size=1, max_size=60))
def test_no_peak_of_a_curve_is_lost(points: list[tuple[int, int]]) -> None:
    times = np.array(sorted(at for at, _ in points), np.float64)
    values = np.array([value for _, value in points], np.float64)
    at, kept = thinned(times, values, 10.0)
    assert kept.max() == values.max()
    assert (at[-1], kept[-1]) == (times[-1], values[-1])
    assert (np.diff(at) >= 0).all()
    assert len(at) <= 2 * 51
