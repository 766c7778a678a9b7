"""What the API knows, read page by page, and only what is a step."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from prefect import flow, task
from prefect.client.orchestration import SyncPrefectClient

import tasks.state_history
from benchyard.analysis.failures import Seen
from tasks.policy import UNCACHED
from tasks.state_history import read_history
from tests.conftest import RECORDED, eventually

pytestmark = pytest.mark.slow


@task(name="step", **UNCACHED)
def step(tries: list[int], works_at: int) -> None:
    tries.append(1)
    if len(tries) < works_at:
        raise RuntimeError("not yet")


@flow(name="execute-case", persist_result=False)
def some_case(steps: int) -> str:
    from prefect.runtime import flow_run  # noqa: PLC0415 - known inside of one only

    for number in range(1, steps + 1):
        named: Any = step.with_options(task_run_name=f"run1/{number:02d}-s", retries=1)
        named([], number % 2 + 1, return_state=True)
    for name in ("run1/initialize", "summarize", "run1/1-s"):
        step.with_options(task_run_name=name)([], 1)
    return str(flow_run.id)


@pytest.fixture
def known(prefect_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the id of a flow run of five steps, of which every other is tried twice."""
    del prefect_server
    monkeypatch.setattr(tasks.state_history, "_PAGE", 3)
    identifier = some_case(5)

    def settled() -> bool:
        seen = read_history([identifier], None, all_of=False)
        return len(seen) == 5 and all(one.state == "COMPLETED" for one in seen)

    assert eventually(settled, RECORDED)
    return identifier


def test_steps_are_read_with_their_attempts(known: str) -> None:
    seen = {one.name: one for one in read_history([known], None, all_of=False)}
    assert {name: one.attempts for name, one in seen.items()} == {
        "run1/01-s": 2,
        "run1/02-s": 1,
        "run1/03-s": 2,
        "run1/04-s": 1,
        "run1/05-s": 2,
    }
    assert {(one.flow_run, one.attempt) for one in seen.values()} == {(known, 1)}
    assert seen["run1/02-s"].history == ()
    names = [name for name, _ in seen["run1/01-s"].history]
    assert names == ["Pending", "Running", "Retrying", "Completed"]


def test_flow_runs_that_no_record_tells_of_are_found(known: str) -> None:
    begun = datetime.now(UTC) - timedelta(hours=1)
    found = {one.flow_run for one in read_history([], begun, all_of=True)}
    assert known in found
    assert read_history([], datetime.now(UTC) + timedelta(hours=1), all_of=True) == []


def test_number_of_histories_is_bounded(known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks.state_history, "_MOST_HISTORIES", 1)
    seen = read_history([known], None, all_of=False)
    assert len([one for one in seen if one.history]) == 1
    assert len([one for one in seen if one.in_trouble]) == 3


def test_task_run_that_begins_between_two_pages_counts_none_twice(
    known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = SyncPrefectClient.read_task_runs

    def moved_on(self: SyncPrefectClient, *, offset: int, **rest: Any) -> list[Any]:
        return reading(self, offset=max(0, offset - 1), **rest)

    monkeypatch.setattr(tasks.state_history, "_PAGE", 4)  # the fourth newest is a step
    monkeypatch.setattr(SyncPrefectClient, "read_task_runs", moved_on)
    seen = read_history([known], None, all_of=False)
    assert sorted(one.name for one in seen) == [f"run1/{number:02d}-s" for number in range(1, 6)]


def test_ids_that_are_none_or_of_no_flow_run_are_left_out(known: str) -> None:
    del known
    assert read_history(["", "five", str(uuid4())], None, all_of=False) == []


def test_task_run_that_was_tried_again_is_in_trouble() -> None:
    assert Seen("f", 1, "run1/01-s", 2, "COMPLETED").in_trouble
    assert Seen("f", 1, "run1/01-s", 1, "FAILED").in_trouble
    assert not Seen("f", 1, "run1/01-s", 1, "RUNNING").in_trouble
