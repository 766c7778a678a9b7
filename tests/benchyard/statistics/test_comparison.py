"""Comparing two samples, and what may be said of many comparisons."""

from collections import Counter
from itertools import combinations
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import comparison
from benchyard.statistics.comparison import Verdict, compare_pairs, compare_samples, holm, judge

#: Verdicts that say that something differs.
CALLED = (Verdict.REGRESSION, Verdict.IMPROVEMENT, Verdict.CHANGE)
BASE = [10.0, 10.1, 9.9, 10.05, 9.95, 10.02, 9.98, 10.07, 9.93, 10.01]
some = st.lists(st.floats(-1e6, 1e6), max_size=12)
p_values = st.lists(st.floats(0, 1), max_size=20)


def times(factor: float, values: list[float] = BASE) -> list[float]:
    return [value * factor for value in values]


def verdicts(*differences: comparison.Difference) -> list[Verdict]:
    return [one.verdict for one in judge(differences)]


def test_verdicts_follow_the_direction() -> None:
    worse, better, change = Verdict.REGRESSION, Verdict.IMPROVEMENT, Verdict.CHANGE
    called = {True: [worse, better], False: [better, worse], None: [change, change]}
    for is_better, expected in called.items():
        both = [compare_samples(BASE, times(f), smaller_is_better=is_better) for f in (1.05, 0.95)]
        assert [verdict for one in both for verdict in verdicts(one)] == expected
    assert verdicts(compare_samples(BASE, BASE)) == [Verdict.NO_CHANGE_SHOWN]
    trifle = compare_samples(BASE, times(1.015), threshold=0.02)
    assert trifle.p_value <= trifle.level
    assert verdicts(trifle) == [Verdict.NO_CHANGE_SHOWN]
    assert verdicts(compare_samples(BASE, times(1.015))) == [Verdict.REGRESSION]


def test_figures_of_a_difference() -> None:
    one = compare_samples(BASE, times(1.05))
    assert (one.baseline_n, one.candidate_n) == (10, 10)
    medians = one.baseline_median, one.candidate_median
    assert medians == pytest.approx((10.005, 10.50525))
    assert (one.ratio, one.change) == pytest.approx((1.05, 0.05), abs=1e-3)
    assert one.shift == pytest.approx(0.5, abs=0.01)
    assert [one.ratio_interval.holds(ratio) for ratio in (1.05, 1.0)] == [True, False]
    assert one.ratio_interval.coverage >= 0.99
    assert one.p_value == one.reachable_p == 2 / 184756
    assert one.exact


def test_many_comparisons_ask_for_more_and_too_small_samples_cannot_tell() -> None:
    four, five = (compare_samples(BASE[:n], times(2, BASE[:n])) for n in (4, 5))
    ten, same = compare_samples(BASE, times(2)), compare_samples(BASE, BASE)
    regression, unknown = Verdict.REGRESSION, Verdict.CANNOT_TELL
    assert (verdicts(four), verdicts(five)) == ([unknown], [regression])
    assert verdicts(five, ten) == [regression, regression]
    assert verdicts(five, ten, same) == [unknown, regression, Verdict.NO_CHANGE_SHOWN]
    judged, *_ = judge([five, ten, same])
    assert (judged.needed_p, judged.p_value) == pytest.approx((0.01 / 2, 2 * 2 / 252))
    assert [one.verdict for one in judge([five], level=0.001)] == [unknown]
    assert judge([]) == ()


def test_without_values_nothing_can_be_told() -> None:
    for one in (compare_samples([], BASE), compare_samples(BASE, []), compare_samples([], [])):
        assert (one.shift, one.ratio, one.p_value, one.reachable_p) == (None, None, 1.0, 1.0)
        assert verdicts(one) == [Verdict.CANNOT_TELL]


@pytest.mark.parametrize(
    ("baseline", "candidate", "ratio", "change"),
    [
        ([0.0] * 10, [5.0] * 10, None, None),
        # The shift is held against the median.
        ([-2.0, 1.0, 4.0], [0.0, 3.0, 6.0], 3.0, 2.0),
        ([-2.0, -1.0, 0.5], [3.0, 4.0, 6.0], None, 5.0),
    ],
)
def test_values_that_are_not_above_zero(
    baseline: list[float], candidate: list[float], ratio: float | None, change: float | None
) -> None:
    one = compare_samples(baseline, candidate)
    assert (one.ratio, one.change) == (ratio, change)
    for factor, verdict in ((1, Verdict.NO_CHANGE_SHOWN), (5, Verdict.REGRESSION)):
        zero = compare_samples([0.0] * 10, [factor - 1.0] * 10)
        assert verdicts(zero) == [verdict]


def test_values_below_zero_have_the_ratio_of_their_sizes() -> None:
    runs = range(8)
    less = compare_samples([-0.5 - at / 1e3 for at in runs], [-5.5 - at / 1e3 for at in runs])
    assert less.ratio == pytest.approx(11, rel=0.01)
    assert less.ratio_interval.holds(1.0) is False
    assert less.change == pytest.approx(-10, rel=0.01)
    pairs = compare_pairs([-0.5 - at / 1e3 for at in runs], [-5.5 - at / 1e3 for at in runs])
    assert pairs.ratio == pytest.approx(11, rel=0.01)


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


