"""Which axes are logarithmic, and their numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.axes import COLOURS, SeriesLook
from benchyard.show.results_plot.build import grows_by_factors
from benchyard.show.results_plot.chart import Chart, Mark, PlotKind, PlotPanel
from benchyard.show.results_plot.figure import axis_of


@pytest.mark.parametrize(
    ("values", "grows"),
    [
        ([1, 2, 4, 8], True),
        ([10, 20, 50, 100], True),
        ([0.01, 0.1], True),
        ([1, 2], False),
        ([1, 2, 3], False),
        ([0, 1, 10], False),
        ([-10, -1], False),
        ([5], False),
        ([], False),
    ],
)
def test_a_range_that_grows_by_factors_is_known(values: list[float], grows: bool) -> None:
    assert grows_by_factors(values) is grows


VALUES = st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=20)


def chart(values: list[float], *, log: bool, kind: PlotKind = PlotKind.POINTS) -> Chart:
    panel = PlotPanel("", tuple(map(Mark, values)), ("row",))
    return Chart(kind, "t", "time", "s", (panel,), ("",), log_values=log)


@given(VALUES, st.booleans())
def test_every_value_lies_on_the_axis(values: list[float], log: bool) -> None:
    made = chart(values, log=log)
    axis = axis_of(made, made.panels[0], 100, 700)
    assert all(99 <= axis(value) <= 701 for value in values)
    ticks = axis.ticks()
    assert len(ticks) <= 12
    assert all(99 <= axis(tick) <= 701 for tick in ticks)
    assert ticks == sorted(set(ticks))


def test_series_differ_in_more_than_colour() -> None:
    looks = [SeriesLook(place) for place in range(24)]
    assert len({(look.colour, look.shape) for look in looks}) == 24
    assert len({(look.colour, look.hatch) for look in looks}) == 24
    assert len(set(COLOURS)) == len(COLOURS)
    assert len({(look.shape, look.dashes) for look in looks}) == 24
