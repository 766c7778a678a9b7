"""Confirmations keep their risk and find what is there; the account keeps a month's limits."""

import json
import math
from dataclasses import asdict
from datetime import date
from random import Random

import pytest

from benchyard.core.json_text import read_as
from benchyard.statistics.confirmation import (
    MOST_PAIRS,
    AlarmAccount,
    Confirmation,
    Standing,
    measured_margin,
)

NIGHT = date(2026, 11, 28)


def confirmed(effect: float, margin: float = 0.0, direction: int = 1, seed: int = 1) -> float:
    """Return which share of 2,000 suspicions is confirmed; a pair has 1.4 %."""
    random, count = Random(seed), 0  # noqa: S311 - a simulation
    for _ in range(2_000):
        one = Confirmation(margin=margin, direction=direction)
        while one.standing is Standing.OPEN:
            one.add(random.gauss(effect, 0.014))
        assert len(one.sizes) <= MOST_PAIRS
        count += one.standing is Standing.CONFIRMED
    return count / 2_000


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.005])
def test_a_change_of_the_margin_is_rarely_confirmed(margin: float) -> None:
    assert confirmed(margin, margin) <= 1 / 60


@pytest.mark.slow
def test_a_change_of_two_percent_is_confirmed() -> None:
    assert confirmed(0.02, 0.005) > 0.96
    assert confirmed(-0.02, 0.005, -1) > 0.96
    assert confirmed(-0.02, 0.005) == 0


def test_each_pair_stakes_by_its_rank() -> None:
    one = Confirmation()
    grown = [one.e_value for value in (0.02, 0.03, 0.01, -0.02, 0.0) if one.add(value)]
    # Ranks: the first has none; above one of one; above none of two; half of a tie and one below.
    # One of 0 says nothing.
    last = 1.9 * (1 - 0.9 * 1.5 / 3)
    assert grown == pytest.approx([1, 1.9, 1.9, last, last])


def test_what_is_out_of_reach_ends_early() -> None:
    one = Confirmation()
    pairs = 0
    while one.standing is Standing.OPEN:
        pairs += 1
        one.add(-0.01 * pairs)
    assert one.standing is Standing.NOT_CONFIRMED
    assert pairs < 8


def test_a_bound_that_thirty_pairs_cannot_reach_is_given_up_at_once() -> None:
    one = Confirmation(bound=1.9**40)
    assert one.standing is Standing.NOT_CONFIRMED


def test_margin_without_measurements_is_that_of_the_prior() -> None:
    assert measured_margin() == pytest.approx(0.0051)


def test_a_quiet_host_lowers_the_margin_and_a_loud_one_raises_it() -> None:
    quiet, loud = [0.0001, -0.0001, 0.0], [0.011, 0.009, 0.01]
    assert 0 < measured_margin([quiet] * 12) < 0.6 * measured_margin()
    assert measured_margin([loud]) == pytest.approx(0.017)
    assert measured_margin([loud, [-one for one in loud]]) == pytest.approx(0.017)


def test_the_strongest_are_confirmed_until_the_month_is_spent() -> None:
    account = AlarmAccount(budget=0.5, confirmations=3)
    assert account.bound == 6
    assert account.choose(NIGHT, {"a": 2.9, "b": 3.5}) == ["b", "a"]
    assert account.choose(NIGHT, {"c": 2.9, "d": 3.1}) == ["d"]
    assert account.choose(date(2026, 11, 30), {"c": 9.0}) == []
    assert account.choose(date(2026, 12, 1), {"c": 2.8}) == ["c"]
    assert account.choose(NIGHT, {"a": 9, "b": 9, "c": 9, "d": 9}) == ["a", "b"], "no new month"


def test_a_series_rests_seven_nights() -> None:
    account = AlarmAccount()
    account.rest("a", NIGHT)
    assert account.choose(date(2026, 12, 4), {"a": 9.0, "b": 1.0}) == ["b"]
    assert account.choose(date(2026, 12, 5), {"a": 9.0}) == ["a"]
    assert not account.resting


def test_an_account_is_kept_as_plain_json() -> None:
    account = AlarmAccount(budget=2)
    account.choose(NIGHT, {"a": 3.0})
    account.rest("a", NIGHT)
    again = read_as(AlarmAccount, json.loads(json.dumps(asdict(account))))
    assert again == account
    assert math.isclose(again.bound, 30)
