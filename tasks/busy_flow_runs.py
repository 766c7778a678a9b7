"""Flow runs that some process should be busy with, as the server knows them."""

from datetime import datetime, timedelta
from functools import partial

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectNotFound

from benchyard.core.quantity import moment
from tasks.prefect_internals import each_of

#: States that last only while a process works on them.
BUSY = (StateType.RUNNING, StateType.PENDING, StateType.CANCELLING)
#: A worker that is gone for so long does not come back to its flow run.
_LOST = timedelta(minutes=5)
#: A flow run of a command line tells nobody where it is executed; few take longer than that.
_LONG = timedelta(days=2)


def busy_flow_runs(api: SyncPrefectClient, pool: str | None = None) -> list[FlowRun]:
    """Return all flow runs that are pending, running or being cancelled.

    Args:
        pool: Only those of this work pool.
    """
    of_pool = WorkPoolFilter(name=WorkPoolFilterName(any_=[pool])) if pool else None
    busy = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(BUSY))))
    return [*each_of(partial(api.read_flow_runs, flow_run_filter=busy, work_pool_filter=of_pool))]


def stuck_flow_runs(api: SyncPrefectClient, now: datetime) -> list[str]:
    """Say of each flow run that nobody seems to execute what it is and since when.

    Args:
        now: This moment, with its time zone.
    """
    online: dict[str, set[str]] = {}
    return [
        f"{flow_run.name} ({flow_run.id}) is {flow_run.state_name} since {moment(since)}, and {why}"
        for flow_run in busy_flow_runs(api)
        if (since := _since(flow_run)) and (why := _why_stuck(api, flow_run, now - since, online))
    ]


def _since(flow_run: FlowRun) -> datetime | None:
    return flow_run.state.timestamp if flow_run.state else None


def _why_stuck(
    api: SyncPrefectClient, flow_run: FlowRun, age: timedelta, online: dict[str, set[str]]
) -> str | None:
    pool = flow_run.work_pool_name
    worker = flow_run.labels.get("prefect.worker.name")
    if pool is None or worker is None:
        return "no worker has it; cancel it if nobody executes it" if age > _LONG else None
    if pool not in online:
        online[pool] = online_workers(api, pool)
    gone = age > _LOST and worker not in online[pool]
    return (
        f"its worker '{worker}' is gone; set it to crashed, or start the worker" if gone else None
    )


def online_workers(api: SyncPrefectClient, pool: str) -> set[str]:
    """Return the names of the workers of a pool that Prefect holds for alive.

    It does so until three heartbeats are missed, one each 30 s.
    """
    try:
        workers = api.read_workers_for_work_pool(pool)
    except ObjectNotFound:
        return set()
    return {worker.name for worker in workers if worker.status == "ONLINE"}
