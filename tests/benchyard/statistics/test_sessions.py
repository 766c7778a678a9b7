"""What sessions vary by, and how much a difference between two must exceed."""

import math

import pytest

from benchyard.statistics import pairs, stdev
from benchyard.statistics.pairs import PRIOR_SD, SessionSpread, session_spreads, split_at_moves


def test_without_history_a_single_comparison_needs_6_7_percent() -> None:
    """The figures that docs/statistics.md has: of one row, of a row of 20, of one of 100."""
    [spread] = session_spreads([])
    assert spread == SessionSpread(PRIOR_SD, pairs.PRIOR_FREEDOM)
    for rows, margin, off in ((1, 0.067, 0.0005), (20, 0.16, 0.005), (100, 0.25, 0.01)):
        assert math.expm1(spread.margin(0.01 / rows)) == pytest.approx(margin, abs=off)


def test_the_p_value_is_the_level_at_the_margin() -> None:
    spread = SessionSpread(0.013, 7)
    for sessions in (1, 5):
        margin = spread.margin(0.01, sessions)
        assert spread.p_value(margin, sessions) == pytest.approx(0.01)
        assert spread.p_value(-margin, sessions) == pytest.approx(0.01)
    assert spread.p_value(0) == 1
    assert spread.margin(0.01, 5) < spread.margin(0.01, 1)


def test_own_sessions_are_pooled_with_the_prior() -> None:
    levels = [0.0, 0.02, -0.02, 0.01]
    [spread] = session_spreads([levels])
    expected = (3 * stdev(levels) ** 2 + 4 * PRIOR_SD**2) / 7
    assert (spread.sd**2, spread.freedom) == (pytest.approx(expected), 7)


def test_groups_vary_about_their_own_levels() -> None:
    assert pairs.level_variance([[1.0, 1.2], [5.0, 5.2]]) == (pytest.approx(0.02), 2)
    assert pairs.level_variance([[1.0], [5.0]]) == (0.0, 0)
    assert pairs.level_variance([]) == (0.0, 0)


def test_other_series_add_freedom_and_never_make_a_series_look_quieter_than_the_prior() -> None:
    quiet = [(0.002**2, 4)] * 10
    [pooled] = session_spreads([], quiet)
    assert (pooled.sd, pooled.freedom) == (pytest.approx(PRIOR_SD), pairs.PRIOR_FREEDOM + 40)
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
    assert split_at_moves(levels, [False, True, False]) == [levels[:2], levels[2:]]
    assert split_at_moves(levels, [False, False, False]) == [levels]
    assert split_at_moves([], []) == []
    # Small steps are none, nor are large ones on a host whose sessions vary much.
    for levels in ([0.0, 0.01, 0.03], [0.0, 0.08, -0.07, 0.05, -0.06, 0.09]):
        assert split_at_moves(levels, [True] * (len(levels) - 1)) == [levels]
