"""Tasks as Prefect's inside a flow run and as plain calls without one: they do the same."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import prefect
import pytest
from prefect.context import FlowRunContext

from benchyard.core.errors import StepFailedError, StepNotBegunError
from tasks.lazy import Task, TaskRun, flow_run_under_way, task, wait
from tests.conftest import RECORDED, eventually
from tests.flows.conftest import ask

#: Executes a function as a flow run or by a plain call; returns its task runs, by name.
Execute = Callable[[Callable[[], object]], dict[str, dict[str, Any]]]


def plainly(work: Callable[[], object]) -> dict[str, dict[str, Any]]:
    assert not flow_run_under_way()
    work()
    return {}


def as_flow_run(work: Callable[[], object]) -> dict[str, dict[str, Any]]:
    ids: list[str] = []

    @prefect.flow(persist_result=False)
    def inside() -> None:
        context = FlowRunContext.get()
        assert context is not None
        assert context.flow_run is not None
        ids.append(str(context.flow_run.id))
        work()

    inside()
    chosen = {"flow_runs": {"id": {"any_": ids}}, "limit": 200}
    found: list[dict[str, Any]] = []

    def recorded() -> bool:
        found[:] = ask("/task_runs/filter", chosen)
        return bool(found) and all(one["end_time"] and one["state"] for one in found)

    assert eventually(recorded, RECORDED)
    return {one["name"]: one for one in found}


@pytest.fixture(params=["plain", pytest.param("prefect", marks=pytest.mark.slow)])
def execute(request: pytest.FixtureRequest) -> Execute:
    if request.param == "plain":
        return plainly
    request.getfixturevalue("prefect_server")
    return as_flow_run


def test_what_waits_for_nothing_overlaps_and_what_waits_sees_all_ended(execute: Execute) -> None:
    both, ended = threading.Barrier(2), list[str]()

    def work(name: str) -> None:
        if name in {"left", "right"}:
            both.wait(60)
        ended.append(name)

    work_on = Task(work, "of/{name}")

    def graph() -> None:
        begun = [work_on("begin")]
        beside = [work_on.submit(name, wait_for=begun) for name in ("left", "right")]
        last = work_on.submit("end", wait_for=beside)
        wait([last])
        work_on("after", wait_for=[last])

    seen = execute(graph)

    assert (ended[0], {*ended[1:3]}, ended[3:]) == ("begin", {"left", "right"}, ["end", "after"])
    ids = {one["id"]: name for name, one in seen.items()}
    drawn = {
        name: {ids[need["id"]] for need in one["task_inputs"].get("wait_for", [])}
        for name, one in seen.items()
    }
    edges = {"of/begin": set[str](), "of/left": {"of/begin"}, "of/right": {"of/begin"}}
    edges |= {"of/end": {"of/left", "of/right"}, "of/after": {"of/end"}}
    assert drawn in ({}, edges)


def test_failures_are_repeated_while_they_may_be_and_keep_nothing_from_beginning(
    execute: Execute,
) -> None:
    """What fails for another reason than its step, is not: and a call raises it, as it is."""
    tries: Counter[str] = Counter()
    stopping = threading.Event()

    @task("{name}")
    def step(name: str) -> None:
        tries[name] += 1
        if name == "stopped" and tries[name] == 2:
            stopping.set()
        if name == "unwanted":
            raise StepNotBegunError("nobody wants it")
        if name != "third" or tries[name] < 3:
            raise StepFailedError(f"{name} failed")

    def steps() -> None:
        last: list[TaskRun] = []
        for name, goes_on in {
            "third": lambda: True,
            "hopeless": lambda: True,
            "unwanted": lambda: True,
            "stopped": lambda: not stopping.is_set(),
        }.items():
            last = [step.with_retries(3, goes_on).submit(name, wait_for=last)]
        wait(last)
        with pytest.raises(StepFailedError, match="once failed"):
            step("once", wait_for=last)

    seen = execute(steps)

    assert tries == {"third": 3, "hopeless": 4, "unwanted": 1, "stopped": 2, "once": 1}
    assert {one["run_count"] for one in seen.values()} <= {*tries.values()}
    states = {name: (one["state_name"], one["run_count"]) for name, one in seen.items()}
    known = {
        "third": ("Completed", 3),
        "hopeless": ("Failed", 4),
        "unwanted": ("Skipped", 1),
        "stopped": ("Failed", 2),
        "once": ("Failed", 1),
    }
    # The server may have recorded the last one not yet; without Prefect there is none.
    assert states.items() <= known.items()


@pytest.mark.slow
def test_a_flow_that_is_imported_before_prefect_is_a_plain_function() -> None:
    program = (
        "import sys; from flows.execute_case import execute_case; "
        "assert 'prefect' not in sys.modules; print(type(execute_case).__name__)"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.check_output(command, text=True, timeout=120) == "function\n"
