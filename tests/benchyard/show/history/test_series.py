"""What one entry says through time."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.history.series import Series, ratio, seconds, short_seconds
from tests.benchyard.show.history.conftest import series


def test_the_last_is_held_against_the_median_of_those_before_it() -> None:
    found = series(1.0, 3.0, 2.0, 4.0)
    assert (found.last, found.median, found.median_before, found.change) == (4.0, 2.5, 2.0, 2.0)


def test_what_is_no_number_counts_in_no_figure() -> None:
    found = series(math.nan, 1.0, math.inf, 2.0)
    assert found.finite == (1.0, 2.0)
    assert (found.median, found.median_before, found.change) == (1.5, 1.0, 2.0)
    last = series(1.0, math.nan)
    assert last.last is not None
    assert math.isnan(last.last)
    assert (last.median, last.change) == (1.0, None)


def test_little_says_nothing() -> None:
    empty = Series("words", "load", ())
    assert (empty.last, empty.median, empty.median_before, empty.change) == (None,) * 4
    assert series(1.0).change is None
    assert series(math.nan, math.nan).median is None


@pytest.mark.parametrize(
    ("value", "usual", "expected"),
    [
        (2.0, 1.0, 2.0),
        (0.0, 1.0, None),
        (1.0, 0.0, None),
        (-1.0, -1.0, None),
        (1e308, 1e-308, None),
        (None, 1.0, None),
        (math.nan, 1.0, None),
        (math.inf, 1.0, None),
    ],
)
def test_a_ratio_is_of_two_lengths(
    value: float | None, usual: float | None, expected: float | None
) -> None:
    assert ratio(value, usual) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (math.nan, "NaN"),
        (math.inf, "∞ s"),
        (-math.inf, "-∞ s"),
        (0.0, "0 s"),
        (3.4172500000000005e-05, "34.2 µs"),
        (5e-7, "500 ns"),
        (1.25e-9, "1.25 ns"),
        (9.9949e-7, "999 ns"),
        (9.996e-7, "1.00 µs"),
        (9.9949e-4, "999 µs"),
        (0.0125, "12.5 ms"),
        (1.5, "1.50 s"),
        (-1.5, "-1.50 s"),
        (150.0, "2 min 30 s"),
        (1e12, "1e+12 s"),
    ],
)
def test_times_have_a_unit_that_suits_them(value: float | None, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.12, "120 ms"), (1.05, "1.05 s"), (-3e-5, "-30 µs")]
)
def test_axes_have_short_ones(value: float, text: str) -> None:
    assert short_seconds(value) == text


@given(st.lists(st.floats(), max_size=9))
def test_any_times_have_figures(times: list[float]) -> None:
    found = series(*times)
    assert found.change is None or found.change >= 0  # it may be too small for a float
    for value in (found.last, found.median, found.median_before):
        assert len(seconds(value)) < 30
        if value is not None and math.isfinite(value):
            assert len(short_seconds(value)) < 500
