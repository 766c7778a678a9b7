"""What is really drawn: the data of the axes, the texts, the files."""

import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.results.trust import Suspect
from benchyard.show.plot import picture
from benchyard.show.results_plot.chart import Chart, Kind
from benchyard.show.results_plot.choice import Wish, make_chart
from benchyard.show.results_plot.figure import draw, make_figure
from benchyard.show.results_plot.size import PAPER, Size
from tests.benchyard.analysis.comparison.conftest import run, step, titled
from tests.benchyard.show.results_plot.conftest import SIX, matrix, records, sides, times

STEPS = {"load": SIX, "ask": times(2.0)}
_SIZE = Size()
EVIL = r"$\frac{1}$ _x_ <b>&%#{} λ→数"


def drawn(chart: Chart, size: Size = _SIZE) -> Any:
    """Return the figure, laid out as in a file."""
    kept: list[Any] = []

    def make() -> Any:
        kept.append(make_figure(chart, size))
        return kept[0]

    picture(make, "svg", {})
    return kept[0]


def dots(axes: Any) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Return x and y of everything drawn as lines and marks."""
    return [(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in axes.lines]


def texts(figure: Any) -> set[str]:
    found = [text.get_text() for text in figure.findobj(Text)]
    return {text for text in found if text}


def test_points_stand_at_their_medians_with_their_intervals_and_runs() -> None:
    chart = make_chart(sides(records(STEPS)), Wish())
    [axes] = drawn(chart).axes
    load = chart.panels[0].marks[0]
    assert ((load.centre,), (0.0,)) in dots(axes)
    assert ((load.low, load.high), (0.0, 0.0)) in dots(axes)
    assert SIX in [x for x, _ in dots(axes)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Load", "Ask"]
    assert axes.yaxis_inverted()
    assert "1.01 s" in texts(axes)


def test_a_point_without_an_interval_is_hollow() -> None:
    [axes] = drawn(make_chart(sides(records({"load": (1.0, 1.2)})), Wish())).axes
    [point] = [line for line in axes.lines if tuple(line.get_xdata()) == (1.1,)]
    assert point.get_markerfacecolor() == "white"


def test_bars_begin_at_zero() -> None:
    chart = make_chart(sides(records(STEPS, name="a"), records(STEPS, name="b")), Wish(Kind.BARS))
    [axes] = drawn(chart).axes
    widths = [bar.get_width() for bar in axes.patches if bar.get_height() < 0.5]
    assert sorted(widths) == sorted(mark.centre or 0 for mark in chart.panels[0].marks)
    assert axes.get_xlim()[0] == 0
    assert {bar.get_hatch() for bar in axes.patches} >= {"", "////"}


def test_strips_show_each_run_in_order() -> None:
    [axes] = drawn(make_chart(sides(records({"load": SIX})), Wish(Kind.STRIPS))).axes
    [(x, y)] = [one for one in dots(axes) if len(one[0]) == 6]
    assert x == SIX
    assert list(y) == sorted(y)


def test_lines_run_over_the_parameter_on_its_own_axis() -> None:
    chart = make_chart(matrix(threads=[1, 2, 4, 8]), Wish())
    [axes] = drawn(chart).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    medians = tuple(mark.centre for mark in chart.panels[0].series[0].marks)
    assert ((1.0, 2.0, 4.0, 8.0), medians) in dots(axes)
    assert {"1", "2", "4", "8", "threads", "time"} <= texts(axes)


def test_ratios_have_one_marked_on_a_logarithmic_axis() -> None:
    found = sides(records(STEPS, name="a"), records({"load": times(3.0), "ask": SIX}, name="b"))
    [axes] = drawn(make_chart(found, Wish(Kind.RATIO))).axes
    assert axes.get_xscale() == "log"
    assert ((1.0, 1.0), (0, 1)) in dots(axes)
    assert "time of b relative to a" in texts(axes)


def test_distributions_end_at_all_runs() -> None:
    figure = drawn(make_chart(sides(records(STEPS)), Wish(Kind.ECDF)))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Load", "Ask"]
    [(x, y)] = dots(figure.axes[0])
    assert x[1:] == tuple(sorted(SIX))
    assert y[-1] == pytest.approx(1.0)


def test_a_step_without_a_value_has_its_row() -> None:
    disturbed = step(1.0, name="ask", index=2, suspect=["it swapped"])
    made = [run(n, step(d), disturbed) for n, d in enumerate(SIX, 1)]
    found = sides(made, suspect=Suspect.LEAVE_OUT)
    [axes] = drawn(make_chart(found, Wish())).axes
    assert "no value" in texts(axes)


@pytest.mark.parametrize("kind", list(Kind))
def test_names_are_drawn_as_they_are(kind: Kind) -> None:
    steps = {EVIL: SIX, "_hidden": times(30.0)}
    points: list[dict[str, Json]] = [{"n": 1, "_p": "$x$"}, {"n": 2, "_p": "_y"}]
    found = sides(*(records(steps, point, name=EVIL) for point in points))
    seen = texts(drawn(make_chart(found, Wish(kind))))
    assert EVIL.title() in " ".join(seen)
    assert any("_p=$x$" in text for text in seen)


def test_every_series_is_in_the_legend() -> None:
    chart = make_chart(sides(records(STEPS, name="_a"), records(STEPS, name="b")), Wish())
    [legend] = drawn(chart).legends
    assert [text.get_text() for text in legend.get_texts()] == ["_a", "b"]


def test_a_paper_has_its_width_and_no_title() -> None:
    chart = make_chart(sides(records(STEPS)), Wish())
    figure = drawn(chart, Size(PAPER["column"], titled=False))
    assert figure.get_size_inches()[0] == pytest.approx(3.33)
    assert "tpch" not in texts(figure)
    assert "tpch" in texts(drawn(chart))
    assert tuple(drawn(chart, Size(4.0, 5.0)).get_size_inches()) == (4.0, 5.0)


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (Kind.POINTS, Size(height=1.0)),
        (Kind.POINTS, Size(width=1.0)),
        (Kind.ECDF, Size(height=3.0)),
    ],
)
def test_what_has_no_room_is_said(kind: Kind, size: Size, tmp_path: Path) -> None:
    steps = {f"a long name {n}": SIX for n in range(12)}
    with pytest.raises(InputError, match="too small for so much; make it larger"):
        draw(make_chart(sides(records(steps)), Wish(kind)), size, [tmp_path / "x.png"])
    assert not list(tmp_path.iterdir())


def test_a_panel_without_any_value_is_empty() -> None:
    about = titled("b", name="b")
    disturbed = step(1.0, name="load", suspect=["x"]), step(9.0, name="ask", index=2)
    made = records({"load": SIX, "ask": times(30.0)}, name="a")
    found = sides(made, [run(1, *disturbed, **about)], suspect=Suspect.LEAVE_OUT)
    drawn(make_chart(found, Wish(Kind.ECDF, steps=("load",))))
    alone = sides([run(1, *disturbed)], suspect=Suspect.LEAVE_OUT)
    log = make_chart(alone, Wish(Kind.ECDF, log=True))
    assert log.log_values
    assert not drawn(log).axes[0].lines


@pytest.mark.parametrize("kind", list(Kind))
def test_the_same_results_are_the_same_file(kind: Kind, tmp_path: Path) -> None:
    file = tmp_path / "x.svg"
    found = matrix(threads=[1, 2, 4])
    draw(make_chart(found, Wish(kind)), _SIZE, [file])
    first = file.read_bytes()
    draw(make_chart(found, Wish(kind)), _SIZE, [file])
    assert file.read_bytes() == first


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
def test_any_name_makes_a_picture(case: str, step_: str, value: str) -> None:
    steps = {step_: SIX}
    found = sides(*(records(steps, {"p": one}, name=case) for one in (value, f"{value}2")))
    chart = make_chart(found, Wish())
    ET.fromstring(picture(lambda: make_figure(chart, _SIZE), "svg", {}))  # noqa: S314 - our own


@pytest.mark.slow
def test_files_are_of_their_type_and_do_not_know_the_time(tmp_path: Path) -> None:
    chart = make_chart(sides(records({EVIL: SIX, "load": SIX})), Wish())
    files = [tmp_path / f"x.{ending}" for ending in ("png", "svg", "pdf")]
    draw(chart, _SIZE, files)
    first = [file.read_bytes() for file in files]
    assert [content[:4] for content in first] == [b"\x89PNG", b"<?xm", b"%PDF"]
    assert b"/FontFile2" in first[2]
    assert b"/Type3" not in first[2]
    time.sleep(1.1)
    draw(chart, _SIZE, files)
    assert [file.read_bytes() for file in files] == first
