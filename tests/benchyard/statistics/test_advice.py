"""Advice in words: given where it is due, and rarely where it is not."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.advice import advise

CALM = [10.0, 10.02, 9.98, 10.01, 9.99, 10.03, 9.97, 10.0]


def test_runs_in_order_need_no_advice_and_too_few_say_so() -> None:
    assert advise(CALM) == ()
    assert advise([]) == ("no run yielded a value: nothing can be said",)
    assert advise([3.0]) == ("one value tells nothing about its spread: execute 6 runs",)
    assert advise(CALM[:5]) == (
        "5 runs give no interval of the median; 6 runs give one, of about ±0.2 %",
    )


RISING = [10 + at / 10 for at in range(10)]
MIXED = [value * factor for value in CALM for factor in (1, 1.1)]
FAR = [*CALM[:2], 15.0, *CALM[3:]]
WILD = [1.0, *[1.0, 3.4] * 6]


@pytest.mark.parametrize(
    ("values", "words", "until", "is_said"),
    [
        ([13.0, *CALM], ("slow first run", "30 % above", "warm-up"), 0.01, True),
        ([10.05, *CALM], ("slow first run",), 0.01, False),
        ([13.0, *CALM], ("far from the others",), 0.01, False),
        # A fast first run needs no warm-up.
        ([7.0, *CALM], ("first run",), 0.01, False),
        (RISING, ("the values rise",), 0.01, True),
        (RISING[::-1], ("the values fall",), 0.01, True),
        (RISING, ("the values",), 0.5, False),
        (MIXED, ("two groups of values", "10 % apart", "8 and 8 runs"), 0.01, True),
        (FAR, ("value 3 of 8 is far",), 0.01, True),
        ([*FAR, 16.0, *CALM], ("values 3 and 9 of 17 are far",), 0.01, True),
        ([*CALM[:2], 10.09, *CALM[3:]], ("far",), 0.01, False),
        # Large changes are plain numbers.
        (WILD, ("two groups of values, 240 % apart",), 0.01, True),
        (WILD, ("±50 % needs about 42 runs",), 0.5, True),
        ([5.0, *[0.0] * 12], ("slow first run (∞ % above",), 0.01, True),
        ([500.0, *CALM], ("e+",), 0.01, False),
    ],
)
def test_what_is_said(
    values: list[float], words: tuple[str, ...], until: float, *, is_said: bool
) -> None:
    sentences = advise(values, until=until)
    assert any(all(word in one for word in words) for one in sentences) is is_said


def test_equal_times_are_suspect() -> None:
    assert "clock is too coarse" in advise([2.0] * 6)[0]


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        (0.02, "±1 % needs about 17 runs of this session"),
        (0.03, "±1 % needs about 37 runs of this session"),
        (0.2, "±1 % needs more than 100 runs: the values vary by 16 %"),
    ],
)
def test_more_runs_in_relation_to_those_there_are(spread: float, words: str) -> None:
    random = Random(8)  # noqa: S311 - numbers, no secret
    values = [100 * random.lognormvariate(0, spread) for _ in range(9)]
    assert advise(values) == (words,)


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=40))
def test_advice_never_asks_for_hundreds_of_runs_where_there_are_few(values: list[float]) -> None:
    most = max(100, 4 * len(values))
    for sentence in advise(values):
        assert all(int(n) <= most for n in re.findall(r"([0-9]+) runs", sentence))


@given(st.lists(st.floats(-1e9, 1e9), max_size=14))
def test_advice_is_words_for_any_values(values: list[float]) -> None:
    sentences = advise(values)
    assert all(sentence and "nan" not in sentence for sentence in sentences)


def test_runs_in_order_are_rarely_blamed() -> None:
    random = Random(2)  # noqa: S311 - numbers, no secret
    blamed = 0
    for _ in range(400):
        values = [random.gauss(100, 2) for _ in range(10)]
        blamed += any("±1 % needs" not in sentence for sentence in advise(values))
    # 7 % or so: 1 % for each of three tests, and outliers.
    assert blamed / 400 <= 0.12


def test_many_far_values_are_counted() -> None:
    values = [CALM[at % len(CALM)] + at * 1e-5 for at in range(60)]
    values[5::5] = [13.0 + at * 0.3 for at in range(len(values[5::5]))]
    assert "11 of 60 values are far from the others: look what disturbs them" in advise(values)


def test_a_slow_first_run_counts_among_the_runs() -> None:
    sentences = advise([90.0, *CALM[:5]])
    assert "slow first run" in sentences[0]
    assert not any("5 runs" in one for one in sentences)
    assert not any("runs" in one for one in advise(CALM[:5], more_runs=False))
