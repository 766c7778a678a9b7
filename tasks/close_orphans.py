"""What a flow run leaves at the server when it is killed: task runs that seem to go on."""

import logging
from typing import Any

from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.client.schemas.objects import FlowRun, TaskRun
from prefect.states import Cancelled, Crashed

from tasks.shared_client import our_client

logger = logging.getLogger(__name__)

#: The server gives at most so many at once.
_PAGE = 200


def close_task_runs(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Give each open task run of a crashed or cancelled flow run the end that it had.

    A hook of Prefect's, called in a process of its own or in the last moment of the flow's; it
    must not fail, whatever the server does. Prefect passes the arguments by these names.
    """
    del flow
    try:
        with our_client() as client:
            close_open(client, flow_run, state)
    except Exception:
        logger.debug("could not close the task runs of %s", flow_run.name, exc_info=True)


def close_open(client: SyncPrefectClient, flow_run: FlowRun, state: State[Any]) -> list[str]:
    """Close the open task runs of a flow run and return their names."""
    make_end = Crashed if state.is_crashed() else Cancelled
    message = f"the flow run ended as {state.name}: {state.message or 'no reason was told'}"
    found = [task for task in _task_runs(client, flow_run) if _is_open(task)]
    for task in found:
        client.set_task_run_state(task.id, make_end(message=message), force=True)
    return [task.name for task in found]


def _task_runs(client: SyncPrefectClient, flow_run: FlowRun) -> list[TaskRun]:
    chosen = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run.id]))
    found: list[TaskRun] = []
    while True:
        page = client.read_task_runs(flow_run_filter=chosen, limit=_PAGE, offset=len(found))
        found += page
        if len(page) < _PAGE:
            return found


def _is_open(task: TaskRun) -> bool:
    return task.state is None or not task.state.is_final()
