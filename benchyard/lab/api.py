"""What a lab asks of Prefect's API: pools, queues, and the end of what a worker lost."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectAlreadyExists
from prefect.states import Crashed, Scheduled

from tasks.busy_flow_runs import busy_flow_runs, close_flow_run
from tasks.names import CONTROL, TESTBEDS

#: The label that a worker puts on a flow run which it is about to begin.
_WORKER = "prefect.worker.name"
_POOLS = {
    TESTBEDS: "Flow runs that measure: one at a time on each testbed.",
    CONTROL: "Suites, publishing and housekeeping: nothing here measures.",
}


def ensure_pools(api: SyncPrefectClient) -> None:
    """Make the two pools unless they are there."""
    for name, description in _POOLS.items():
        with suppress(ObjectAlreadyExists):
            api.create_work_pool(WorkPoolCreate(name=name, type="process", description=description))


def ensure_queue(api: SyncPrefectClient, name: str) -> None:
    """Make a testbed's queue, with a limit of one flow run, unless it is there."""
    words = f"Flow runs for the testbed {name} alone."
    with suppress(ObjectAlreadyExists):
        api.create_work_queue(name, description=words, concurrency_limit=1, work_pool_name=TESTBEDS)


def close_lost(api: SyncPrefectClient, worker: str, pool: str, alive: Iterable[str]) -> list[str]:
    """Let flow runs of a worker that has died end as crashed; those that never began wait again.

    Args:
        alive: Ids of the flow runs that still have a process on this host.

    Returns:
        What became of which, in words.
    """
    here = set(alive)
    return [
        _close_lost(api, flow_run, worker)
        for flow_run in busy_flow_runs(api, pool)
        if flow_run.labels.get(_WORKER) == worker and str(flow_run.id) not in here
    ]


def _close_lost(api: SyncPrefectClient, flow_run: FlowRun, worker: str) -> str:
    if flow_run.state_type is StateType.PENDING:
        return _wait_again(api, flow_run)
    end = Crashed(message=f"its process is gone; the worker '{worker}' saw that when it started")
    close_flow_run(api, flow_run, end)
    return f"{flow_run.name} had lost its process, and has crashed"


def reschedule_forgotten(api: SyncPrefectClient, pool: str, before: datetime) -> list[str]:
    """Let flow runs wait again that a worker took and died with, before it could say so.

    A flow run has no worker's name only for a moment between being taken and being begun.

    Args:
        before: Those that were taken before that time, with its zone.
    """
    return [
        _wait_again(api, flow_run)
        for flow_run in busy_flow_runs(api, pool)
        if flow_run.state_type is StateType.PENDING
        and _WORKER not in flow_run.labels
        and flow_run.state is not None
        and flow_run.state.timestamp < before
    ]


def _wait_again(api: SyncPrefectClient, flow_run: FlowRun) -> str:
    message = "its worker died before it began; it waits for another one"
    api.set_flow_run_state(flow_run.id, Scheduled(message=message), force=True)
    return f"{flow_run.name} had lost its worker before it began, and waits again"