# -- what is called, and how often without a reason
@given(
    st.lists(st.tuples(st.floats(0.9, 1.2), st.booleans() | st.none()), min_size=1, max_size=6),
    st.sampled_from([0.001, 0.01, 0.05, 0.2]),
    st.integers(4, 9),
)
def test_called_is_what_is_significant_after_holm_and_large_enough(
    cases: list[tuple[float, bool | None]], level: float, n: int
) -> None:
    family = [
        compare_samples(BASE[:n], times(factor, BASE[-n:]), smaller_is_better=better, level=level)
        for factor, better in cases
    ]
    adjusted = holm([one.p_value for one in family])
    for one, p, judged in zip(family, adjusted, judge(family), strict=True):
        assert judged.p_value == p
        called = p <= level and abs(one.change or 0) >= one.threshold
        assert called is (judged.verdict in CALLED)
        if called and one.smaller_is_better is not None:
            worse = ((one.shift or 0) > 0) is one.smaller_is_better
            assert judged.verdict is (Verdict.REGRESSION if worse else Verdict.IMPROVEMENT)


def dealt(n: int, level: float) -> list[tuple[comparison.Difference, float]]:
    """Return every comparison of equals that 2 n runs can come to, with its exact probability.

    If nothing differs, each way to deal the runs to both sides is as likely as any other. Deals of
    the same rank sum have the same p-value: one stands for them. The values are 10 % apart, so
    none is excused by being small.
    """
    chosen = {sum(pick): pick for pick in combinations(range(2 * n), n)}
    counts = Counter(map(sum, combinations(range(2 * n), n)))
    made: list[tuple[comparison.Difference, float]] = []
    for rank_sum, pick in chosen.items():
        rest = [at for at in range(2 * n) if at not in pick]
        one, other = ([1.1**at for at in places] for places in (pick, rest))
        difference = compare_samples(one, other, level=level)
        made.append((difference, counts[rank_sum] / comb(2 * n, n)))
    return made


def alarm(*differences: comparison.Difference) -> bool:
    return any(verdict in CALLED for verdict in verdicts(*differences))


@pytest.mark.parametrize(
    ("n", "level", "exact"), [(5, 0.01, 2 / 252), (6, 0.01, 8 / 924), (4, 0.05, 2 / 70)]
)
def test_alarms_between_equals_counted_out(n: int, level: float, exact: float) -> None:
    rate = sum(chance for one, chance in dealt(n, level) if alarm(one))
    assert rate == pytest.approx(exact)
    assert rate <= level
    regressions = sum(p for one, p in dealt(n, level) if verdicts(one) == [Verdict.REGRESSION])
    assert regressions == pytest.approx(exact / 2)


def test_alarms_of_two_comparisons_together_counted_out() -> None:
    every = dealt(6, 0.01)
    pairs = [(one, other, p * q) for one, p in every for other, q in every]
    together = sum(p for one, other, p in pairs if alarm(one, other))
    assert 0.0085 <= together <= 0.01
    # Each judged alone would call too much: this test would notice.
    assert sum(p for one, other, p in pairs if alarm(one) or alarm(other)) > 0.017
    # The same metric twice is the least that there can be.
    assert sum(p for one, p in every if alarm(one, one)) <= 0.01


@pytest.mark.slow
def test_a_slowdown_that_is_there_is_found() -> None:
    random = Random(6)  # noqa: S311 - numbers, no secret

    def drawn(centre: float) -> list[float]:
        return [random.gauss(centre, 0.01) for _ in range(30)]

    slow = [compare_samples(drawn(1), drawn(1.02)) for _ in range(400)]
    assert sum(verdicts(one) == [Verdict.REGRESSION] for one in slow) / 400 >= 0.95


@given(p_values)
def test_adjusted_values_are_larger_keep_the_order_and_stay_probabilities(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    assert [q for _, q in sorted(zip(ps, adjusted, strict=True))] == sorted(adjusted)


@given(p_values, st.floats(0, 1))
def test_a_p_as_small_as_needed_would_be_called(ps: list[float], level: float) -> None:
    adjusted = holm(ps)
    needed = comparison.needed_p(adjusted, level)
    for at, q in enumerate(adjusted):
        if q > level:
            assert holm([*ps[:at], needed * (1 - 1e-9), *ps[at + 1 :]])[at] <= level


def test_the_family_is_rarely_wrong_once_even_if_some_differ() -> None:
    # By p.adjust of R with the method holm.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    random = Random(1)  # noqa: S311 - numbers, no secret
    wrong = 0
    for _ in range(3000):
        ps = [random.random() for _ in range(8)] + [random.random() / 1e6 for _ in range(4)]
        wrong += min(holm(ps)[:8]) <= 0.05
    # Four standard errors are 0.016.
    assert wrong / 3000 <= 0.05 + 0.016
