"""Intervals of the median and of the mean."""

import math
from collections.abc import Iterable
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import intervals
from benchyard.statistics.intervals import (
    expanded_tail,
    mean_interval,
    median_interval,
    median_rank,
)


@pytest.mark.parametrize(
    ("n", "level", "rank", "coverage"),
    [
        # 1 - 2 * stats.binom.cdf(rank - 1, n, 0.5), and below the level for one rank more.
        (6, 0.95, 1, 0.96875),
        (9, 0.95, 2, 0.9609375),
        (12, 0.95, 3, 0.96142578125),
        (20, 0.95, 6, 0.958610534668),
        (30, 0.95, 10, 0.957226054743),
        (8, 0.99, 1, 0.9921875),
        (30, 0.99, 8, 0.994777),
        # A level that is reached exactly is reached.
        (5, 0.9375, 1, 0.9375),
        (2, 0.5, 1, 0.5),
    ],
)
def test_ranks(n: int, level: float, rank: int, coverage: float) -> None:
    assert median_rank(n, level) == (rank, pytest.approx(coverage, abs=1e-6))


def test_too_few_values_have_none_and_say_what_they_reach() -> None:
    for n, reached in ((0, 0.0), (1, 0.0), (2, 0.5), (5, 0.9375)):
        assert median_interval([1.0] * n) == intervals.Interval(None, None, 0.95, reached)
    assert median_interval([1.0]).holds(1.0) is None


def test_the_fewest_values_that_have_one() -> None:
    for level, fewest in ((0.5, 2), (0.95, 6), (0.99, 8), (0.999, 11)):
        assert intervals.fewest_for_median(level) == fewest
        assert 2 * 0.5**fewest <= 1 - level < 2 * 0.5 ** (fewest - 1)


@given(st.integers(1, 300), st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.9999]))
def test_the_coverage_is_at_least_the_level(n: int, level: float) -> None:
    rank, coverage = median_rank(n, level)
    assert 0 <= rank <= (n + 1) // 2
    assert (coverage >= level - 1e-9) is bool(rank)


def test_many_values_go_over_into_the_normal_approximation() -> None:
    counted, approximate = median_rank(10_000, 0.95)[0], median_rank(10_001, 0.95)[0]
    assert abs(approximate - counted) <= 1


def test_it_covers_what_it_promises() -> None:
    random = Random(1)  # noqa: S311 - simulated, not secret
    samples = [[random.expovariate(1) for _ in range(9)] for _ in range(4000)]
    held = sum(bool(median_interval(one).holds(0.6931471805599453)) for one in samples)
    # 0.961 is promised; four standard errors are 0.012.
    assert abs(held / 4000 - 0.9609) < 0.013


SKEWED = [1.0, 1.1, 1.15, 1.3, 1.7, 3.9]


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_few_values_are_counted_out(n: int, level: float) -> None:
    values = SKEWED[:n]
    resamples: Iterable[tuple[float, ...]] = product(values, repeat=n)
    means = sorted(math.fsum(resample) / n for resample in resamples)
    beyond = math.ceil(expanded_tail(n, level)[1] * float(n) ** n)
    assert mean_interval(values, level)[:2] == pytest.approx((means[beyond - 1], means[-beyond]))


@pytest.mark.parametrize("n", [7, 12, 30])
def test_more_values_agree_with_resamples_that_are_drawn(n: int) -> None:
    random = Random(n)  # noqa: S311 - simulated, not secret
    values = [random.lognormvariate(0, 0.5) for _ in range(n)]
    means = sorted(math.fsum(random.choices(values, k=n)) / n for _ in range(20_000))
    beyond = round(expanded_tail(n, 0.95)[1] * 20_000)
    low, high = means[beyond], means[-beyond - 1]
    assert mean_interval(values)[:2] == pytest.approx((low, high), abs=0.03 * (high - low))


def test_a_tail_is_the_normal_one_beyond_students_t() -> None:
    # t of 4 degrees of freedom at 2.5 % is 2.7764; SciPy: norm.sf(2.7764451 * sqrt(5 / 4)).
    assert expanded_tail(5, 0.95) == (pytest.approx(3.104160), pytest.approx(0.00095407, rel=1e-4))


def test_below_five_values_there_is_none() -> None:
    few = [mean_interval([1.0, 2.0, 4.0, 3.0][:n]) for n in range(5)]
    assert few == [intervals.Interval(None, None, 0.95, 0.0)] * 5


def test_ends_are_values_where_one_alone_fills_the_tail_or_all_are_equal() -> None:
    assert mean_interval([1.0] * 29 + [2.0]).low == 1.0
    assert mean_interval([2.0] * 29 + [1.0]).high == 2.0
    assert mean_interval([3.0] * 8)[:2] == (3.0, 3.0)
