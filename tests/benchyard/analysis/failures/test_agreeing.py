"""What the API tells against what was recorded."""

from benchyard.analysis.failures import Seen, agree
from benchyard.core.model import Outcome
from tests.benchyard.analysis.failures.conftest import MakeTry, step

ONE = {"id": "f", "name": "bat", "attempt": 1}


def seen(**more: object) -> Seen:
    fields: dict[str, object] = {
        "flow_run": "f",
        "attempt": 1,
        "name": "run1/01-load",
        "attempts": 3,
        "state": "COMPLETED",
    }
    return Seen(**fields | more)  # pyright: ignore[reportArgumentType] - the tests' own


def test_same_attempts_and_end_agree(make_try: MakeTry) -> None:
    found = agree([make_try(step("load", "a", "b"), flow_run=ONE)], [seen()])
    assert (found.agreed, found.differences, found.only_api, found.only_records) == (1, (), (), 0)


def test_tolerated_step_is_a_failed_task_run(make_try: MakeTry) -> None:
    tolerated = step("load", "a", "b", outcome=Outcome.TOLERATED)
    found = agree([make_try(tolerated, flow_run=ONE)], [seen(attempts=2, state="FAILED")])
    assert (found.agreed, found.differences) == (1, ())


def test_other_number_of_attempts_is_a_difference(make_try: MakeTry) -> None:
    (text,) = agree([make_try(step("load"), flow_run=ONE)], [seen(attempts=2)]).differences
    assert "the record tells of 1 attempt, the API of 2" in text


def test_other_end_is_a_difference(make_try: MakeTry) -> None:
    (text,) = agree(
        [make_try(step("load"), flow_run=ONE)], [seen(attempts=1, state="FAILED")]
    ).differences
    assert "the record says completed, the API FAILED" in text


def test_missing_task_run_is_a_difference(make_try: MakeTry) -> None:
    tried = make_try(step("load"), step("ask", index=2), flow_run=ONE)
    found = agree([tried], [seen(attempts=1)])
    assert found.agreed == 1
    assert len(found.differences) == 1
    assert "run1/02-ask" in found.differences[0]


def test_retry_of_a_flow_run_is_told_apart_by_its_attempt(make_try: MakeTry) -> None:
    first = make_try(
        step("load", "no", outcome=Outcome.FAILED), flow_run=ONE, outcome=Outcome.FAILED
    )
    again = make_try(step("load"), day=1, flow_run={**ONE, "attempt": 2})
    both = [seen(attempts=1, state="FAILED"), seen(attempt=2, attempts=1)]
    assert agree([first, again], both).agreed == 2


def test_flow_run_that_the_api_does_not_know_is_no_difference(make_try: MakeTry) -> None:
    found = agree([make_try(step("load"), flow_run={**ONE, "id": "gone"})], [])
    assert (found.differences, found.only_records) == ((), 1)


def test_runs_without_prefect_are_not_compared(make_try: MakeTry) -> None:
    found = agree([make_try(step("load")), make_try(step("load"), flow_run={"id": 5})], [])
    assert (found.agreed, found.differences, found.only_records) == (0, (), 0)


def test_trouble_without_a_record_is_told() -> None:
    crashed, fine = seen(state="CRASHED", name="run2/01-load"), seen(attempts=1)
    assert agree([], [crashed, fine]).only_api == (crashed,)
