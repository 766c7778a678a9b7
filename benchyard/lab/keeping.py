"""Keep what a user set of a deployment when the file that declares it is deployed again.

A digest of everything that the last deploy wrote is kept in a variable of Prefect's, one for each
deployment. What differs from it since, was set by somebody, in the UI or otherwise; all else is
what the file says now.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentScheduleCreate, DeploymentUpdate
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse

from benchyard.core.model import Json
from benchyard.lab.api import put_variable

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
    """Let a deployment be as it is to be."""
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
