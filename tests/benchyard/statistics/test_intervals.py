"""The median's interval against SciPy 1.17.1 and against its own promise."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.intervals import Interval, median_interval, median_rank


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
    ],
)
def test_ranks(n: int, level: float, rank: int, coverage: float) -> None:
    assert median_rank(n, level) == (rank, pytest.approx(coverage, abs=1e-6))


@pytest.mark.parametrize(("n", "reached"), [(0, 0.0), (1, 0.0), (2, 0.5), (5, 0.9375)])
def test_too_few_values_have_none_and_say_what_they_reach(n: int, reached: float) -> None:
    assert median_interval([1.0] * n) == Interval(None, None, 0.95, reached)
    assert median_interval([1.0] * n).holds(1.0) is None


def test_a_level_that_is_reached_exactly_is_reached() -> None:
    assert median_rank(5, 0.9375)[0] == 1
    assert median_rank(2, 0.5)[0] == 1


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
