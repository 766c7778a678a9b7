"""What is drawn of which results, and where it stands."""

from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.results.summary import summarize
from benchyard.results.trust import Suspect
from benchyard.show.results_plot.cells import PlotSide
from benchyard.show.results_plot.chart import Chart, PlotKind
from benchyard.show.results_plot.choice import PlotRequest, make_charts
from benchyard.statistics.comparison import compare_samples
from tests.benchyard.analysis.comparison.conftest import failed, run, step, titled
from tests.benchyard.show.results_plot.conftest import SIX, charted, matrix, records, sides, times


def places(chart: Chart) -> list[tuple[str, str, float, int]]:
    """Return panel, series, place and number of runs of each mark."""
    return [
        (panel.title, chart.series[mark.series], mark.at, len(mark.values))
        for panel in chart.panels
        for mark in panel.marks
    ]


# -- which kind

MANY = {f"q{n}": SIX for n in range(9)}


@pytest.mark.parametrize(
    ("found", "kind", "panels", "rows", "series"),
    [
        (sides(records()), None, [""], ("Load", "Ask"), ("",)),
        (
            sides(records(name="a"), records(name="b")),
            *(None, [""], ("Load", "Ask"), ("a", "b")),
        ),
        (
            sides(records(), records()),
            *(None, [""], ("Load", "Ask"), ("folder0", "folder1")),
        ),
        (matrix(on=[True, False]), None, [""], ("Load", "Ask"), ("on=true", "on=false")),
        (
            matrix(n=[*range(9)]),
            *(PlotKind.POINTS, ["Load", "Ask"], tuple(f"n={n}" for n in range(9)), ("",)),
        ),
        (matrix(n=[1, 2]), PlotKind.ECDF, ["Load", "Ask"], None, ("n=1", "n=2")),
        (
            sides(records(MANY, {"n": 1}), records(MANY, {"n": 2})),
            *(PlotKind.LINES, [f"Q{n}" for n in range(9)], None, ("",)),
        ),
    ],
    ids=["case", "cases", "one title", "words", "many cases", "distributions", "many steps"],
)
def test_what_is_drawn_has_panels_rows_and_series(
    found: tuple[PlotSide, ...],
    kind: PlotKind | None,
    panels: list[str],
    rows: tuple[str, ...] | None,
    series: tuple[str, ...],
) -> None:
    chart = charted(found, kind)
    assert chart.kind is (kind or PlotKind.POINTS)
    assert [panel.title for panel in chart.panels] == panels
    assert rows is None or chart.panels[0].rows == rows
    assert chart.series == series


def test_a_parameter_of_numbers_is_lines() -> None:
    chart = charted(matrix(threads=[4, 1, 2]))
    assert chart.kind is PlotKind.LINES
    assert chart.parameter == "threads"
    assert chart.series == ("Load", "Ask")
    assert [place[1:3] for place in places(chart)] == [
        *(("Load", 1.0), ("Load", 2.0), ("Load", 4.0)),
        *(("Ask", 1.0), ("Ask", 2.0), ("Ask", 4.0)),
    ]


def test_other_parameters_are_colours_and_steps_panels() -> None:
    found = matrix(threads=[1, 2], system=["a", "b"], size=[1, 9])
    chart = charted(found, x="threads")
    assert [panel.title for panel in chart.panels] == ["Load", "Ask"]
    assert chart.series[0] == "system=a, size=1"
    assert len(chart.series) == 4
    split = charted(found, x="threads", series="size")
    assert split.series == ("size=1", "size=9")
    assert [panel.title for panel in split.panels] == [
        *("Load [system=a]", "Load [system=b]", "Ask [system=a]", "Ask [system=b]")
    ]
    assert len(places(split)) == 16


def test_the_title_is_what_all_have_in_common() -> None:
    one, other = (records(point={"n": 1, "m": m}, name="a") for m in (1, 2))
    assert charted(sides(one)).title == "a[n=1,m=1]"
    assert charted(sides(one, other)).title == "a[n=1]"
    third = records(point={"n": 1, "m": 2}, name="b")
    assert charted(sides(one, third)).title == "n=1"
    assert charted(sides(one, other), steps=("load",)).title == "a[n=1], Load"


def test_a_case_with_other_steps_has_rows_of_its_own() -> None:
    found = sides(records({"load": SIX}, name="a"), records({"ask": SIX}, name="b"))
    chart = charted(found)
    assert chart.panels[0].rows == ("Load", "Ask")
    assert [place[:3] for place in places(chart)] == [("", "a", 0), ("", "b", 1)]


# -- what the marks say
def test_marks_are_those_of_the_summary() -> None:
    made = records()
    [load, _] = charted(sides(made)).panels[0].marks
    summary: Any = summarize("tpch", made)
    told = summary["steps"][0]["metrics"]["duration_s"]["statistics"]
    ends = told["median_interval"]
    assert (load.centre, load.low, load.high) == (told["median"], ends["low"], ends["high"])
    assert load.values == SIX


