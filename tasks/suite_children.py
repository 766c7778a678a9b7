"""The flow runs that a suite has begun, when the suite itself ends before they do."""

import logging
from functools import partial
from typing import Any
from uuid import UUID

from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterParentFlowRunId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.states import Cancelled, Crashed

from tasks.orphans import close_open
from tasks.shared_client import each_of, our_client

logger = logging.getLogger(__name__)

_OPEN = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING, StateType.PAUSED]


def close_children(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001
    """Cancel what waits for a testbed, and close what was executed in the suite's own process.

    A case that a testbed is busy with goes on: what it finishes is kept. A hook of Prefect's, for
    a suite that crashed or was cancelled; it must not fail, whatever the server does.
    """
    try:
        with our_client() as client:
            cancel_waiting(client, flow_run.id, f"its suite ended as {state.name}")
            _close_own(client, flow_run, state)
            close_open(client, flow_run, state)
    except Exception:
        logger.debug("could not close the children of %s", flow_run.name, exc_info=True)


def cancel_waiting(client: SyncPrefectClient, suite: UUID, why: str) -> list[str]:
    """Cancel the children of a suite that wait for a testbed; return their names."""
    waiting = [child for child in _children(client, suite) if is_waiting(child)]
    for child in waiting:
        cancel(client, child.id, why)
    return [child.name for child in waiting]


def cancel(client: SyncPrefectClient, flow_run: UUID, why: str) -> None:
    """Let a flow run that nobody executes end as cancelled."""
    client.set_flow_run_state(flow_run, Cancelled(message=why), force=True)


def is_waiting(flow_run: FlowRun) -> bool:
    """Tell whether a flow run waits for a worker."""
    is_scheduled = flow_run.state is not None and flow_run.state.is_scheduled()
    return is_scheduled and flow_run.deployment_id is not None


def _close_own(client: SyncPrefectClient, suite: FlowRun, state: State[Any]) -> None:
    """Close the children that had no process of their own."""
    make_end = Crashed if state.is_crashed() else Cancelled
    end = make_end(message=f"its suite ended as {state.name}")
    for child in _children(client, suite.id):
        if child.deployment_id is None:
            client.set_flow_run_state(child.id, end, force=True)
            close_open(client, child, end)


def _children(client: SyncPrefectClient, suite: UUID) -> list[FlowRun]:
    """Return the children that have not ended."""
    chosen = FlowRunFilter(
        parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[suite]),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=_OPEN)),
    )
    return [*each_of(partial(client.read_flow_runs, flow_run_filter=chosen))]
