"""What a lab asks of Prefect's API: pools, queues, testbeds, and the end of flow runs.

What a user set of a deployment is kept when the file that declares it is deployed again: a digest
of everything that the last deploy wrote lies in a variable of Prefect's, one for each deployment.
What differs from it since, was set by somebody, in the UI or otherwise; all else is what the file
says now.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import (
    DeploymentScheduleCreate,
    DeploymentUpdate,
    VariableCreate,
    VariableUpdate,
    WorkPoolCreate,
)
from prefect.client.schemas.objects import DeploymentSchedule, FlowRun, StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.states import Cancelled, Cancelling, Crashed, Scheduled

from benchyard.core.model import Json, JsonObject
from tasks.busy_flow_runs import busy_flow_runs, close_flow_run
from tasks.names import CONTROL, TESTBEDS, variable_of

#: The label that a worker puts on a flow run which it is about to begin.
_WORKER = "prefect.worker.name"
_POOLS = {
    TESTBEDS: "Flow runs that measure: one at a time on each testbed.",
    CONTROL: "Suites, publishing and housekeeping: nothing here measures.",
}


def ensure_pools(api: SyncPrefectClient) -> None:
    """Make the two pools unless they are there."""
    for name, description in _POOLS.items():
        try:
            api.read_work_pool(name)
        except ObjectNotFound:
            pool = WorkPoolCreate(name=name, type="process", description=description)
            with suppress(ObjectAlreadyExists):  # somebody else was quicker
                api.create_work_pool(pool)


def ensure_queue(api: SyncPrefectClient, name: str) -> None:
    """Make a testbed's queue, with a limit of one flow run, unless it is there."""
    try:
        api.read_work_queue_by_name(name, work_pool_name=TESTBEDS)
    except ObjectNotFound:
        words = f"Flow runs for the testbed {name} alone."
        with suppress(ObjectAlreadyExists):  # somebody else was quicker
            api.create_work_queue(
                name, description=words, concurrency_limit=1, work_pool_name=TESTBEDS
            )


def put_variable(api: SyncPrefectClient, name: str, value: JsonObject) -> None:
    """Keep a value in a variable of Prefect's, whether that is there or not."""
    if api.read_variable_by_name(name) is None:
        api.create_variable(VariableCreate(name=name, value=value, tags=["benchyard"]))
    else:
        api.update_variable(VariableUpdate(name=name, value=value, tags=["benchyard"]))


def forget_testbed(api: SyncPrefectClient, testbed: str) -> None:
    """Remove what was told of a testbed: it takes no work any more."""
    with suppress(ObjectNotFound):
        api.delete_variable_by_name(variable_of(testbed))


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


def ask_to_cancel(api: SyncPrefectClient, flow_run: str, message: str) -> None:
    """Ask for the end of a flow run as the UI does: its worker then ends it."""
    api.set_flow_run_state(UUID(flow_run), Cancelling(message=message), force=True)


def end_as_cancelled(api: SyncPrefectClient, flow_run: str, message: str) -> None:
    """Let a flow run whose process is gone end as cancelled, unless it has ended."""
    close_flow_run(api, api.read_flow_run(UUID(flow_run)), Cancelled(message=message))


#: Where a value stands in a deployment, such as ("schedules", "nightly", "active"), to the value.
Values = dict[tuple[str, ...], Json]

_VARIABLE = "benchyard_deployed_"
_PARAMETERS, _SCHEDULES = "parameters", "schedules"
#: What there is of a schedule; without the first there is none.
_PARTS = ("schedule", "active", "parameters", "max_scheduled_runs")
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Merged:
    """A deployment as it is to be.

    Args:
        values: All of what may be set.
        kept: What of it is not as the file says, in words.
    """

    values: Values
    kept: tuple[str, ...] = ()


def values_of(deployment: DeploymentResponse) -> Values:
    """Return what somebody may set of a deployment."""
    values: Values = {
        ("description",): deployment.description,
        ("tags",): list[Json](sorted(deployment.tags)),
    }
    values |= {(_PARAMETERS, name): value for name, value in deployment.parameters.items()}
    for schedule in deployment.schedules:
        parts = _parts(schedule)
        values |= {(_SCHEDULES, _name_of(schedule), part): parts[part] for part in _PARTS}
    return values


def remembered(client: SyncPrefectClient, deployment: UUID) -> dict[str, str] | None:
    """Return the digests of what the last deploy wrote; None if nobody knows."""
    variable = client.read_variable_by_name(f"{_VARIABLE}{deployment}")
    return cast("dict[str, str]", variable.value) if variable else None


