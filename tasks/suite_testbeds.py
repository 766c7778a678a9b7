"""What Prefect knows of the testbeds of a pool, and of the flow runs that a suite began there."""

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter, WorkPoolFilter
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import DeploymentResponse
from prefect.states import Cancelled, Crashed

from benchyard.case.testbeds import Testbed, told_testbed
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.suite.turn_records import Place
from tasks.busy_flow_runs import close_flow_run, close_open, online_workers
from tasks.prefect_internals import each_of, our_client

FLOW = "execute-case"
#: Prefect's variables in which the workers of a lab tell what their hosts are.
PREFIX = "benchyard_testbed_"
#: The deployment to take where a pool has several.
_USUAL = "testbed"

logger = logging.getLogger(__name__)


def deployment_of(client: SyncPrefectClient, pool: str) -> DeploymentResponse:
    """Return what executes a case on the testbeds of a pool.

    Raises:
        InputError: If there is none.
    """
    found = client.read_deployments(
        flow_filter=FlowFilter.model_validate({"name": {"any_": [FLOW]}}),
        work_pool_filter=WorkPoolFilter.model_validate({"name": {"any_": [pool]}}),
    )
    if not found:
        raise InputError(
            f"the work pool '{pool}' has no deployment of {FLOW}; benchyard deploy makes one in "
            "the pool testbeds; leave the pool out to execute on this host"
        )
    return min(found, key=lambda one: (one.name != _USUAL, one.name))


def offer(client: SyncPrefectClient, deployment: UUID, case: str) -> None:
    """Let a deployment take a case that was not there yet when it was made.

    Its form offers the cases known then, and Prefect refuses any other.
    """
    schema = client.read_deployment(deployment).parameter_openapi_schema or {}
    known: list[str] = schema.get("properties", {}).get("case", {}).get("enum", [])
    if known and case not in known:
        known.append(case)
        client.update_deployment(deployment, DeploymentUpdate(parameter_openapi_schema=schema))


def testbeds_of(client: SyncPrefectClient, pool: str) -> tuple[list[Place], list[Place]]:
    """Return the testbeds of a pool that take work, and those whose worker is offline.

    Where none takes work, but a worker may be there that told nothing of itself, the default queue
    takes it.
    """
    queues = each_of(partial(client.read_work_queues, work_pool_name=pool))
    paused = {queue.name: queue.is_paused for queue in queues}
    online = online_workers(client, pool)
    ours = [place for place in map(_place, _told(client)) if place.queue in paused]
    working = [place for place in ours if not paused[str(place.queue)]]
    there = [place for place in working if place.name in online]
    if not there and (not ours or online - {place.name for place in ours}):
        there = [Place("", Testbed(""))]
    return there, [place for place in working if place.name not in online]


def _told(client: SyncPrefectClient) -> Iterator[dict[str, Json]]:
    """Yield what testbeds told; Prefect's own ``read_variables`` knows neither names nor pages."""

    def ask(**page: int) -> list[dict[str, Any]]:
        question = {"variables": {"name": {"like_": PREFIX}}, **page}
        return client.request("POST", "/variables/filter", json=question).json()

    for variable in each_of(ask):
        if variable["name"].startswith(PREFIX) and isinstance(variable["value"], dict):
            yield variable["value"]


def _place(told: Mapping[str, Json]) -> Place:
    """Return a testbed as a place; its worker has its name."""
    queue = str(told.get("queue"))
    return Place(str(told.get("name") or queue), told_testbed(told), queue)


def close_children(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001
    """Cancel what waits for a testbed, and close what was executed in the suite's own process.

    A case that a testbed is busy with goes on: what it finishes is kept. A hook of Prefect's, for
    a suite that crashed or was cancelled; it must not fail, whatever the server does.
    """
    why = f"its suite ended as {state.name}"
    end = Crashed(message=why) if state.is_crashed() else Cancelled(message=why)
    try:
        with our_client() as client:
            cancel_waiting(client, flow_run.id, why)
            for child in _children(client, flow_run.id):
                if child.deployment_id is None:  # it had no process of its own
                    close_flow_run(client, child, end)
            close_open(client, flow_run, state)
    except Exception:
        logger.debug("could not close the children of %s", flow_run.name, exc_info=True)


def cancel_waiting(client: SyncPrefectClient, suite: UUID, why: str) -> None:
    """Cancel the children of a suite that wait for a testbed."""
    for child in _children(client, suite):
        if child.state and child.state.is_scheduled() and child.deployment_id is not None:
            cancel(client, child.id, why)


def cancel(client: SyncPrefectClient, flow_run: UUID, why: str) -> None:
    """Let a flow run that nobody executes end as cancelled."""
    client.set_flow_run_state(flow_run, Cancelled(message=why), force=True)


def _children(client: SyncPrefectClient, suite: UUID) -> list[FlowRun]:
    """Return the children that have not ended."""
    open_ones = {
        "parent_flow_run_id": {"any_": [suite]},
        "state": {"type": {"any_": ["SCHEDULED", "PENDING", "RUNNING", "PAUSED"]}},
    }
    chosen = FlowRunFilter.model_validate(open_ones)
    return [*each_of(partial(client.read_flow_runs, flow_run_filter=chosen))]
