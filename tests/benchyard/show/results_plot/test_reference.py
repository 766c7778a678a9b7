"""What ratios are to."""

from collections.abc import Sequence

import pytest

from benchyard.core.errors import InputError
from benchyard.results.record import RunRecord
from benchyard.show.results_plot.cells import PlotSide
from benchyard.show.results_plot.chart import PlotKind
from tests.benchyard.analysis.comparison.conftest import run, step, titled
from tests.benchyard.show.results_plot.conftest import SIX, charted, matrix, records, sides, times


def ratios(reference: str | None, found: Sequence[PlotSide]) -> list[float | None]:
    chart = charted(found, PlotKind.RATIO, reference=reference)
    return [mark.centre for panel in chart.panels for mark in panel.marks]


TWO = sides(records({"load": SIX}, {"n": 1}), records({"load": times(4.0)}, {"n": 2}))
STEPS = sides(records({"load": SIX, "ask": times(2.0), "end": times(8.0)}))


@pytest.mark.parametrize(
    ("reference", "found", "expected"),
    [
        *((name, TWO, [4.0]) for name in (None, "n=1", "1", "tpch[n=1]")),
        ("n=2", TWO, [0.25]),
        *((name, STEPS, [2.0, 8.0]) for name in (None, "load", "Load")),
    ],
)
def test_a_case_or_a_step_is_named_in_several_ways(
    reference: str | None, found: Sequence[PlotSide], expected: list[float]
) -> None:
    assert ratios(reference, found) == [pytest.approx(one, rel=0.05) for one in expected]


def test_values_of_parameters_compare_what_is_otherwise_alike() -> None:
    found = matrix(threads=[1, 2], system=["a", "b"])
    chart = charted(found, PlotKind.RATIO, reference="system=a")
    assert chart.series == ("threads=1", "threads=2")
    assert chart.quantity == "time of system=b relative to system=a"
    assert [mark.centre for mark in chart.panels[0].marks] == [pytest.approx(1.0, rel=0.02)] * 4
    whole = charted(found, PlotKind.RATIO, reference="threads=1")
    assert whole.series == ("system=a", "system=b")
    assert whole.quantity == "time of threads=2 relative to threads=1"


def test_a_ratio_to_nothing_is_none_and_said() -> None:
    one = records({"load": SIX}, {"n": 1})
    other = records({"load": SIX, "ask": SIX}, {"n": 2})
    chart = charted(sides(one, other), PlotKind.RATIO)
    assert [mark.centre is None for mark in chart.panels[0].marks] == [False, True]
    assert "No value: Ask." in chart.caption


def test_too_few_runs_have_a_ratio_without_an_interval() -> None:
    few = records({"load": (1.0, 1.1)}, {"n": 1})
    chart = charted(sides(few, records({"load": SIX}, {"n": 2})), PlotKind.RATIO)
    [mark] = chart.panels[0].marks
    assert mark.centre is not None
    assert mark.low is None
    assert "No interval: Load (4 runs of each can have one)." in chart.caption


def test_values_that_are_not_above_zero_have_no_ratio_on_a_logarithmic_axis() -> None:
    def counted(n: int, *values: float) -> list[RunRecord]:
        about = titled(f"tpch[n={n}]", name="tpch", point={"n": n})
        used = [{"swap_count": value} for value in values]
        return [run(i, step(1.0, used=one), **about) for i, one in enumerate(used, 1)]

    found = sides(counted(1, 0, 0, 1, 1, 1), counted(2, 0, 0, 0, 0, 0))
    with pytest.raises(InputError, match="A ratio takes values of both sides that are all above 0"):
        charted(found, PlotKind.RATIO, metrics=("swap_count",))
