"""What is far from the others is pointed at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.outliers import drawn_in, fences, outliers


def test_positions_are_those_of_the_values_as_given() -> None:
    assert outliers([10.0, 50.0, 10.1, 9.9, 10.2, 10.0, -40.0]) == (1, 6)


def test_the_fences_are_three_interquartile_ranges_out() -> None:
    assert fences([1.0, 2.0, 3.0, 4.0, 5.0]) == (-4.0, 10.0)
    assert outliers([1.0, 2.0, 3.0, 4.0, 12.0]) == (4,)


def test_too_few_values_have_no_outlier() -> None:
    assert outliers([1.0, 1.0, 1.0, 900.0]) == ()


def test_among_equals_one_that_differs_is_far() -> None:
    assert outliers([1.0] * 9 + [2.0]) == (9,)


def test_among_equals_many_that_differ_are_not() -> None:
    assert outliers([1.0] * 8 + [2.0] * 2 + [3.0]) == ()


@pytest.mark.parametrize("n", [0, 1, 7])
def test_equal_values_have_none(n: int) -> None:
    assert outliers([2.5] * n) == ()


def test_drawn_in_values_take_the_nearest_place_within() -> None:
    assert list(drawn_in([-50.0, 1.0, 2.0, 3.0, 4.0, 5.0, 90.0])) == [1.0, 1, 2, 3, 4, 5, 5]


@given(st.lists(st.floats(-1e6, 1e6), max_size=30))
def test_less_than_half_of_the_values_are_far(values: list[float]) -> None:
    assert 2 * len(outliers(values)) <= len(values)
