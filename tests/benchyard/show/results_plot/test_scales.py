"""Which axes are logarithmic, and their numbers."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.results_plot.look import (
    COLOURS,
    DASHES,
    HATCHES,
    MARKERS,
    Look,
    log_ticks,
)
from benchyard.show.results_plot.scales import grows_by_factors, spans_factors


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


def test_values_that_are_not_above_zero_have_no_factors() -> None:
    assert spans_factors([1.0, 21.0], [1.0, 21.0])
    assert not spans_factors([1.0, 19.0], [0.5, 30.0])
    assert not spans_factors([1.0, 21.0], [0.0, 21.0])
    assert not spans_factors([], [])


@given(st.floats(1e-12, 1e12), st.floats(1.02, 1e15))
def test_logarithmic_axes_have_a_few_ticks_inside(low: float, factor: float) -> None:
    ticks = log_ticks(low, low * factor)
    assert 1 <= len(ticks) <= 13
    assert all(low <= tick <= low * factor for tick in ticks)
    assert all(later > earlier for earlier, later in pairwise(ticks))


def test_series_differ_in_more_than_colour() -> None:
    looks = [Look(place) for place in range(24)]
    assert len({(look.colour, look.marker) for look in looks}) == 24
    assert len({(look.colour, look.hatch) for look in looks}) == 24
    assert len(set(COLOURS)) == len(COLOURS)
    assert len({len(MARKERS), len(COLOURS), len(DASHES)}) == 3
    assert HATCHES[0] == ""
