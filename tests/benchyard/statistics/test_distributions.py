"""Distributions against SciPy 1.17.1: stats.norm.cdf, stats.t.sf, stats.t.isf and stats.binom."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import measures
from benchyard.statistics.measures import student_quantile, student_tail


@pytest.mark.parametrize(
    ("z", "expected"),
    [
        (-8, 6.22096057427174e-16),
        (-3, 0.0013498980316300933),
        (-0.5, 0.3085375387259869),
        (0, 0.5),
        (1.2, 0.8849303297782918),
    ],
)
def test_normal(z: float, expected: float) -> None:
    assert measures.normal_cdf(z) == pytest.approx(expected, rel=1e-12)
    assert measures.normal_quantile(expected) == pytest.approx(z, abs=1e-9)


@pytest.mark.parametrize(
    ("t", "freedom", "expected"),
    [
        (0.5, 1, 0.35241638234956674),
        (0.5, 2, 0.33333333333333337),
        (1, 3, 0.19550110947788524),
        (1, 30, 0.1626543077130151),
        (2.5, 4, 0.03338327240599407),
        (6, 3, 0.004636357446142333),
        (6, 9, 0.00010124966103382039),
        (6, 30, 6.971384383602382e-07),
        (-1.5, 1, 0.8128329581890011),
        (-1.5, 9, 0.9160746719714625),
    ],
)
def test_student(t: float, freedom: int, expected: float) -> None:
    assert student_tail(t, freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("tail", "freedom", "expected"),
    [
        (0.025, 1, 12.706204736174705),
        (0.025, 4, 2.7764451051977943),
        (0.005, 9, 3.2498355415921263),
        (0.005, 30, 2.749995653567226),
    ],
)
def test_quantiles_of_student(tail: float, freedom: int, expected: float) -> None:
    assert student_quantile(tail, freedom) == pytest.approx(expected, rel=1e-12)


@given(st.floats(0.001, 0.4))
def test_the_series_for_many_degrees_of_freedom_agrees(tail: float) -> None:
    assert student_tail(student_quantile(tail, 301), 301) == pytest.approx(tail, rel=1e-5)


@given(st.floats(0, 0.5), st.integers(1, 200))
def test_a_coin_stays_below_a_probability_and_its_next_side_does_not(
    probability: float, tosses: int
) -> None:
    heads, fewer = measures.coin_quantile(probability, tosses)
    assert fewer == sum(math.comb(tosses, count) for count in range(heads)) / 2**tosses
    assert fewer <= probability < fewer + math.comb(tosses, heads) / 2**tosses
