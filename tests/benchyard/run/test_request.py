"""What a form or a program may ask for: amounts that nobody can mean are refused."""

import math
from typing import Any

import pytest

from benchyard.core.errors import InputError
from benchyard.run.request import Request
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


def test_all_of_them_at_once() -> None:
    with pytest.raises(InputError) as caught:
        Request("any", runs=0, interval=0, cooldown=-1, only=(0,)).check()

    assert str(caught.value).count(";") == 3


def test_what_people_mean() -> None:
    Request("any", runs=1, interval=0.001, cooldown=0, only=(1, 7)).check()
