"""How many runs a case has by default: as many as its comparisons need."""

import math

import pytest

from benchyard.run.request import default_runs
from benchyard.statistics.comparison import LEVEL, Verdict, compare_samples, judge


@pytest.mark.parametrize(
    ("comparisons", "runs"),
    [(0, 6), (1, 6), (4, 6), (5, 7), (17, 7), (18, 8), (20, 8), (64, 8), (65, 9), (1000, 11)],
)
def test_the_number_of_runs_follows_from_the_comparisons(comparisons: int, runs: int) -> None:
    assert default_runs(comparisons) == runs
    assert 2 / math.comb(2 * runs, runs) <= LEVEL / max(1, comparisons)


@pytest.mark.parametrize("comparisons", [1, 20, 64, 65])
def test_so_many_runs_tell_one_step_that_differs_among_all(comparisons: int) -> None:
    runs = default_runs(comparisons)
    alike = [1.0 + at / 1000 for at in range(runs)]
    equal = compare_samples(alike, alike)
    slower = compare_samples(alike, [7 * value for value in alike])
    [verdict, *others] = judge([slower, *[equal] * (comparisons - 1)])
    assert verdict.verdict is Verdict.REGRESSION
    assert {one.verdict for one in others} <= {Verdict.NO_CHANGE_SHOWN}
