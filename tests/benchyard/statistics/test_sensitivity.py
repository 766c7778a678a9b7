"""What runs can show, against simulated tests."""

from random import Random

import pytest

from benchyard.statistics import median, sensitivity
from benchyard.statistics.intervals import median_interval
from benchyard.statistics.ranks import rank_test
from benchyard.statistics.sensitivity import expected_half_width, relative_spread, runs_for_change


def test_a_spread_is_relative_to_the_median() -> None:
    assert relative_spread([9.0, 10.0, 11.0]) == pytest.approx(0.1)
    assert relative_spread([-9.0, -10.0, -11.0]) == pytest.approx(0.1)
    # Without a spread or a centre there is none; a wild value is drawn in first.
    nothing: list[list[float]] = [[], [1.0], [-1.0, 0.0, 1.0]]
    assert [relative_spread(values) for values in nothing] == [None] * 3
    calm = [10.0, 10.1, 9.9, 10.05, 9.95, 10.0]
    assert relative_spread([*calm, 100.0]) == pytest.approx(relative_spread([*calm, 10.1]))


@pytest.mark.parametrize(("n", "m"), [(0, 5), (4, 4), (1, 50)])
def test_sizes_that_cannot_reach_the_level_show_nothing(n: int, m: int) -> None:
    assert sensitivity.smallest_change(0.01, n, m, level=0.01) is None


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(8, 8), (10, 30), (30, 30)])
def test_the_smallest_change_is_shown_as_often_as_promised(n: int, m: int) -> None:
    random = Random(n + m)  # noqa: S311 - numbers, no secret
    change = sensitivity.smallest_change(0.02, n, m)
    assert change is not None
    shown = 0
    for _ in range(600):
        before = [random.gauss(1, 0.02) for _ in range(n)]
        after = [random.gauss(1 + change, 0.02) for _ in range(m)]
        shown += rank_test(before, after).p_two_sided <= 0.01
    # 95 % are promised; the formula may be off by 6 % of the change for 8 and 8 runs.
    assert 0.90 <= shown / 600 <= 0.99


def test_runs_for_a_change_are_the_fewest_that_show_it() -> None:
    for spread, change in ((0.01, 0.01), (0.02, 0.01), (0.05, 0.2)):
        n = runs_for_change(spread, change)
        assert n is not None
        enough, fewer = (sensitivity.smallest_change(spread, size, size) for size in (n, n - 1))
        assert enough is not None
        assert enough <= change
        assert fewer is None or fewer > change


def test_a_quiet_series_needs_what_the_level_does_and_a_wild_one_cannot_be_planned() -> None:
    assert (runs_for_change(0.0, 0.01), sensitivity.runs_for_precision(0.0, 0.01)) == (5, 6)
    assert runs_for_change(1.0, 0.0001) is None
    assert sensitivity.runs_for_precision(1.0, 0.0001) is None
    assert runs_for_change(1.0, 0.1) is not None
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
