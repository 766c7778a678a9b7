"""Ranks against SciPy 1.17.1, against all ways of dealing, and against each other."""

# pyright: reportPrivateUsage=false

import math
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import median, ranks
from benchyard.statistics.ranks import difference_of, rank_test, ratio_of, smallest_p

few = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=6)
unequal = st.lists(st.floats(0.1, 10), min_size=2, max_size=16, unique=True)


@pytest.mark.parametrize(
    ("baseline", "candidate", "less", "greater"),
    [
        # By stats.mannwhitneyu of candidate and baseline, exact.
        ([9.744, 10.511, 9.774], [10.485, 9.87, 10.587, 11.912], 33 / 35, 4 / 35),
        (
            [8.256, 9.11, 9.532, 10.305, 9.954, 10.521, 9.358, 10.309],
            [11.194, 10.139, 12.518, 11.357, 11.997, 10.18],
            *(2984 / 3003, 30 / 3003),
        ),
        # By stats.permutation_test of its statistic, all permutations: the samples have ties.
        ([1.0, 2, 2, 3, 3, 3], [2.0, 3, 4, 4, 5], 448 / 462, 26 / 462),
        ([0.0, 0, 0, 0, 1], [0.0, 1, 1, 1, 1], 251 / 252, 26 / 252),
        ([1.0] * 10, [1.0] * 10, 1.0, 1.0),
    ],
)
def test_exact_tests_agree_with_scipy(
    baseline: list[float], candidate: list[float], less: float, greater: float
) -> None:
    test = rank_test(baseline, candidate)
    assert test.exact
    found = (test.p_less, test.p_greater, test.p_two_sided)
    assert found == pytest.approx((less, greater, min(1, 2 * greater)), rel=1e-12)


def test_large_samples_with_ties_agree_with_scipy() -> None:
    # By stats.mannwhitneyu of candidate and baseline, asymptotic.
    baseline = [float(at * 7 % 40) for at in range(60)]
    candidate = [float(at * 11 % 43) + 1 for at in range(55)]
    test = rank_test(baseline, candidate)
    assert (test.exact, test.u) == (False, 1806)
    found = (test.p_less, test.p_greater, test.p_two_sided)
    assert found == pytest.approx((0.809618934361382, 0.19190647738403133, 0.38381295476806265))
    assert rank_test([1.0] * 60, [1.0] * 60).p_two_sided == 1.0


@given(few, few)
def test_ties_are_dealt_in_all_ways(baseline: list[float], candidate: list[float]) -> None:
    together = [*baseline, *candidate]
    observed = _pairs_won(baseline, candidate)
    dealt: list[float] = []
    for taken in combinations(range(len(together)), len(candidate)):
        mine = [together[at] for at in taken]
        others = [value for at, value in enumerate(together) if at not in taken]
        dealt.append(_pairs_won(others, mine))
    test = rank_test(baseline, candidate)
    assert test.u == observed
    assert test.p_less == pytest.approx(sum(u <= observed for u in dealt) / len(dealt))
    assert test.p_greater == pytest.approx(sum(u >= observed for u in dealt) / len(dealt))


def _pairs_won(baseline: list[float], candidate: list[float]) -> float:
    return sum((c > b) + (c == b) / 2 for c in candidate for b in baseline)


@pytest.mark.parametrize(
    ("n", "m", "expected"), [(1, 1, 1.0), (4, 4, 2 / 70), (5, 5, 2 / 252), (3, 9, 2 / 220)]
)
def test_what_sizes_can_reach(n: int, m: int, expected: float) -> None:
    apart = rank_test([float(at) for at in range(n)], [100.0 + at for at in range(m)])
    assert smallest_p(n, m) == expected
    assert apart.p_two_sided == pytest.approx(expected)


def test_fewest_values() -> None:
    assert [ranks.fewest_values(level) for level in (0.05, 0.01, 0.001, 1.0)] == [4, 5, 7, 1]
    assert [ranks.fewest_against(n, 0.01) for n in (4, 10, 1, 0)] == [6, 3, None, None]


@pytest.mark.parametrize(("n", "m"), [(50, 51), (30, 90), (9, 300)])
@pytest.mark.parametrize("p", [0.04, 0.01, 0.001, 0.0001])
def test_beyond_the_limit_the_approximation_is_on_the_safe_side(
    n: int, m: int, p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "EXACT_PAIRS", 10_000)
    rank, coverage = ranks.pair_rank.__wrapped__(n, m, 1 - p)
    less, _ = ranks._approximate_tails(rank - 1, n, m, [1])
    assert 2 * less >= 1 - coverage
    if p >= 0.01 and n > 30:
        assert 2 * less <= 1.05 * (1 - coverage)


