"""Descriptions against the standard library's definitions."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import Description, describe, mean, median, stdev
from benchyard.statistics.intervals import Interval

numbers = st.floats(-1e100, 1e100)
samples = st.lists(numbers, min_size=2, max_size=30)


@given(samples)
def test_it_agrees_with_the_standard_library(values: list[float]) -> None:
    about = describe(values)
    assert (about.n, about.min, about.max) == (len(values), min(values), max(values))
    assert about.median == pytest.approx(statistics.median(values), rel=1e-9, abs=0)
    q1, _, q3 = statistics.quantiles(values, n=4, method="inclusive")
    expected = (statistics.fmean(values), statistics.stdev(values), q1, q3)
    near = pytest.approx(expected, rel=1e-9, abs=1e-9 * max(map(abs, values)))
    assert (about.mean, about.stdev, about.q1, about.q3) == near


@given(numbers)
def test_defect_24_one_value_has_no_spread_and_is_no_error(value: float) -> None:
    assert describe([value]) == Description(1, value, value, value, value)
    assert describe([]) == Description(0)


def test_defect_23_an_even_number_of_values_is_fine() -> None:
    about = describe([4.0, 1.0, 3.0, 2.0])
    assert (about.n, about.median, about.q1, about.q3) == (4, 2.5, 1.75, 3.25)
    assert (about.mad, about.iqr) == (1.0, 1.5)


def test_few_values_say_how_far_they_are_from_an_interval() -> None:
    assert describe([1.0, 2.0, 3.0, 4.0, 5.0]).median_interval == Interval(None, None, 0.95, 0.9375)
    assert describe([1.0, 2.0]).mean_interval == Interval(None, None, 0.95, 0.0)
    assert describe([1.0, 2.0]).smallest_change is None


def test_everything_is_there_from_six_values_on() -> None:
    about = describe([10.0, 10.1, 9.9, 10.05, 9.95, 30.0])
    assert (about.median_interval.low, about.median_interval.high) == (9.9, 30.0)
    assert about.mean_interval.low is not None
    assert about.outliers == (5,)
    assert about.max == 30.0
    # The wild value is not taken for the spread of the others.
    assert 0 < (about.smallest_change or 0) < 0.1
    assert about.coefficient_of_variation == pytest.approx(8.165271 / 13.333333)


@pytest.mark.parametrize("least", [-90.0, -1.0, 0.0])
def test_only_values_above_zero_have_a_coefficient_of_variation(least: float) -> None:
    assert describe([least, 20.0, 30.0]).coefficient_of_variation is None
    assert describe([least - 100, -20.0, -30.0]).coefficient_of_variation is None
    zero = describe([-1.0, 0.0, 1.0])
    assert (zero.coefficient_of_variation, zero.smallest_change) == (None, None)


@given(st.lists(numbers, max_size=12))
def test_any_values_of_records_are_described_by_finite_figures(values: list[float]) -> None:
    about = describe(values)
    figures = [about.median, about.mean, about.stdev, about.iqr, about.mad, about.mean_interval.low]
    assert all(figure is None or math.isfinite(figure) for figure in figures)


def test_huge_and_tiny_values_keep_their_spread() -> None:
    for unit in (1e99, 1e-300):
        about = describe([1 * unit, 2 * unit, 3 * unit])
        assert (about.stdev, about.mean) == pytest.approx((unit, 2 * unit), rel=1e-9, abs=0)
    assert describe([0.0] * 6 + [5e-324]).mean_interval.low == 0
    assert stdev([1e200, 3e200]) == pytest.approx(math.sqrt(2) * 1e200)
    assert mean([1.7e308, 1.7e308, 1.6e308]) == pytest.approx(1.6666666e308)
    assert median([1.7e308, 1.5e308]) == pytest.approx(1.6e308)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        describe([1.0, bad])
