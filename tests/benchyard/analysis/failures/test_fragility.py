"""The order of steps: the most fragile first, small numbers with care."""

from hypothesis import given
from hypothesis import strategies as st

from benchyard.analysis.failures import WHOLE_RUN, by_fragility, executions, troubled
from benchyard.analysis.failures.fragility import least_rate
from benchyard.core.model import Outcome
from tests.benchyard.analysis.failures.conftest import MakeTry, step


def test_nine_of_ten_come_before_one_of_one(make_try: MakeTry) -> None:
    often = [make_try(step("often", "no"), day=n) for n in range(9)]
    tries = [*often, make_try(step("often"), day=9), make_try(step("once", "no"))]
    steps = by_fragility(executions(tries))
    assert [one.step for one in steps] == ["01-often", "01-once"]
    assert [one.rate for one in steps] == [0.9, 1.0]
    assert (steps[0].attempts, steps[0].failed_attempts) == (19, 9)


def test_steps_that_never_failed_come_last(make_try: MakeTry) -> None:
    tries = [make_try(step("fine"), step("bad", "no", index=2)) for _ in range(3)]
    assert [one.step for one in by_fragility(executions(tries))] == ["02-bad", "01-fine"]


def test_same_step_of_two_cases_is_two(make_try: MakeTry) -> None:
    tries = [make_try(step("load", "no"), case=case) for case in ("a", "b")]
    assert [one.case for one in by_fragility(executions(tries))] == ["a", "b"]


def test_endings_are_counted(make_try: MakeTry) -> None:
    tries = [
        make_try(step("load", "no")),
        make_try(step("load", "no")),
        make_try(step("load", "no", outcome=Outcome.TOLERATED)),
        make_try(step("load")),
    ]
    (one,) = by_fragility(executions(tries))
    assert one.outcomes == {"recovered": 2, "tolerated": 1}
    assert one.executions == 4


def test_whole_run_is_out_of_all_tries(make_try: MakeTry) -> None:
    fine = [make_try(step("load"), day=n, run=n) for n in range(1, 4)]
    steps = by_fragility(executions([*fine, make_try(outcome=None)]))
    whole = next(one for one in steps if one.step == WHOLE_RUN)
    assert (whole.executions, len(whole.troubled), whole.outcomes) == (4, 1, {"no_end": 1})


def test_of_one_step_the_newest_comes_first(make_try: MakeTry) -> None:
    tries = [make_try(step("load", "no"), day=n, run=n + 1) for n in range(3)]
    assert [one.run for one in troubled(by_fragility(executions(tries)))] == [3, 2, 1]


@given(st.integers(1, 10_000), st.data())
def test_least_rate_is_below_the_rate_and_grows_with_evidence(
    of_all: int, data: st.DataObject
) -> None:
    some = data.draw(st.integers(0, of_all))
    least = least_rate(some, of_all)
    assert 0 <= least <= some / of_all
    if some:
        assert least_rate(some * 10, of_all * 10) > least


def test_what_never_failed_has_no_least_rate() -> None:
    assert {least_rate(0, of_all) for of_all in range(1, 2000)} == {0.0}


def test_least_rate_is_wilsons() -> None:
    """Worked example: 10 of 20 are 29.9 % at least."""
    assert abs(least_rate(10, 20) - 0.2993) < 0.0001
