"""What Prefect knows of the testbeds of a pool, and of what can be executed there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import Variable
from prefect.client.schemas.responses import DeploymentResponse

from benchyard.case.testbeds import told_testbed
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.suite.turn_records import Place
from tasks.busy_flow_runs import online_workers
from tasks.shared_client import each_of

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
        flow_filter=FlowFilter(name=FlowFilterName(any_=[FLOW])),
        work_pool_filter=WorkPoolFilter(name=WorkPoolFilterName(any_=[pool])),
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
