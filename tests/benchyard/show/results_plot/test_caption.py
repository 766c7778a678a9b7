"""What a reader of a picture must know of it: nothing is dropped in silence."""

from dataclasses import replace
from pathlib import Path

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.model import Outcome
from benchyard.show.results_plot.caption import fewest_of_median
from benchyard.show.results_plot.cells import tell_apart
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.choice import PlotRequest, make_chart
from benchyard.statistics.intervals import median_interval
from tests.benchyard.analysis.comparison.conftest import failed, run, run_set, runs, step, titled
from tests.benchyard.show.results_plot.conftest import SIX, records, sides, times


def test_the_level_and_the_number_of_runs_are_told() -> None:
    [sentence] = make_chart(sides(records({"load": SIX})), PlotRequest()).caption
    assert sentence == "Points: medians of 6 runs; bars: their 95 % intervals; dots: single runs."


def test_too_few_runs_have_points_without_intervals_and_that_is_said() -> None:
    chart = make_chart(sides(runs(1.0, 1.1, 1.2)), PlotRequest())
    [mark] = chart.panels[0].marks
    assert (mark.centre, mark.low, mark.high) == (1.1, None, None)
    assert "No interval: Load (6 runs can have one)." in chart.caption


def test_the_fewest_runs_are_those_of_the_statistics() -> None:
    enough = fewest_of_median()
    assert median_interval(range(enough)).low is not None
    assert median_interval(range(enough - 1)).low is None


def test_what_is_left_out_is_counted() -> None:
    made = [run(n, step(d)) for n, d in enumerate(SIX, 1)]
    made += [run(7, step(9.0, suspect=["it swapped"])), run(8, failed())]
    made += [run(9, failed(outcome=Outcome.TOLERATED), outcome=Outcome.COMPLETED)]
    chart = make_chart(sides(made), PlotRequest())
    assert "Left out: 1 suspect (Load), 1 tolerated (Load), 1 failed (Load)." in chart.caption
    assert "Not in it: 1 run failed." in chart.caption
    assert len(chart.panels[0].marks[0].values) == 6


def test_what_is_suspect_and_taken_in_is_counted() -> None:
    made = [run(1, step(1.0)), run(2, step(9.0, suspect=["it swapped"]))]
    chart = make_chart(sides(made), PlotRequest())
    assert "On a busy host: 1 suspect counted (Load)." in chart.caption
    assert chart.panels[0].marks[0].values == (1.0, 9.0)


def test_runs_of_something_else_are_counted() -> None:
    one: RunSet = replace(run_set(runs(*SIX)), others=tuple(runs(1.0, 2.0)), folder=Path("x"))
    chart = make_chart(tell_apart([("x", one)]), PlotRequest())
    assert "Not in it: 2 runs measured something else." in chart.caption


def test_a_case_of_which_nothing_is_drawn_is_named() -> None:
    broken = [run(n, failed(), **titled("b")) for n in (1, 2)]
    fine = records({"load": SIX}, name="a")
    assert (
        "Nothing of: b (2 runs failed)." in make_chart(sides(fine, broken), PlotRequest()).caption
    )
    other = records({"ask": SIX}, name="c")
    chart = make_chart(sides(fine, other), PlotRequest(steps=("ask",)))
    assert "Nothing of: a." in chart.caption


def test_the_reference_of_ratios_is_counted_too() -> None:
    base = records({"load": SIX}, name="a")
    base.append(replace(run(7, step(9.0, suspect=["x"])), case=base[0].case))
    chart = make_chart(
        sides(base, records({"load": times(1.0, 2.0)}, name="b")), PlotRequest(PlotKind.RATIO)
    )
    assert chart.caption[0].startswith("Points: ratios to a over 12 runs and 6 runs of the refer")
    assert "Left out: 1 suspect (Load [a])." in chart.caption


def test_many_names_are_a_number() -> None:
    steps = {f"q{n}": (1.0, 2.0) for n in range(9)}
    assert (
        "No interval: 9 of 9 (6 runs can have one)."
        in make_chart(sides(records(steps)), PlotRequest()).caption
    )


def test_names_are_escaped_and_shortened() -> None:
    steps = {"a\u202eb" + "x" * 90: (1.0, 2.0)}
    [_, sentence] = make_chart(sides(records(steps)), PlotRequest()).caption
    assert "\\u202e" in sentence
    assert "…" in sentence
    assert len(sentence) < 90
