"""What a form or a program may ask for: amounts that nobody can mean are refused."""

import math
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.run.request import Request, default_runs
from benchyard.statistics.comparison import LEVEL, Verdict, compare_samples, judge
from benchyard.suite.request import SuiteRequest


@pytest.mark.parametrize("kind", [Request, SuiteRequest])
@pytest.mark.parametrize(
    ("amount", "sentence"),
    [
        ({"runs": 0}, "runs 0: write 1 to 100,000"),
        ({"runs": -1}, "runs -1: write 1 to 100,000"),
        ({"runs": 100_001}, "runs 100001: write 1 to 100,000"),
        ({"interval": 0.0}, "interval 0.0: write 0.001 to 3,600 seconds"),
        ({"interval": -1.0}, "interval -1.0: write 0.001 to 3,600 seconds"),
        ({"interval": math.nan}, "interval nan: write 0.001 to 3,600 seconds"),
        ({"cooldown": math.inf}, "cooldown inf: write 0 to 86,400 s"),
        ({"cooldown": -0.5}, "cooldown -0.5: write 0 to 86,400 s"),
    ],
)
def test_an_amount_that_nobody_can_mean(kind: Any, amount: dict[str, Any], sentence: str) -> None:
    wanted = kind(**amount) if kind is SuiteRequest else kind(case="any", **amount)

    with pytest.raises(InputError) as caught:
        wanted.check()

    assert str(caught.value) == sentence


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
