"""Rates by the day and by the week."""

from datetime import date

import pytest

from benchyard.analysis.failures import executions, rates
from benchyard.analysis.failures.rates import DAY, WEEK, Bucket, suiting
from tests.benchyard.analysis.failures.conftest import MakeTry, step


def test_days_without_anything_are_there_and_have_no_rate(make_try: MakeTry) -> None:
    tries = [make_try(step("load", "no")), make_try(step("load")), make_try(step("load"), day=2)]
    found = rates(list(executions(tries)), DAY)
    assert found == [
        Bucket(date(2026, 11, 2), 2, 1, 3, 1),
        Bucket(date(2026, 11, 3)),
        Bucket(date(2026, 11, 4), 1, 0, 1, 0),
    ]
    assert [one.rate for one in found] == [0.5, None, 0.0]


def test_weeks_begin_on_mondays(make_try: MakeTry) -> None:
    tries = [make_try(step("load"), day=day) for day in (0, 6, 7)]
    found = rates(list(executions(tries)), WEEK)
    assert [(one.first, one.executions) for one in found] == [
        (date(2026, 11, 2), 2),
        (date(2026, 11, 9), 1),
    ]


def test_day_is_that_of_utc(make_try: MakeTry) -> None:
    (one,) = executions([make_try(step("load"), started_at="2026-11-03T01:00:00+03:00")])
    assert rates([one], DAY)[0].first == date(2026, 11, 2)


@pytest.mark.parametrize(("days", "every"), [(0, DAY), (20, DAY), (21, WEEK)])
def test_long_times_are_told_by_the_week(make_try: MakeTry, days: int, every: str) -> None:
    tries = [make_try(step("load")), make_try(step("load"), day=days)]
    assert suiting(list(executions(tries))) == every


def test_nothing_has_no_rates() -> None:
    assert rates([], DAY) == []
    assert suiting([]) == DAY


def test_centuries_do_not_fill_the_screen(make_try: MakeTry) -> None:
    first = make_try(step("load"), started_at="0001-01-01T00:00:00+00:00")
    found = rates(list(executions([first, make_try(step("load"))])), WEEK)
    assert len(found) == 200
    assert found[-1].executions == 1
