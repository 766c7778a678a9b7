"""What runs can show, against simulated tests; looks that are declared up front."""

from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import median, sensitivity
from benchyard.statistics.intervals import median_interval
from benchyard.statistics.ranks import rank_test
from benchyard.statistics.sensitivity import decide, expected_half_width, looks, relative_spread


def test_a_spread_is_relative_to_the_median() -> None:
    assert relative_spread([9.0, 10.0, 11.0]) == pytest.approx(0.1)
    assert relative_spread([-9.0, -10.0, -11.0]) == pytest.approx(0.1)
    # Without a spread or a centre there is none; a wild value is drawn in first.
    nothing: list[list[float]] = [[], [1.0], [-1.0, 0.0, 1.0]]
    assert [relative_spread(values) for values in nothing] == [None] * 3
    calm = [10.0, 10.1, 9.9, 10.05, 9.95, 10.0]
    assert relative_spread([*calm, 100.0]) == pytest.approx(relative_spread([*calm, 10.1]))


def test_sizes_that_cannot_reach_the_level_show_nothing() -> None:
    sizes = ((0, 5), (4, 4), (1, 50))
    assert [sensitivity.smallest_change(0.01, n, m, level=0.01) for n, m in sizes] == [None] * 3


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(8, 8), (10, 30), (30, 30)])
def test_the_smallest_change_is_shown_as_often_as_promised(n: int, m: int) -> None:
    random = Random(n + m)  # noqa: S311 - numbers, no secret
    change, shown = sensitivity.smallest_change(0.02, n, m) or 0, 0
    for _ in range(600):
        before = [random.gauss(1, 0.02) for _ in range(n)]
        after = [random.gauss(1 + change, 0.02) for _ in range(m)]
        shown += rank_test(before, after).p_two_sided <= 0.01
    # 95 % are promised; the formula may be off by 6 % of the change for 8 and 8 runs.
    assert 0.90 <= shown / 600 <= 0.99


def test_runs_for_a_change_are_the_fewest_that_show_it() -> None:
    for spread, change in ((0.01, 0.01), (0.02, 0.01), (0.05, 0.2)):
        n = sensitivity.runs_for_change(spread, change) or 0
        enough, fewer = (sensitivity.smallest_change(spread, size, size) for size in (n, n - 1))
        assert 0 < (enough or 0) <= change
        assert fewer is None or fewer > change


def test_a_quiet_series_needs_what_the_level_does_and_a_wild_one_cannot_be_planned() -> None:
    quiet = sensitivity.runs_for_change(0.0, 0.01), sensitivity.runs_for_precision(0.0, 0.01)
    assert quiet == (5, 6)
    assert sensitivity.runs_for_change(1.0, 0.0001) is None
    assert sensitivity.runs_for_precision(1.0, 0.0001) is None
    assert sensitivity.runs_for_change(1.0, 0.1) is not None
    assert (sensitivity.runs_for_precision(1.0, 0.05) or 0) < sensitivity.MOST_RUNS


def test_runs_for_a_precision_are_the_fewest() -> None:
    n = sensitivity.runs_for_precision(0.02, 0.01) or 0
    enough = [(expected_half_width(0.02, size) or 1) <= 0.01 for size in range(2, n + 1)]
    assert enough == [False] * (n - 2) + [True]


@pytest.mark.parametrize("n", [6, 12, 30])
def test_the_expected_half_width_is_that_of_simulated_intervals(n: int) -> None:
    random = Random(n)  # noqa: S311 - numbers, no secret
    widths: list[float] = []
    for _ in range(1500):
        interval = median_interval([random.gauss(1, 0.02) for _ in range(n)])
        widths.append(((interval.high or 0) - (interval.low or 0)) / 2)
    assert sum(widths) / 1500 == pytest.approx(expected_half_width(0.02, n), rel=0.04)
    assert median(widths) > 0
    assert expected_half_width(0.01, 5) is None


# -- looks


QUIET = [1.0, 1.001, 0.999, 1.0005, 0.9995, 1.0002, 0.9998, 1.0001]


