"""What is really drawn: the data of the axes, the texts, the files."""

import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.results.trust import Suspect
from benchyard.show.drawing import Box, Dots, Drawing, Line, Text
from benchyard.show.results_plot.cells import PlotSide
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.figure import PAPER, Size, chart_drawing
from tests.benchyard.analysis.comparison.conftest import run, step, titled
from tests.benchyard.show.results_plot.conftest import SIX, charted, matrix, records, sides, times

_SIZE = Size()
EVIL = r"$\frac{1}$ _x_ <b>&%#{} λ→数"


def drawn(
    found: tuple[PlotSide, ...], kind: PlotKind | None = None, size: Size = _SIZE, **more: Any
) -> Drawing:
    return chart_drawing([charted(found, kind, **more)], size)


def xs(marks: Dots) -> list[float]:
    return [x for x, _ in marks.points]


def texts(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


def dots(drawing: Drawing) -> list[Dots]:
    return [shape for shape in drawing.shapes if isinstance(shape, Dots)]


def test_points_stand_within_their_intervals_among_their_runs() -> None:
    drawing = drawn(sides(records()))
    [runs, load, _, ask] = dots(drawing)
    [interval, *_] = [one for one in drawing.shapes if isinstance(one, Line) and one.width == 1.5]
    (low, y), (high, _) = interval.points
    assert low < load.points[0][0] < high
    assert load.points[0][1] == y < ask.points[0][1]
    assert load.points[0][0] < ask.points[0][0]
    assert xs(runs).index(max(xs(runs))) == SIX.index(max(SIX))
    assert {"Load", "Ask", "1.01 s"} <= {*texts(drawing)}
    hollow = drawn(sides(records({"load": (1.0, 1.2)})))  # there is no interval
    assert dots(hollow)[-1].hollow


def test_bars_begin_at_zero_and_are_as_long_as_their_values() -> None:
    chart = charted(sides(records(name="a"), records(name="b")), PlotKind.BARS)
    shapes = chart_drawing([chart], _SIZE).shapes
    bars = [one for one in shapes if isinstance(one, Box) and one.edge and one.height > 9]
    assert len({bar.x for bar in bars}) == 1
    medians = [mark.centre or 0.0 for mark in chart.panels[0].marks]
    lengths = [bar.width / median for bar, median in zip(bars, medians, strict=True)]
    assert max(lengths) == pytest.approx(min(lengths))
    assert {bar.hatch for bar in bars} == {"", "////"}


def test_strips_and_distributions_show_each_run_in_order() -> None:
    [strip] = dots(drawn(sides(records({"load": SIX})), PlotKind.STRIPS))
    heights = [y for _, y in strip.points]
    drawing = drawn(sides(records()), PlotKind.ECDF)
    assert {"Load: share of runs", "Ask: share of runs"} <= {*texts(drawing)}
    [load, _] = dots(drawing)
    for values in (heights, xs(load)):
        assert values == sorted(values)
        assert len(values) == 6


def test_lines_run_over_the_parameter_on_its_own_axis() -> None:
    drawing = drawn(matrix(threads=[1, 2, 4, 8]))
    [line, _] = [one for one in drawing.shapes if isinstance(one, Line) and one.width == 1.6][-2:]
    gaps = [after - before for (before, _), (after, _) in pairwise(line.points)]
    assert gaps == pytest.approx([gaps[0]] * 3)
    assert {"1", "2", "4", "8", "threads", "time"} <= {*texts(drawing)}


def test_ratios_have_one_marked_on_a_logarithmic_axis() -> None:
    found = sides(records(name="a"), records({"load": times(3.0), "ask": SIX}, name="b"))
    drawing = drawn(found, PlotKind.RATIO)
    [one] = [shape for shape in drawing.shapes if isinstance(shape, Line) and shape.dashes]
    half, triple = sorted(x for mark in dots(drawing) for x in xs(mark))
    assert half < one.points[0][0] < triple
    assert "time of b relative to a" in texts(drawing)


@pytest.mark.parametrize("kind", list(PlotKind))
def test_names_are_drawn_as_they_are(kind: PlotKind) -> None:
    steps = {EVIL: SIX, "_hidden": times(30.0)}
    points: list[dict[str, Json]] = [{"n": 1, "_p": "$x$"}, {"n": 2, "_p": "_y"}]
    seen = texts(drawn(sides(*(records(steps, point, name=EVIL) for point in points)), kind))
    assert EVIL.title() in " ".join(seen)
    assert any("_p=$x$" in text for text in seen)


def test_charts_stand_below_each_other_under_one_title_and_legend() -> None:
    chart = charted(sides(records(name="a"), records(name="b")))
    alone, both = (chart_drawing([replace(chart, title="A")] * n, _SIZE) for n in (1, 2))
    assert texts(both).count("A") == texts(both).count("b") == 1
    [upper, lower] = [
        shape.y for shape in both.shapes if isinstance(shape, Text) and shape.text == "time"
    ]
    assert upper < alone.height < lower < both.height < 2 * alone.height
    sized = chart_drawing([chart] * 2, Size(height=9.0))
    assert sized.height == pytest.approx(900)
    with pytest.raises(InputError, match="too small"):
        chart_drawing([chart] * 2, Size(height=2.0))


def test_a_paper_has_its_width_and_no_title() -> None:
    found = sides(records())
    paper = drawn(found, size=Size(PAPER["column"], titled=False))
    assert paper.width == pytest.approx(333)
    assert "tpch" not in texts(paper)
    assert "tpch" in texts(drawn(found))
    sized = drawn(found, size=Size(4.0, 5.0))
    assert (sized.width, sized.height) == (400, 500)


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (PlotKind.POINTS, Size(height=1.0)),
        (PlotKind.POINTS, Size(width=1.0)),
        (PlotKind.ECDF, Size(height=3.0)),
    ],
)
def test_what_has_no_room_is_said(kind: PlotKind, size: Size) -> None:
    steps = {f"a long name {n}": SIX for n in range(12)}
    with pytest.raises(InputError, match="too small for so much; make it larger"):
        drawn(sides(records(steps)), kind, size)


def test_a_panel_without_any_value_is_empty() -> None:
    about = titled("b", name="b")
    disturbed = step(1.0, name="load", suspect=["x"]), step(9.0, name="ask", index=2)
    made = records({"load": SIX, "ask": times(30.0)}, name="a")
    found = sides(made, [run(1, *disturbed, **about)], suspect=Suspect.LEAVE_OUT)
    drawn(found, PlotKind.ECDF, steps=("load",))
    alone = sides([run(1, *disturbed)], suspect=Suspect.LEAVE_OUT)
    assert len(dots(drawn(alone, PlotKind.ECDF, log=True))) == 1  # of the other panel


@pytest.mark.slow
def test_files_are_of_their_type_and_do_not_know_the_time(tmp_path: Path) -> None:
    found = sides(records({EVIL: SIX, "load": SIX}))
    files = [tmp_path / f"x.{ending}" for ending in ("png", "svg", "pdf")]
    drawn(found).write(*files)
    first = [file.read_bytes() for file in files]
    assert [content[:4] for content in first] == [b"\x89PNG", b"<svg", b"%PDF"]
    assert b"/FontFile2" in first[2]
    assert b"/Type3" not in first[2]
    time.sleep(1.1)
    drawn(found).write(*files)
    assert [file.read_bytes() for file in files] == first
