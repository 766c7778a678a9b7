"""Attempts: what is timed, what is recorded, and what counts as success."""

import threading
from typing import Any

import pytest

from benchyard.case.resource import CommandResult
from benchyard.core.errors import (
    CommandFailedError,
    CommandTimedOutError,
    ProgramFailedError,
    ResourceError,
)
from benchyard.core.model import Outcome
from benchyard.results.record import StepRecord
from benchyard.run.progress import AttemptFailed
from tests.benchyard.run.conftest import Call, Lab, named, phases, step

DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED


def message(record: StepRecord) -> str:
    """Return the text of a step's last error."""
    error = record.attempts[-1].error
    assert error is not None
    return error.message


# -- timing


def test_defect_13_and_14_the_duration_is_the_command_alone(lab: Lab) -> None:
    lab.cost = 0.25
    lab.script.on("Alpha.initialize", 100.0)
    lab.script.on("Alpha.start", 20.0)
    lab.script.on("Alpha.wait_until_ready", 3.0)
    lab.script.on("Alpha.work", 0.5)
    lab.script.on("Alpha.stop", 7.0)

    record = lab.one(step("a"))

    assert record.steps[0].durations_s == [0.5]
    used = record.steps[0].attempts[0].repetitions[0].used
    assert used == {"ticks": 0.75, "level": 7.0}, "between the boundaries around the command"
    assert [(p.phase, p.step, p.duration_s) for p in phases(record)] == [
        ("initialize", None, 100.0),
        ("start", 1, 20.0),
        ("ready", 1, 3.0),
        ("stop", None, 7.0),
    ]


def test_each_repetition_is_timed_by_itself_and_warmups_are_told_apart(lab: Lab) -> None:
    lab.script.on("Alpha.work", 9.0, 8.0, 1.0, 2.0, 3.0)

    record = lab.one(step("a", warmup=2, repeat=3)).steps[0]

    assert record.durations_s == [1.0, 2.0, 3.0]
    made = record.attempts[0].repetitions
    assert [(r.kind, r.duration_s) for r in made][:2] == [("warmup", 9.0), ("warmup", 8.0)]
    assert [r.start_s for r in made] == [0.0, 9.0, 17.0, 18.0, 20.0]