def test_looks_that_tell_nothing_new_are_left_out() -> None:
    ranges = ((5, 30), (6, 6), (3, 5), (5, 10), (20, 30), (29, 30))
    declared = [looks(minimum, maximum) for minimum, maximum in ranges]
    assert declared == [(8, 12, 19, 30), (6,), (5,), (7, 10), (20, 30), (30,)]


@given(st.integers(1, 200), st.integers(0, 2000), st.sampled_from([0.9, 0.95, 0.99]))
def test_each_look_can_decide(minimum: int, more: int, level: float) -> None:
    declared = looks(minimum, minimum + more, level)
    assert list(declared) == sorted(set(declared))
    assert minimum <= declared[0] <= declared[-1] == minimum + more
    if len(declared) > 1:
        share = sensitivity.level_at(declared, level)
        assert median_interval([1.0] * declared[0], share).low == 1.0


@pytest.mark.parametrize(("minimum", "maximum"), [(0, 5), (6, 5)])
def test_a_range_that_is_none_is_refused(minimum: int, maximum: int) -> None:
    with pytest.raises(ValueError, match="looks go from 1"):
        looks(minimum, maximum)


def test_it_stops_where_it_is_precise() -> None:
    decision = decide(QUIET, (8, 12, 19, 30), 8, 0.01)
    assert (decision.stop, decision.precise) == (True, True)
    assert decision.half_width == pytest.approx(0.001, rel=0.1)
    assert decision.level_used == pytest.approx(0.9875)
    assert (decision.interval.low, decision.interval.high) == (0.999, 1.001)
    assert "after 8 runs the median is known to ±0.1 %, within the wanted ±1 %" in decision.why


@pytest.mark.parametrize(
    ("values", "declared", "until", "stop", "why"),
    [
        (QUIET, (8, 12, 19, 30), 0.0001, False, "more runs are needed"),
        ([1.0, 2.0] * 4, (8,), 0.01, True, "the most runs that were allowed"),
        # Runs that yielded no value only make it less sure.
        (QUIET[:6], (8, 12), 0.01, False, "no interval yet"),
    ],
)
def test_it_goes_on_where_it_is_not_but_for_the_last_look(
    values: list[float], declared: tuple[int, ...], until: float, *, stop: bool, why: str
) -> None:
    decision = decide(values, declared, 8, until)
    assert (decision.stop, decision.precise) == (stop, False)
    assert (decision.half_width is None) == (len(values) < 8)
    assert why in decision.why


def test_a_look_that_was_not_declared_is_refused() -> None:
    with pytest.raises(ValueError, match="no look was declared after 9 runs"):
        decide(QUIET, (8, 12), 9, 0.01)


def test_a_median_of_zero_is_precise_only_without_a_width() -> None:
    assert decide([0.0] * 8, (8, 12), 8, 0.01).half_width == 0.0
    assert decide([-1.0, 0, 0, 0, 0, 0, 0, 1.0], (8, 12), 8, 0.01).half_width is None


@pytest.mark.slow
@pytest.mark.parametrize("until", [0.1, 0.2, 0.3])
def test_the_coverage_holds_at_whichever_look_it_stops(until: float) -> None:
    random = Random(9)  # noqa: S311 - numbers, no secret
    declared, held = looks(5, 30), 0
    for _ in range(2500):
        values = [random.lognormvariate(0, 0.3) for _ in range(30)]
        for at in declared:
            decision = decide(values[:at], declared, at, until)
            if decision.stop:
                held += bool(decision.interval.holds(1.0))
                break
    # Four standard errors below the promised 95 %.
    assert held / 2500 >= 0.95 - 0.017


def test_looks_without_an_end_grow_and_keep_the_level_together() -> None:
    assert list(islice(sensitivity.open_looks(6), 6)) == [6, 8, 12, 16, 23, 32]
    assert list(islice(sensitivity.open_looks(1), 4)) == [1, 2, 3, 4]
    missed = [1 - sensitivity.open_level(look, 0.95) for look in range(1, 10_000)]
    assert missed[0] == pytest.approx(0.025)
    assert 0.0499 < sum(missed) < 0.05
