"""The order of steps: the most fragile first, small numbers with care."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from benchyard.analysis.executions import WHOLE_RUN, executions
from benchyard.analysis.failure_rates import (
    DAY,
    WEEK,
    by_fragility,
    by_reason,
    least_rate,
    most_rate,
    rates,
)
from tests.benchyard.analysis.conftest import MakeTry, step


def test_nine_of_ten_come_before_one_of_one(make_try: MakeTry) -> None:
    often = [make_try(step("often", "no"), day=n) for n in range(9)]
    tries = [*often, make_try(step("often"), day=9), make_try(step("once", "no"))]
    steps = by_fragility(executions(tries))
    assert [one.step for one in steps] == ["01-often", "01-once"]
    assert [one.rate for one in steps] == [0.9, 1.0]
    assert (steps[0].attempts, steps[0].failed_attempts) == (19, 9)


def test_whole_run_is_out_of_all_tries(make_try: MakeTry) -> None:
    fine = [make_try(step("load"), day=n, run=n) for n in range(1, 4)]
    steps = by_fragility(executions([*fine, make_try(outcome=None)]))
    whole = next(one for one in steps if one.step == WHOLE_RUN)
    assert (whole.executions, len(whole.troubled), whole.outcomes) == (4, 1, {"no_end": 1})


@given(st.integers(1, 10_000), st.data())
def test_ends_of_a_rate_lie_around_it_and_the_least_grows_with_evidence(
    of_all: int, data: st.DataObject
) -> None:
    some = data.draw(st.integers(0, of_all))
    assert 0 <= least_rate(some, of_all) <= some / of_all <= most_rate(some, of_all) <= 1
    assert least_rate(0, of_all) == 0.0
    if some:
        assert least_rate(some * 10, of_all * 10) > least_rate(some, of_all)


def test_days_without_anything_are_there_and_have_no_rate(make_try: MakeTry) -> None:
    tries = [make_try(step("load", "no")), make_try(step("load")), make_try(step("load"), day=2)]
    found = rates(list(executions(tries)), DAY)
    assert [day.day for day in found] == [2, 3, 4]
    counts = [
        (one.executions, len(one.troubled), one.attempts, one.failed_attempts, one.rate)
        for one in found.values()
    ]
    assert counts == [(2, 1, 3, 1, 0.5), (0, 0, 0, 0, None), (1, 0, 1, 0, 0.0)]


def test_day_is_that_of_utc(make_try: MakeTry) -> None:
    (one,) = executions([make_try(step("load"), started_at="2026-11-03T01:00:00+03:00")])
    assert [*rates([one], DAY)] == [date(2026, 11, 2)]


def test_centuries_do_not_fill_the_screen(make_try: MakeTry) -> None:
    first = make_try(step("load"), started_at="0001-01-01T00:00:00+00:00")
    found = rates(list(executions([first, make_try(step("load"))])), WEEK)
    assert len(found) == 200
    assert [*found.values()][-1].executions == 1


def test_reasons_that_differ_in_the_run_are_one(make_try: MakeTry) -> None:
    errors = ("full: run_1/x", "full: run_22/x", "busy")
    tries = [make_try(step("load", error), day=-day) for day, error in enumerate(errors)]
    killed = make_try(outcome=None, ended_at=None, duration_s=None, day=-9)
    found = by_reason(executions([*tries, killed, make_try(step("load"))]))
    assert [(reason, [one.began.day for one in several]) for reason, several in found] == [
        ("full: run_#/x", [1, 2]),
        ("its end was not recorded: its process was killed, or its host went down", [24]),
        ("E: busy", [31]),
    ]
