"""What Prefect knows of the testbeds of a pool, and of the flow runs that a suite began there."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from uuid import UUID

from prefect import Flow, State
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.filters import FlowFilter, FlowRunFilter, WorkPoolFilter
from prefect.client.schemas.objects import FlowRun, Variable
from prefect.client.schemas.responses import DeploymentResponse
from prefect.states import Cancelled, Crashed

from benchyard.case.testbeds import told_testbed
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


def offer(client: SyncPrefectClient, deployment: DeploymentResponse, cases: Sequence[str]) -> None:
    """Let a deployment take cases that were not there yet when it was made.

    Its form offers the cases known then, and Prefect refuses any other.
    """
    present = client.read_deployment(deployment.id)
    schema = present.parameter_openapi_schema or {}
    case: dict[str, Any] = schema.get("properties", {}).get("case", {})
    known: list[str] = case.get("enum", [])
    new = [name for name in dict.fromkeys(cases) if name not in set(known)]
    if known and new:
        case["enum"] = [*known, *new]
        client.update_deployment(present.id, DeploymentUpdate(parameter_openapi_schema=schema))


def takes(deployment: DeploymentResponse, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those parameters that a deployment knows; an older one knows fewer."""
    schema = deployment.parameter_openapi_schema or {}
    known = schema.get("properties", parameters)
    return {name: value for name, value in parameters.items() if name in known}


@dataclass(frozen=True, slots=True)
class Testbeds:
    """The testbeds that workers of a pool have told of.

    Args:
        there: Those that take work.
        dead: Those whose worker Prefect holds for offline.
        untold: Whether a worker may be there that told nothing of itself.
    """

    __test__ = False  # keeps pytest from collecting a class that is named Test…

    there: Sequence[Place] = ()
    dead: Sequence[Place] = ()
    untold: bool = False


def testbeds_of(client: SyncPrefectClient, pool: str) -> Testbeds:
    """Return the testbeds of a pool, by what their workers told and whether these live."""
    queues = each_of(partial(client.read_work_queues, work_pool_name=pool))
    takes_work = {queue.name: not queue.is_paused for queue in queues}
    online = online_workers(client, pool)
    told = [
        cast("dict[str, Json]", variable.value)
        for variable in each_of(partial(_variables_of_testbeds, client))
        if variable.name.startswith(PREFIX) and isinstance(variable.value, dict)
    ]
    ours = [_place(one) for one in told if one.get("queue") in takes_work]
    open_ones = [place for place in ours if takes_work[str(place.queue)]]
    return Testbeds(
        [place for place in open_ones if place.name in online],
        [place for place in open_ones if place.name not in online],
        untold=not ours or bool(online - {place.name for place in ours}),
    )


def _variables_of_testbeds(
    client: SyncPrefectClient, *, limit: int, offset: int
) -> Sequence[Variable]:
    """Return one page; Prefect's own ``read_variables`` knows neither names nor an offset."""
    ours = {"name": {"like_": PREFIX}}
    question = {"variables": ours, "limit": limit, "offset": offset}
    answer = client.request("POST", "/variables/filter", json=question)
    return [Variable.model_validate(one) for one in answer.json()]


def _place(told: Mapping[str, Json]) -> Place:
    """Return a testbed as a place; its worker has its name."""
    return Place(str(told.get("name") or told["queue"]), told_testbed(told), str(told["queue"]))


logger = logging.getLogger(__name__)

_OPEN = ["SCHEDULED", "PENDING", "RUNNING", "PAUSED"]


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
            close_flow_run(client, child, end)


def _children(client: SyncPrefectClient, suite: UUID) -> list[FlowRun]:
    """Return the children that have not ended."""
    chosen = FlowRunFilter.model_validate(
        {"parent_flow_run_id": {"any_": [suite]}, "state": {"type": {"any_": _OPEN}}}
    )
    return [*each_of(partial(client.read_flow_runs, flow_run_filter=chosen))]
