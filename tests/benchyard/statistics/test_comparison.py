"""Comparing two samples, and what may be said of many comparisons."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.comparison import (
    Difference,
    Verdict,
    compare_samples,
    judge,
)

BASE = [10.0, 10.1, 9.9, 10.05, 9.95, 10.02, 9.98, 10.07, 9.93, 10.01]
some = st.lists(st.floats(-1e6, 1e6), max_size=12)


def times(factor: float, values: list[float] = BASE) -> list[float]:
    return [value * factor for value in values]


def verdicts(*differences: Difference) -> list[Verdict]:
    return [one.verdict for one in judge(differences)]


@pytest.mark.parametrize(
    ("factor", "smaller_is_better", "expected"),
    [
        (1.05, True, Verdict.REGRESSION),
        (0.95, True, Verdict.IMPROVEMENT),
        (1.05, False, Verdict.IMPROVEMENT),
        (0.95, False, Verdict.REGRESSION),
        (1.05, None, Verdict.CHANGE),
        (1.0, True, Verdict.NO_CHANGE_SHOWN),
    ],
)
def test_verdicts_follow_the_direction(
    factor: float, smaller_is_better: bool | None, expected: Verdict
) -> None:
    one = compare_samples(BASE, times(factor), smaller_is_better=smaller_is_better)
    assert verdicts(one) == [expected]


def test_figures_of_a_difference() -> None:
    one = compare_samples(BASE, times(1.05))
    assert (one.baseline_n, one.candidate_n) == (10, 10)
    assert one.baseline_median == pytest.approx(10.005)
    assert one.candidate_median == pytest.approx(10.50525)
    assert one.ratio == pytest.approx(1.05, abs=1e-3)
    assert one.change == pytest.approx(0.05, abs=1e-3)
    assert one.shift == pytest.approx(0.5, abs=0.01)
    assert one.ratio_interval.holds(1.05) is True
    assert one.ratio_interval.holds(1.0) is False
    assert one.ratio_interval.coverage >= 0.99
    assert one.p_value == one.reachable_p == 2 / 184756
    assert one.exact


def test_a_trifle_is_not_called_however_significant() -> None:
    one = compare_samples(BASE, times(1.015, BASE), threshold=0.02)
    assert one.p_value <= one.level
    assert verdicts(one) == [Verdict.NO_CHANGE_SHOWN]
    assert verdicts(compare_samples(BASE, times(1.015))) == [Verdict.REGRESSION]


def test_samples_that_cannot_reach_the_level_cannot_tell() -> None:
    assert verdicts(compare_samples(BASE[:4], times(2, BASE[:4]))) == [Verdict.CANNOT_TELL]
    assert verdicts(compare_samples(BASE[:5], times(2, BASE[:5]))) == [Verdict.REGRESSION]


def test_many_comparisons_ask_for_more() -> None:
    five = compare_samples(BASE[:5], times(2, BASE[:5]))
    ten = compare_samples(BASE, times(2))
    same = compare_samples(BASE, BASE)
    assert verdicts(five, ten) == [Verdict.REGRESSION, Verdict.REGRESSION]
    assert verdicts(five, ten, same) == [
        Verdict.CANNOT_TELL,
        Verdict.REGRESSION,
        Verdict.NO_CHANGE_SHOWN,
    ]
    judged = judge([five, ten, same])
    assert judged[0].needed_p == pytest.approx(0.01 / 2)
    assert judged[0].p_value == pytest.approx(2 * 2 / 252)


def test_the_familys_level_may_be_given() -> None:
    five = compare_samples(BASE[:5], times(2, BASE[:5]))
    assert [one.verdict for one in judge([five], level=0.001)] == [Verdict.CANNOT_TELL]
    assert judge([]) == ()


def test_without_values_nothing_can_be_told() -> None:
    for one in (compare_samples([], BASE), compare_samples(BASE, []), compare_samples([], [])):
        assert (one.shift, one.ratio, one.p_value, one.reachable_p) == (None, None, 1.0, 1.0)
        assert verdicts(one) == [Verdict.CANNOT_TELL]


def test_a_baseline_of_zero_has_no_ratio_and_any_change_matters() -> None:
    one = compare_samples([0.0] * 10, [5.0] * 10)
    assert (one.ratio, one.change, one.shift) == (None, None, 5.0)
    assert verdicts(one) == [Verdict.REGRESSION]
    assert verdicts(compare_samples([0.0] * 10, [0.0] * 10)) == [Verdict.NO_CHANGE_SHOWN]


def test_where_values_are_not_above_zero_the_shift_is_held_against_the_median() -> None:
    one = compare_samples([-2.0, 1.0, 4.0], [0.0, 3.0, 6.0])
    assert one.ratio == 3.0
    below = compare_samples([-10.0 - at for at in range(8)], [-30.0 - at for at in range(8)])
    assert below.change == pytest.approx(-20 / 13.5)
    assert below.ratio_interval.holds(1.0) is False


@given(some, some)
def test_no_finite_values_are_an_error(baseline: list[float], candidate: list[float]) -> None:
    one = compare_samples(baseline, candidate)
    assert 0 <= one.p_value <= 1
    assert one.p_value >= one.reachable_p * (1 - 1e-12)
    assert len(judge([one])) == 1


@given(st.lists(st.floats(1, 2), min_size=5, max_size=12), st.floats(1.2, 3))
def test_exchanging_the_sides_exchanges_the_verdicts(values: list[float], factor: float) -> None:
    slower = verdicts(compare_samples(values, times(factor, values)))
    faster = verdicts(compare_samples(times(factor, values), values))
    opposite = {Verdict.REGRESSION: Verdict.IMPROVEMENT}
    assert faster == [opposite.get(one, one) for one in slower]


@pytest.mark.slow
def test_alarms_without_a_difference_and_a_slowdown_that_is_there() -> None:
    random = Random(6)  # noqa: S311 - numbers, no secret

    def drawn(n: int, centre: float, spread: float) -> list[float]:
        return [random.gauss(centre, spread) for _ in range(n)]

    loud = [compare_samples(drawn(10, 1, 0.3), drawn(10, 1, 0.3)) for _ in range(2000)]
    alarms = sum(verdicts(one) != [Verdict.NO_CHANGE_SHOWN] for one in loud)
    # Four standard errors above the level of 1 %.
    assert alarms / 2000 <= 0.01 + 0.009
    slow = [compare_samples(drawn(30, 1, 0.01), drawn(30, 1.02, 0.01)) for _ in range(400)]
    assert sum(verdicts(one) == [Verdict.REGRESSION] for one in slow) / 400 >= 0.95
