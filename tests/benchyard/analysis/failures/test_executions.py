"""From tries to executions: what counts as one, and what as trouble."""

from benchyard.analysis.failures import WHOLE_RUN, executions
from benchyard.analysis.failures.executions import NO_END
from benchyard.core.model import Outcome
from benchyard.process.labels import this_owner
from benchyard.results.attempts import TriedStep
from benchyard.results.record import ErrorRecord
from tests.benchyard.analysis.failures.conftest import MakeTry, step


def test_step_that_fails_twice_and_then_works_recovered(make_try: MakeTry) -> None:
    (one,) = executions([make_try(step("load", "first", "second"))])
    assert (one.step, one.attempts, one.recovered, one.in_trouble) == ("01-load", 3, True, True)
    assert one.first_error == ErrorRecord("E", "first")
    assert one.last_error == ErrorRecord("E", "second")
    assert not one.same_errors


def test_step_that_works_is_in_no_trouble(make_try: MakeTry) -> None:
    (one,) = executions([make_try(step("load"))])
    assert not one.in_trouble
    assert one.first_error is None


def test_tolerated_failure_is_trouble(make_try: MakeTry) -> None:
    (one,) = executions([make_try(step("load", "no", outcome=Outcome.TOLERATED))])
    assert one.in_trouble
    assert not one.recovered


def test_steps_that_never_began_because_of_others_are_no_executions(make_try: MakeTry) -> None:
    skipped = TriedStep(2, "ask", "ask", Outcome.SKIPPED, reason="a step that it needs failed")
    cancelled = TriedStep(3, "end", "end", Outcome.CANCELLED)
    failed = step("load", "no", outcome=Outcome.FAILED)
    found = list(executions([make_try(failed, skipped, cancelled, outcome=Outcome.FAILED)]))
    assert [one.step for one in found] == ["01-load"]


def test_step_that_was_started_and_never_began_is_trouble(make_try: MakeTry) -> None:
    lost = TriedStep(2, "ask", "ask", Outcome.FAILED, reason="it never began")
    (one,) = executions([make_try(lost, outcome=Outcome.FAILED)])
    assert (one.attempts, one.duration_s, one.in_trouble) == (0, None, True)
    assert one.last_error == ErrorRecord("", "it never began")


def test_run_that_broke_off_before_its_steps_is_told(make_try: MakeTry) -> None:
    error = ErrorRecord("ResourceError", "no such image")
    (one,) = executions([make_try(outcome=Outcome.FAILED, error=error)])
    assert (one.step, one.outcome, one.last_error) == (WHOLE_RUN, Outcome.FAILED, error)


def test_error_of_a_run_that_is_a_steps_is_told_once(make_try: MakeTry) -> None:
    broken = step("load", "no", outcome=Outcome.FAILED)
    tried = make_try(broken, outcome=Outcome.FAILED, error=ErrorRecord("E", "no"))
    assert [one.step for one in executions([tried])] == ["01-load"]


def test_try_without_an_end_was_killed(make_try: MakeTry) -> None:
    (one,) = executions([make_try(outcome=None, ended_at=None, duration_s=None)])
    assert (one.step, one.outcome, one.in_trouble) == (WHOLE_RUN, None, True)
    assert one.last_error == ErrorRecord("", NO_END)


def test_try_under_way_is_left_out(make_try: MakeTry) -> None:
    assert list(executions([make_try(outcome=None, owner=this_owner())])) == []