def remember(client: SyncPrefectClient, deployment: UUID, written: Values) -> None:
    """Keep the digests of what a deploy wrote."""
    told: dict[str, Json] = {**digests(written)}
    put_variable(client, f"{_VARIABLE}{deployment}", told)


def digests(written: Values) -> dict[str, str]:
    """Return what is remembered of values."""
    return {_text(path): _digest(value) for path, value in written.items()}


def merge(before: Values, last: Mapping[str, str] | None, written: Values) -> Merged:
    """Put together what somebody set and what the file says.

    Args:
        before: What there was before the deploy.
        last: Digests of what the deploy before this one wrote. Where nobody knows, what is not as
            the file says was set by somebody.
        written: What the deploy wrote.
    """
    if last is None:
        last = digests({path: written[path] for path in before if path in written})
    paths = {**before, **written}
    is_set = {path for path in paths if _digest_at(before, path) != last.get(_text(path))}
    values: Values = {}
    for path in paths:
        source = before if path in is_set else written
        if path in source:
            values[path] = source[path]
    for path in before:
        # Of a schedule of which somebody set a part, the file takes away no other part.
        if path[0] == _SCHEDULES and any(one[:2] == path[:2] for one in is_set):
            values.setdefault(path, before[path])
    changed = [
        one
        for one in paths
        if one in is_set and _digest_at(before, one) != _digest_at(written, one)
    ]
    return Merged(values, tuple(dict.fromkeys(_words(one) for one in changed)))


def put_back(client: SyncPrefectClient, deployment: DeploymentResponse, values: Values) -> None:
    """Give a deployment these values where it has others."""
    if values_of(deployment) == values:
        return
    update = DeploymentUpdate(
        description=cast("str | None", values.get(("description",))),
        tags=cast("list[str]", values.get(("tags",), [])),
        parameters=_parameters(values, deployment),
    )
    client.update_deployment(deployment.id, update)
    wanted = dict(_schedules(values))
    there = {_name_of(schedule): schedule for schedule in deployment.schedules}
    for name, schedule in wanted.items():
        old = there.get(name)
        if old is None:
            client.create_deployment_schedules(deployment.id, [schedule])
        elif _parts(old) != {part: values.get((_SCHEDULES, name, part)) for part in _PARTS}:
            client.update_deployment_schedule(
                deployment.id,
                old.id,
                active=schedule.active,
                schedule=schedule.schedule,
                parameters=schedule.parameters,
                max_scheduled_runs=schedule.max_scheduled_runs,
            )
    for name, schedule in there.items():
        if name not in wanted:
            client.delete_deployment_schedule(deployment.id, schedule.id)


def _parameters(values: Values, deployment: DeploymentResponse) -> dict[str, Any]:
    """Return the parameters that the flow still has: with another one it would not begin."""
    given = {path[1]: value for path, value in values.items() if path[0] == _PARAMETERS}
    known = (deployment.parameter_openapi_schema or {}).get("properties") or given
    return {name: value for name, value in given.items() if name in known}


def _schedules(values: Values) -> Iterator[tuple[str, DeploymentScheduleCreate]]:
    for name in dict.fromkeys(path[1] for path in values if path[0] == _SCHEDULES):
        parts = {part: values.get((_SCHEDULES, name, part)) for part in _PARTS}
        if parts["schedule"] is not None:
            given = {part: value for part, value in parts.items() if value is not None}
            slug = None if name.startswith("#") else name
            yield name, DeploymentScheduleCreate.model_validate({**given, "slug": slug})


def _parts(schedule: DeploymentSchedule) -> dict[str, Json]:
    return schedule.model_dump(mode="json", include=set(_PARTS))


def _name_of(schedule: DeploymentSchedule) -> str:
    """Return the slug; without one a schedule is known by its times and its parameters."""
    if schedule.slug:
        return schedule.slug
    parts = _parts(schedule)
    return f"#{_digest([parts['schedule'], parts['parameters']])}"


def _digest_at(values: Values, path: tuple[str, ...]) -> str | None:
    return _digest(values[path]) if path in values else None


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _text(path: tuple[str, ...]) -> str:
    return "/".join(path)


def _words(path: tuple[str, ...]) -> str:
    """Name what stands at a place: "tags", "parameter runs", "schedule nightly"."""
    kind, *rest = path
    name = rest[0] if rest else ""
    return f"{kind.removesuffix('s')} {name}" if name and name[0] != "#" else kind