def test_the_shift_is_the_median_of_all_differences() -> None:
    shift = difference_of([1.0, 2.0, 4.0], [3.0, 9.0], 0.5)
    assert shift.estimate == median([2, 1, -1, 8, 7, 5])
    assert shift.interval.level == 0.5


def test_the_intervals_ends_are_where_the_test_stops_being_significant() -> None:
    # Hollander and Wolfe, 1999, table 4.1: permeability of a membrane at term, and at 12 to 26
    # weeks. SciPy's exact p-value is 0.2544.
    term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    shift = difference_of(early, term, 0.9)
    assert shift.estimate == pytest.approx(0.305)
    assert rank_test(early, term).p_two_sided == pytest.approx(0.2544122544122544)
    for end, outwards in zip(shift.interval[:2], (-0.001, 0.001), strict=True):
        outside, inside = (
            rank_test([value + (end or 0) + by for value in early], term).p_two_sided
            for by in (outwards, -outwards)
        )
        assert outside <= 0.1 < inside


@given(unequal, unequal, st.sampled_from([0.9, 0.95, 0.99]))
def test_the_interval_leaves_out_zero_if_the_test_is_significant(
    baseline: list[float], candidate: list[float], level: float
) -> None:
    if set(baseline) & set(candidate):
        return
    interval = difference_of(baseline, candidate, level).interval
    p = rank_test(baseline, candidate).p_two_sided
    assert interval.holds(0.0) in (None, p > 1 - level + 1e-12)
    assert (interval.low is None) is (smallest_p(len(baseline), len(candidate)) > 1 - level + 1e-12)
    assert ratio_of(baseline, candidate, level).interval.holds(1.0) in (None, p > 1 - level + 1e-12)


def test_a_ratio_is_one_of_the_logarithms_taken_back() -> None:
    random = Random(4)  # noqa: S311 - numbers, no secret
    baseline = [random.lognormvariate(0, 0.1) for _ in range(9)]
    candidate = [random.lognormvariate(0.05, 0.1) for _ in range(9)]
    ratio = ratio_of(baseline, candidate, 0.95)
    logs = difference_of([*map(math.log, baseline)], [*map(math.log, candidate)], 0.95)
    assert ratio.estimate == pytest.approx(math.exp(logs.estimate or 0))
    assert ratio.interval.low == pytest.approx(math.exp(logs.interval.low or 0))
    assert ratio.interval.coverage == logs.interval.coverage


def test_intervals_of_large_samples_go_over_into_the_approximation() -> None:
    counted, near = ranks.pair_rank(50, 50, 0.99)[0], ranks.pair_rank(50, 51, 0.99)[0]
    assert 0 < near - counted < 40


def test_a_shift_is_covered_as_promised() -> None:
    random = Random(5)  # noqa: S311 - numbers, no secret
    held = 0
    for _ in range(1500):
        before = [random.expovariate(1) for _ in range(7)]
        after = [random.expovariate(1) + 0.7 for _ in range(6)]
        held += bool(difference_of(before, after, 0.9).interval.holds(0.7))
    # Four standard errors are 0.031.
    assert abs(held / 1500 - ranks.pair_rank(7, 6, 0.9)[1]) < 0.031


@given(
    st.lists(st.floats(0.1, 10), min_size=1, max_size=30),
    st.lists(st.floats(0.1, 10), min_size=1, max_size=30),
)
def test_searched_pairs_are_the_listed_ones(baseline: list[float], candidate: list[float]) -> None:
    for of in (difference_of, ratio_of):
        listed = of(baseline, candidate, 0.9)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(ranks, "LISTED_PAIRS", 0)
            searched = of(baseline, candidate, 0.9)
        assert searched.estimate == pytest.approx(listed.estimate, abs=1e-12)
        assert searched.interval.coverage == listed.interval.coverage
        for one, other in zip(searched.interval[:2], listed.interval[:2], strict=True):
            assert (one is None) == (other is None)
            assert one is None or one == pytest.approx(other, abs=1e-12)


def test_a_million_pairs_are_searched() -> None:
    baseline = [1 + at / 1000 for at in range(1000)]
    found = ratio_of(baseline, [1.5 * value for value in baseline], 0.99)
    assert found.estimate == pytest.approx(1.5)
    low, high = (end or 0 for end in found.interval[:2])
    assert 1.4 < low < 1.5 < high < 1.6
