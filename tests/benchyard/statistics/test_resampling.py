"""The bootstrap interval against resamples that are enumerated or drawn."""

import math
from collections.abc import Iterable
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.resampling import expanded_tail, mean_interval

SKEWED = [1.0, 1.1, 1.15, 1.3, 1.7, 3.9]


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_few_values_are_counted_out(n: int, level: float) -> None:
    values = SKEWED[:n]
    resamples: Iterable[tuple[float, ...]] = product(values, repeat=n)
    means = sorted(math.fsum(resample) / n for resample in resamples)
    beyond = math.ceil(expanded_tail(n, level)[1] * float(n) ** n)
    interval = mean_interval(values, level)
    assert interval.low == pytest.approx(means[beyond - 1])
    assert interval.high == pytest.approx(means[-beyond])


@pytest.mark.parametrize("n", [7, 12, 30])
def test_more_values_agree_with_resamples_that_are_drawn(n: int) -> None:
    random = Random(n)  # noqa: S311 - simulated, not secret
    values = [random.lognormvariate(0, 0.5) for _ in range(n)]
    means = sorted(math.fsum(random.choices(values, k=n)) / n for _ in range(20_000))
    beyond = round(expanded_tail(n, 0.95)[1] * 20_000)
    low, high = means[beyond], means[-beyond - 1]
    interval = mean_interval(values)
    assert interval.low == pytest.approx(low, abs=0.03 * (high - low))
    assert interval.high == pytest.approx(high, abs=0.03 * (high - low))


def test_a_tail_is_the_normal_one_beyond_students_t() -> None:
    # t of 4 degrees of freedom at 2.5 % is 2.7764; SciPy: norm.sf(2.7764451 * sqrt(5 / 4)).
    assert expanded_tail(5, 0.95) == (pytest.approx(3.104160), pytest.approx(0.00095407, rel=1e-4))


@pytest.mark.parametrize("n", range(5))
def test_below_five_values_there_is_none(n: int) -> None:
    interval = mean_interval([1.0, 2.0, 4.0, 3.0][:n])
    assert (interval.low, interval.high, interval.coverage) == (None, None, 0.0)


def test_equal_values_have_an_interval_without_width() -> None:
    interval = mean_interval([3.0] * 8)
    assert (interval.low, interval.high) == (3.0, 3.0)


def test_a_value_that_alone_fills_the_tail_is_the_end() -> None:
    assert mean_interval([1.0] * 29 + [2.0]).low == 1.0
    assert mean_interval([2.0] * 29 + [1.0]).high == 2.0


@given(st.lists(st.floats(-1e9, 1e9), min_size=5, max_size=40))
def test_it_lies_within_the_sample_around_the_mean(values: list[float]) -> None:
    interval = mean_interval(values)
    assert interval.low is not None
    assert interval.high is not None
    slack = 1e-9 * max(map(abs, values))
    centre = math.fsum(values) / len(values)
    assert min(values) - slack <= interval.low <= centre + slack
    assert centre - slack <= interval.high <= max(values) + slack


@given(st.lists(st.floats(0.5, 2), min_size=7, max_size=20))
def test_it_follows_the_unit(values: list[float]) -> None:
    one, other = mean_interval(values), mean_interval([4 * value for value in values])
    assert one.low is not None
    assert other.low == pytest.approx(4 * one.low, rel=1e-6)


def test_the_same_values_give_the_same_interval_to_the_last_digit() -> None:
    assert mean_interval(SKEWED) == mean_interval(SKEWED[::-1])
