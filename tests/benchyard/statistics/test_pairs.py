"""Two values of each run."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import pairs
from benchyard.statistics.comparison import Verdict, compare_pairs, compare_samples, judge
from benchyard.statistics.pairs import middle_difference, signed_rank_test, smallest_paired_p


def by_hand(differences: list[int]) -> float:
    """Give the sizes their signs in all ways; the ranks of ties are shared."""
    sizes = sorted(abs(one) for one in differences if one)
    ranks = [sizes.index(one) + (sizes.count(one) + 1) / 2 for one in sizes]
    seen = sum(ranks[sizes.index(abs(one))] for one in differences if one > 0)
    sums = [
        sum(rank for rank, plus in zip(ranks, signs, strict=True) if plus)
        for signs in product((False, True), repeat=len(ranks))
    ]
    tails = [sum(one <= seen for one in sums), sum(one >= seen for one in sums)]
    return min(1.0, 2 * min(tails) / len(sums))


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_the_test_counts_all_signs_with_ties_and_zeros(differences: list[int]) -> None:
    assert signed_rank_test(differences).p_two_sided == pytest.approx(by_hand(differences))


@given(st.lists(st.floats(-10, 10), min_size=6, max_size=14, unique_by=abs), st.floats(0.8, 0.999))
def test_the_interval_leaves_out_0_exactly_where_the_test_is_significant(
    differences: list[float], level: float
) -> None:
    interval = middle_difference(differences, level).interval
    significant = signed_rank_test(differences).p_two_sided <= 1 - level + 1e-12
    if 0 not in differences:
        assert (interval.holds(0.0) is False) is significant


def test_the_estimate_is_the_median_of_all_means_of_two() -> None:
    assert middle_difference([1.0, 2.0, 6.0], 0.5).estimate == 2.75
    assert pairs.middle_ratio([2.0, 8.0], 0.5).estimate == pytest.approx(4.0)


@pytest.mark.parametrize(("level", "needed"), [(0.05, 6), (0.01, 8), (1 / 128, 8), (1.0, 1)])
def test_how_many_pairs_can_reach_a_level(level: float, needed: int) -> None:
    assert pairs.fewest_pairs(level) == needed
    assert smallest_paired_p(needed) <= level
    assert needed == 1 or smallest_paired_p(needed - 1) > level


def test_beyond_the_limit_the_approximation_is_near_the_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dice = Random(7)  # noqa: S311 - draws samples
    values = [dice.gauss(0.3, 1) for _ in range(60)]
    counted, exact = signed_rank_test(values), pairs.EXACT
    monkeypatch.setattr("benchyard.statistics.pairs.EXACT", 10)
    near = signed_rank_test(values)
    assert (counted.exact, near.exact, exact) == (True, False, 100)
    assert near.p_two_sided == pytest.approx(counted.p_two_sided, rel=0.1)


def test_what_the_runs_share_does_not_hide_a_difference_inside_them() -> None:
    """The runs differ tenfold, each time the second step takes 5 % more."""
    before = [1.0 * 10**n for n in range(10)]
    after = [value * (1.05 + n / 1000) for n, value in enumerate(before)]
    paired, apart = compare_pairs(before, after), compare_samples(before, after)
    found = [one.verdict for one in judge([paired, apart], 0.05)]
    assert found == [Verdict.REGRESSION, Verdict.NO_CHANGE_SHOWN]
    assert paired.ratio == pytest.approx(1.0545, abs=1e-3)


def test_values_that_are_not_above_0_have_a_ratio_by_their_shift() -> None:
    one = compare_pairs([0.0, 2.0, 4.0], [1.0, 3.0, 5.0], level=0.3)
    assert (one.shift, one.ratio) == (1.0, 1.5)
