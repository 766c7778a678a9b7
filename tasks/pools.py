"""Pools, their workers, and the flow runs that these should be busy with; and the end of them.

Prefect leaves what a killed process worked on Running for ever, task runs included.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.filters import FlowRunFilter, WorkPoolFilter
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.states import Cancelled, Crashed, Scheduled

from benchyard.core.quantity import moment
from tasks.names import CONTROL, TESTBEDS
from tasks.prefect_internals import each_of, our_client

logger = logging.getLogger(__name__)

#: A worker that is gone for so long does not come back to its flow run.
_LOST = timedelta(minutes=5)
#: The server does not know which host executes a command's flow run; few take longer than that.
_LONG = timedelta(days=2)

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


# -- flow runs


def flow_runs(api: SyncPrefectClient, pool: str | None = None, **chosen: Any) -> list[FlowRun]:
    """Return all flow runs that meet a filter.

    Args:
        pool: Only those of this work pool.
        chosen: Fields of Prefect's ``FlowRunFilter``.
    """
    of_pool = WorkPoolFilter.model_validate({"name": {"any_": [pool]}}) if pool else None
    which = FlowRunFilter.model_validate(chosen)
    return [*each_of(partial(api.read_flow_runs, flow_run_filter=which, work_pool_filter=of_pool))]


def busy_flow_runs(api: SyncPrefectClient, pool: str | None = None) -> list[FlowRun]:
    """Return all flow runs, of a pool or of all, that are pending, running or being cancelled."""
    return flow_runs(api, pool, state={"type": {"any_": ["RUNNING", "PENDING", "CANCELLING"]}})


def stuck_flow_runs(api: SyncPrefectClient, now: datetime) -> list[str]:
    """Describe each flow run that seems to have no process: its name, state, and since when.

    Args:
        now: This moment, with its time zone.
    """
    busy = busy_flow_runs(api)
    pools = {one.work_pool_name for one in busy if one.work_pool_name}
    online = {pool: online_workers(api, pool) for pool in pools}
    return [
        f"{one.name} ({one.id}) is {one.state_name} since {moment(one.state.timestamp)}, and {why}"
        for one in busy
        if one.state and (why := _why_stuck(one, now - one.state.timestamp, online))
    ]


def _why_stuck(
    flow_run: FlowRun, age: timedelta, online: Mapping[str, Collection[str]]
) -> str | None:
    pool, worker = flow_run.work_pool_name, flow_run.labels.get(_WORKER)
    if pool is None or worker is None:
        return "no worker has it; cancel it if nobody executes it" if age > _LONG else None
    if age <= _LOST or worker in online[pool]:
        return None
    return f"its worker '{worker}' is gone; set it to crashed, or start the worker"


def online_workers(api: SyncPrefectClient, pool: str) -> set[str]:
    """Return the names of the workers of a pool that Prefect holds for alive.

    It does so until three heartbeats are missed, one each 30 s.
    """
    try:
        workers = api.read_workers_for_work_pool(pool)
    except ObjectNotFound:
        return set()
    return {worker.name for worker in workers if worker.status == "ONLINE"}


# -- their end


def close_flow_run(api: SyncPrefectClient, flow_run: FlowRun, end: State[Any]) -> None:
    """Let a flow run whose process is gone end, unless it has, and its task runs with it."""
    if flow_run.state is None or not flow_run.state.is_final():
        api.set_flow_run_state(flow_run.id, end, force=True)
    close_open(api, flow_run, end)


def close_open(api: SyncPrefectClient, flow_run: FlowRun, end: State[Any]) -> None:
    """Let the open task runs of a flow run end as it did."""
    make_end = Crashed if end.is_crashed() else Cancelled
    message = f"the flow run ended as {end.name}: {end.message or 'no reason was told'}"
    chosen = FlowRunFilter.model_validate({"id": {"any_": [flow_run.id]}})
    for task_run in [*each_of(partial(api.read_task_runs, flow_run_filter=chosen))]:
        if task_run.state is None or not task_run.state.is_final():
            api.set_task_run_state(task_run.id, make_end(message=message), force=True)


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


def close_task_runs(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Let the open task runs of a crashed or cancelled flow run end as it did.

    A hook of Prefect's, called in a process of its own or in the last moment of the flow's; it
    must not fail, whatever the server does. Prefect passes the arguments by these names.
    """
    del flow
    try:
        with our_client() as api:
            close_open(api, flow_run, state)
    except Exception:
        logger.debug("could not close the task runs of %s", flow_run.name, exc_info=True)
