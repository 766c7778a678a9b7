"""The testbeds of a work pool, and a suite's child flow runs there, as the server has them."""

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.filters import FlowFilter, WorkPoolFilter
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import DeploymentResponse
from prefect.states import Cancelled, Crashed

from benchyard.case.testbeds import Testbed
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.suite.turn_records import Place
from tasks.pools import close_flow_run, close_open, flow_runs, online_workers
from tasks.prefect_internals import each_of, our_client

FLOW = "execute-case"
#: Prefix of the Prefect variables in which the workers of a lab describe their hosts.
PREFIX = "benchyard_testbed_"
#: The deployment to take where a pool has several.
_PREFERRED = "testbed"

logger = logging.getLogger(__name__)


def deployment_of(client: SyncPrefectClient, pool: str) -> DeploymentResponse:
    """Return the deployment of ``execute-case`` in a pool.

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
    return min(found, key=lambda one: (one.name != _PREFERRED, one.name))


def offer(client: SyncPrefectClient, deployment: UUID, case: str) -> None:
    """Add a case to the choices in a deployment's parameter schema.

    The choices are the cases that were there at the deploy; Prefect refuses any other.
    """
    schema = client.read_deployment(deployment).parameter_openapi_schema or {}
    known: list[str] = schema.get("properties", {}).get("case", {}).get("enum", [])
    if known and case not in known:
        known.append(case)
        client.update_deployment(deployment, DeploymentUpdate(parameter_openapi_schema=schema))


def testbeds_of(client: SyncPrefectClient, pool: str) -> tuple[list[Place], list[Place]]:
    """Return the testbeds of a pool whose worker is online, and those whose worker is offline.

    Testbeds whose queue is paused are in neither. If none is online, and no testbed is described or
    a worker without a description is online, one place without a name stands for the default queue.
    """
    queues = each_of(partial(client.read_work_queues, work_pool_name=pool))
    paused = {queue.name: queue.is_paused for queue in queues}
    online = online_workers(client, pool)
    ours = [place for place in map(_place, _descriptions(client)) if place.queue in paused]
    working = [place for place in ours if not paused[str(place.queue)]]
    there = [place for place in working if place.name in online]
    if not there and (not ours or online - {place.name for place in ours}):
        there = [Place("", Testbed(""))]
    return there, [place for place in working if place.name not in online]


def _descriptions(client: SyncPrefectClient) -> Iterator[dict[str, Json]]:
    """Yield how testbeds describe themselves; ``read_variables`` takes no filter and no page."""

    def ask(**page: int) -> list[dict[str, Any]]:
        question = {"variables": {"name": {"like_": PREFIX}}, **page}
        return client.request("POST", "/variables/filter", json=question).json()

    for variable in each_of(ask):
        if variable["name"].startswith(PREFIX) and isinstance(variable["value"], dict):
            yield variable["value"]


def _place(description: Mapping[str, Json]) -> Place:
    """Return a testbed as a place, which has the name of its worker."""
    queue = str(description.get("queue"))
    return Place(str(description.get("name") or queue), Testbed.from_json(description), queue)


def close_children(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ARG001
    """End the child flow runs of a suite that crashed or was cancelled; a hook of Prefect's.

    Those that wait for a testbed are cancelled, those of the suite's own process end as it did. A
    case that a testbed executes goes on: what it finishes is kept. The hook must not fail, whatever
    the server does.
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
    """Cancel the child flow runs of a suite that wait for a testbed."""
    for child in _children(client, suite):
        if child.state and child.state.is_scheduled() and child.deployment_id is not None:
            cancel(client, child.id, why)


def cancel(client: SyncPrefectClient, flow_run: UUID, why: str) -> None:
    """Set a flow run that no process executes to Cancelled."""
    client.set_flow_run_state(flow_run, Cancelled(message=why), force=True)


def _children(client: SyncPrefectClient, suite: UUID) -> list[FlowRun]:
    """Return the child flow runs that have not ended."""
    states = {"type": {"any_": ["SCHEDULED", "PENDING", "RUNNING", "PAUSED"]}}
    return flow_runs(client, parent_flow_run_id={"any_": [suite]}, state=states)
