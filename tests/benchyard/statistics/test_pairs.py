"""Two values of each run; what sessions vary by, and how much a difference must exceed."""

import math
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import pairs, stdev
from benchyard.statistics.comparison import Verdict, compare_pairs, compare_samples, judge
from benchyard.statistics.pairs import session_spreads, signed_rank_test, smallest_paired_p


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
    interval = pairs.middle_difference(differences, level).interval
    significant = signed_rank_test(differences).p_two_sided <= 1 - level + 1e-12
    if 0 not in differences:
        assert (interval.holds(0.0) is False) is significant


def test_the_estimate_is_the_median_of_all_means_of_two() -> None:
    assert pairs.middle_difference([1.0, 2.0, 6.0], 0.5).estimate == 2.75
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


# -- sessions


def test_without_history_a_single_comparison_needs_6_7_percent() -> None:
    """The figures of docs/explanation/statistics.md: of one row, of 20, of 100."""
    [spread] = session_spreads([])
    assert spread == pairs.SessionSpread(pairs.PRIOR_SD, pairs.PRIOR_FREEDOM)
    for rows, margin, off in ((1, 0.067, 0.0005), (20, 0.16, 0.005), (100, 0.25, 0.01)):
        assert math.expm1(spread.margin(0.01 / rows)) == pytest.approx(margin, abs=off)


def test_the_p_value_is_the_level_at_the_margin() -> None:
    spread = pairs.SessionSpread(0.013, 7)
    for sessions in (1, 5):
        margin = spread.margin(0.01, sessions)
        assert spread.p_value(margin, sessions) == pytest.approx(0.01)
        assert spread.p_value(-margin, sessions) == pytest.approx(0.01)
    assert spread.p_value(0) == 1
    assert spread.margin(0.01, 5) < spread.margin(0.01, 1)


def test_own_sessions_are_pooled_with_the_prior() -> None:
    levels = [0.0, 0.02, -0.02, 0.01]
    [spread] = session_spreads([levels])
    expected = (3 * stdev(levels) ** 2 + 4 * pairs.PRIOR_SD**2) / 7
    assert (spread.sd**2, spread.freedom) == (pytest.approx(expected), 7)


def test_groups_vary_about_their_own_levels() -> None:
    assert pairs.level_variance([[1.0, 1.2], [5.0, 5.2]]) == (pytest.approx(0.02), 2)
    assert pairs.level_variance([[1.0], [5.0]]) == (0.0, 0)
    assert pairs.level_variance([]) == (0.0, 0)


def test_other_series_add_freedom_and_never_make_a_series_look_quieter_than_the_prior() -> None:
    quiet = [(0.002**2, 4)] * 10
    [pooled] = session_spreads([], quiet)
    assert (pooled.sd, pooled.freedom) == (pytest.approx(pairs.PRIOR_SD), pairs.PRIOR_FREEDOM + 40)
    noisy = [(0.002**2, 4)] * 3 + [(0.03**2, 4)] * 7
    assert session_spreads([], noisy)[0].sd == pytest.approx(0.03, rel=0.1)


def test_a_series_with_enough_sessions_must_explain_a_difference_itself_too() -> None:
    own = [0.0, 0.04, -0.03, 0.05, -0.02]
    pooled, alone = session_spreads([own], [(0.01**2, 19)] * 10)
    assert alone == session_spreads([own])[0]
    assert alone.sd > 1.5 * pooled.sd
    assert len(own) == pairs.OWN_FROM
    assert len(session_spreads([own[:-1]], [(0.01**2, 19)] * 10)) == 1


def test_values_that_are_no_logarithms_need_five_own_sessions() -> None:
    assert session_spreads([[1.0, 2.0, 3.0, 4.0]], prior_sd=None) == ()
    [spread] = session_spreads([[1.0, 2.0, 3.0, 4.0, 5.0]], [(9.0, 9)], prior_sd=None)
    assert (spread.sd, spread.freedom) == (pytest.approx(math.sqrt(2.5)), 4)


def test_a_declared_spread_takes_the_place_of_the_prior() -> None:
    [spread] = session_spreads([], prior_sd=0.003)
    assert math.expm1(spread.margin(0.01)) == pytest.approx(0.0197, abs=0.0005)
    [none] = session_spreads([], prior_sd=0.0)
    assert (none.p_value(1e-9), none.p_value(0)) == (0.0, 1.0)


def test_a_change_of_what_is_measured_moves_the_level() -> None:
    """Twice as slow in another version is a change and no noise; in the same one it is noise."""
    levels = [0.0, 0.01, math.log(2), math.log(2) + 0.01]
    assert pairs.split_at_moves(levels, [False, True, False]) == [levels[:2], levels[2:]]
    assert pairs.split_at_moves(levels, [False, False, False]) == [levels]
    assert pairs.split_at_moves([], []) == []
    # Small steps are none, nor are large ones on a host whose sessions vary much.
    for levels in ([0.0, 0.01, 0.03], [0.0, 0.08, -0.07, 0.05, -0.06, 0.09]):
        assert pairs.split_at_moves(levels, [True] * (len(levels) - 1)) == [levels]