def test_defect_17_thinking_time_is_not_measured(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def think() -> str:
        lab.clock.advance(1000.0)
        return ""

    monkeypatch.setattr("builtins.input", think)
    lab.script.on("Alpha.work", 1.0, 2.0)
    case = lab.case(step("a"), step("b"))

    record = lab.execute(case, wait_for_user=True).records[0]

    assert [s.durations_s for s in record.steps] == [[1.0], [2.0]]
    assert [a.end_s - a.start_s for s in record.steps for a in s.attempts] == [1.0, 2.0]
    assert record.duration_s == 2003.0 - 0.0


# -- failing


def test_every_attempt_is_recorded_with_its_own_error(lab: Lab) -> None:
    def fail(_call: Call) -> None:
        lab.clock.advance(2.0)
        raise CommandFailedError("out of memory", 137)

    lab.script.on("Alpha.work", CommandFailedError("no route"), fail, 3.0)

    record = lab.one(step("a", retries=4)).steps[0]

    assert record.outcome is DONE
    assert [(a.number, a.outcome) for a in record.attempts] == [(1, FAILED), (2, FAILED), (3, DONE)]
    errors = [(a.error.type, a.error.message) for a in record.attempts if a.error]
    assert errors == [
        ("CommandFailedError", "no route"),
        ("CommandFailedError", "out of memory"),
    ]
    assert [r.duration_s for a in record.attempts for r in a.repetitions] == [0.0, 2.0, 3.0]
    left = [event.left for event in lab.events if isinstance(event, AttemptFailed)]
    assert left == [4, 3]


def test_may_fail_alone_tries_three_times_and_is_tolerated(lab: Lab) -> None:
    lab.script.on("Alpha.work", *[CommandFailedError(f"no {n}") for n in (1, 2, 3)], 1.0)

    record = lab.one(step("shaky", may_fail=True), step("next"))

    shaky = named(record, "shaky")
    assert [attempt.outcome for attempt in shaky.attempts] == [FAILED] * 3
    assert (shaky.outcome, message(shaky)) == (Outcome.TOLERATED, "no 3")
    assert shaky.durations_s == []
    assert record.outcome is DONE


def test_defect_09_a_tolerated_failure_shifts_no_number_to_another_step(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0, CommandFailedError("no"), 0.25, 0.5)

    record = lab.one(step("a"), step("b", may_fail=True, retries=0), step("c"), step("d"))

    assert [s.durations_s for s in record.steps] == [[1.0], [], [0.25], [0.5]]
    began = lab.collectors[0].began
    assert [(began[step] - began[1]) / 1e9 for step in (1, 2, 3, 4)] == [0, 1, 1, 1.25]


def test_defect_10_may_fail_as_last_step_completes_the_run(lab: Lab) -> None:
    lab.script.on("Beta.work", always=CommandFailedError("no"))
    made = {"makes": "out.txt", "text": "x"}
    case = lab.case(step("a", parameters=made), step("b", "Beta", may_fail=True))

    executed = lab.execute(case, (1, 2))

    assert [record.outcome for record in executed.records] == [DONE, DONE]
    assert executed.done == (1, 2)
    assert (case.folder / "results/run_2/.done").is_file()
    assert (case.folder / "results/run_2/alpha/out.txt").read_text() == "x"


def test_a_failed_repetition_ends_the_attempt(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0, CommandFailedError("no"), 1.0, 1.0, 1.0)

    record = lab.one(step("a", repeat=3, retries=1)).steps[0]

    assert [len(a.repetitions) for a in record.attempts] == [2, 3]
    assert record.durations_s == [1.0, 1.0, 1.0], "of the attempt that succeeded, and of no other"


@pytest.mark.parametrize("error", [ValueError("odd"), KeyError("x"), AssertionError(), OSError(5)])
def test_any_exception_of_a_command_is_how_it_failed(lab: Lab, error: Exception) -> None:
    lab.script.on("Alpha.work", error)

    record = lab.one(step("a"))

    assert record.outcome is FAILED
    told = record.steps[0].attempts[0].error
    assert told is not None
    assert told.type == type(error).__name__
    assert told.message


@pytest.mark.parametrize("answer", [False, None, True, 0, "", (), {}, CommandResult()])
def test_no_answer_but_a_krown_style_false_is_an_error(lab: Lab, answer: Any) -> None:
    """Defect 2: a flag that nobody looks at turns failures into successes."""
    lab.script.on("Alpha.work", lambda _: answer)

    record = lab.one(step("a")).steps[0]

    assert record.outcome is (FAILED if answer is False else DONE)
    assert answer is not False or message(record) == "Alpha.work returned False"


# -- expected failures


def test_expect_failure_is_completed_by_a_failure(lab: Lab) -> None:
    def fail(_call: Call) -> None:
        lab.clock.advance(2.0)
        raise ProgramFailedError("refused, as it must", 1)

    lab.script.on("Alpha.work", fail)

    record = lab.one(step("a", expect_failure=True))

    assert record.outcome is DONE
    repetition = record.steps[0].attempts[0].repetitions[0]
    assert repetition.duration_s == 2.0
    assert repetition.error is not None
    assert repetition.error.message == "refused, as it must"
    assert record.steps[0].attempts[0].error is None


def test_expect_failure_fails_when_the_command_succeeds(lab: Lab) -> None:
    record = lab.one(step("a", expect_failure=True)).steps[0]

    assert record.outcome is FAILED
    assert message(record) == "the command succeeded, and the case expects it to fail"


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("work", CommandFailedError("the container ended: exit code 9")),
        ("work", CommandFailedError("killed by SIGKILL", -9)),
        ("work", ResourceError("the engine does not answer")),
        ("work", CommandTimedOutError("late")),
        ("work", TypeError("a bug")),
        ("start", ResourceError("no port")),
    ],
)
def test_what_is_no_answer_of_the_program_is_not_the_failure_that_was_expected(
    lab: Lab, place: str, error: Exception
) -> None:
    lab.script.on(f"Alpha.{place}", error)

    record = lab.one(step("a", expect_failure=True, retries=0))

    assert record.outcome is FAILED
    assert str(error) in message(record.steps[0])


# -- checks


def test_the_check_is_not_in_the_duration(lab: Lab) -> None:
    lab.script.on("Alpha.work", 1.0)

    record = lab.one(step("a", parameters={"makes": "o", "text": "x"}, check={"pattern": "y"}))

    repetition = record.steps[0].attempts[0].repetitions[0]
    assert (repetition.outcome, repetition.duration_s) == (FAILED, 1.0)


# -- deadlines


@pytest.mark.parametrize("expect_failure", [False, True])
@pytest.mark.parametrize("error", [CommandFailedError("killed by SIGKILL", -9), None])
def test_a_late_command_is_aborted_and_timed_out(
    lab: Lab, error: Exception | None, expect_failure: bool
) -> None:
    """Even if it ends well: a class without ``abort`` works on, beyond the time of the step."""
    aborted = threading.Event()

    def work(_call: Call) -> None:
        assert aborted.wait(10)
        if error is not None:
            raise error

    lab.script.on("Alpha.abort", lambda _: aborted.set())
    lab.script.on("Alpha.work", work)

    record = lab.one(step("a", timeout=0.02, expect_failure=expect_failure))

    assert record.steps[0].outcome is Outcome.TIMED_OUT
    assert record.steps[0].durations_s == []
    assert message(record.steps[0]) == "stopped after 0.02 s (timeout)"
    assert record.outcome is FAILED


def test_an_abort_is_over_before_anything_else_begins(lab: Lab) -> None:
    """Else it would kill the next command, which is within its time."""
    order: list[str] = []
    entered, again = threading.Event(), threading.Event()

    def abort(_call: Call) -> None:
        order.append("abort begins")
        entered.set()
        again.wait(0.1)
        order.append("abort ends")

    def first(_call: Call) -> None:
        assert entered.wait(10)
        raise CommandFailedError("killed")

    def second(_call: Call) -> None:
        order.append("second attempt")
        again.set()

    lab.script.on("Alpha.abort", abort)
    lab.script.on("Alpha.work", first, second)

    lab.one(step("a", timeout=0.5, retries=1))

    assert order == ["abort begins", "abort ends", "second attempt"]
