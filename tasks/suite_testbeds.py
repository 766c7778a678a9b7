"""What Prefect knows of the testbeds of a pool, and of what can be executed there."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.responses import DeploymentResponse

from benchyard.errors import InputError
from benchyard.model import Json
from benchyard.suite.places import Place
from benchyard.testbeds import told_testbed

FLOW = "execute-case"
#: Prefect's variables in which the workers of a lab tell what their hosts are.
PREFIX = "benchyard_testbed_"
#: The deployment to take where a pool has several.
_USUAL = "testbed"
#: A worker that lives says so every few minutes.
_SILENT = timedelta(minutes=15)
_PAGE = 200


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


def places_of(client: SyncPrefectClient, pool: str, now: datetime | None = None) -> list[Place]:
    """Return the testbeds of a pool whose workers are there and whose queues take work."""
    moment = now or datetime.now(UTC)
    queues = client.read_work_queues(work_pool_name=pool, limit=_PAGE)
    taking = {queue.name for queue in queues if not queue.is_paused}
    told = [
        cast("dict[str, Json]", variable.value)
        for variable in client.read_variables(limit=_PAGE)
        if variable.name.startswith(PREFIX) and isinstance(variable.value, dict)
    ]
    return [
        Place(str(one.get("name") or one["queue"]), told_testbed(one), str(one["queue"]))
        for one in told
        if one.get("queue") in taking and _is_alive(one, moment)
    ]


def _is_alive(told: Mapping[str, Json], now: datetime) -> bool:
    try:
        seen = datetime.fromisoformat(str(told.get("seen")))
    except ValueError:
        return False
    return (seen if seen.tzinfo else seen.replace(tzinfo=UTC)) > now - _SILENT