def test_ratios_are_those_of_the_comparison() -> None:
    found = sides(records(name="a"), records({"load": times(3.0), "ask": SIX}, name="b"))
    chart = charted(found, PlotKind.RATIO)
    assert chart.quantity == "time of b relative to a"
    assert chart.log_values
    [load, ask] = chart.panels[0].marks
    want = compare_samples(SIX, times(3.0), level=0.05)
    assert (load.centre, load.low, load.high) == (
        want.ratio,
        want.ratio_interval.low,
        want.ratio_interval.high,
    )
    assert ask.centre == pytest.approx(0.5, rel=0.05)


def test_other_metrics_have_their_name_and_unit() -> None:
    made = [run(n, step(1.0, used={"host_cpu_s": float(n)})) for n in range(1, 7)]
    chart = charted(sides(made), metrics=("host_*",))
    assert (chart.quantity, chart.unit) == ("host_cpu_s", "s")
    assert chart.panels[0].marks[0].values == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


# -- axes
@pytest.mark.parametrize(
    ("kind", "factor", "log"),
    [
        (PlotKind.POINTS, 19, False),
        (PlotKind.POINTS, 30, True),
        (PlotKind.STRIPS, 30, True),
        (PlotKind.BARS, 30, False),
        (PlotKind.RATIO, 1, True),
    ],
)
def test_the_axis_is_logarithmic_where_medians_are_far_apart(
    kind: PlotKind, factor: float, log: bool
) -> None:
    steps = {"load": SIX, "ask": times(float(factor))}
    assert charted(sides(records(steps)), kind).log_values is log


def test_the_user_chooses_the_scale() -> None:
    found = matrix(threads=[1, 2, 4])
    scales = {True: (True, True), False: (False, False), None: (False, True)}
    for log, expected in scales.items():
        chart = charted(found, log=log)
        assert (chart.log_values, chart.log_parameter) == expected


def test_each_metric_has_its_chart_once_in_the_order_asked_for() -> None:
    found = sides([run(n, step(1.0, used={"b_s": 2.0, "a_s": 3.0})) for n in range(1, 7)])
    charts = make_charts(found, PlotRequest(metrics=("duration_s", "?_s", "b_s")))
    assert [chart.quantity for chart in charts] == ["time", "a_s", "b_s"]
    centres = [mark.centre for chart in charts for mark in chart.panels[0].marks]
    assert centres == [1.0, 3.0, 2.0]


# -- what cannot be

POINTS = matrix(threads=[1, 2], system=["a", "b"])
RATIO, MADE = PlotKind.RATIO, [run(n, step(1.0, used={"b_s": 0.0})) for n in range(1, 7)]
DISTURBED = sides([run(1, step(1.0, suspect=["it swapped"]))], suspect=Suspect.LEAVE_OUT)


@pytest.mark.parametrize(
    ("found", "wish", "said"),
    [
        (POINTS, PlotRequest(x="thread"), "--x thread: no parameter .* did you mean 'threads'"),
        (POINTS, PlotRequest(series="case"), "--series case: no parameter in which these cases"),
        (POINTS, PlotRequest(x="threads", series="threads"), "both threads"),
        (POINTS, PlotRequest(PlotKind.ECDF, x="threads"), "the axis of --kind ecdf"),
        (POINTS, PlotRequest(RATIO, reference="threads=3"), "no case or step is 'threads=3'"),
        (POINTS, PlotRequest(RATIO, reference="nothing"), "no case or step is 'nothing'"),
        (sides(MADE), PlotRequest(PlotKind.LINES), "none differs between these cases"),
        (sides(MADE), PlotRequest(RATIO), "nothing but the reference"),
        (sides(MADE), PlotRequest(metrics=("b_s",), log=True), "--log: b_s is 0 somewhere"),
        (matrix(n=[0, 1]), PlotRequest(log=True), "--log: n is 0 somewhere"),
        (sides(MADE), PlotRequest(metrics=("*_s", "c_s")), "no step has a metric 'c_s'"),
        (
            sides(records({f"q{n}": SIX for n in range(31)})),
            *(PlotRequest(PlotKind.ECDF), r"room for 30 panels, not for 31; .*--step"),
        ),
        (
            sides([run(1, step(1.0, used=dict.fromkeys(map(str, range(30)), 1.0)))]),
            *(PlotRequest(metrics=("all",)), r"room for 30 panels, not for 31; .* or metrics"),
        ),
        (
            sides([run(1, failed(), **titled("tpch"))]),
            *(PlotRequest(), "no finished run of tpch has a measured step"),
        ),
        (DISTURBED, PlotRequest(), r"no value to draw. Left out: 1 suspect .*--suspect auto"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    found: tuple[PlotSide, ...], wish: PlotRequest, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        make_charts(found, wish)


def test_values_of_zero_are_drawn_on_a_linear_axis() -> None:
    assert not charted(sides(MADE), metrics=("b_s",)).log_values
