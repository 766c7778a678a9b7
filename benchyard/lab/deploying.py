"""Bring pools, deployments and the choice of cases to the server; as often as one likes."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import yaml
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.responses import DeploymentResponse
from prefect.settings import get_current_settings

from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.model import JsonObject
from benchyard.lab import api
from benchyard.lab.api import Merged, Values, merge, put_back, remember, remembered, values_of
from benchyard.lab.checkout import SOURCE
from tasks.names import SERVER
from tasks.parameters import choices, with_choices
from tasks.prefect_internals import each_of, our_client

PREFECT_YAML = "prefect.yaml"
#: Seconds that Prefect gets to deploy; it took 4 to 8 s on two busy cores.
_DEPLOY_SECONDS = 180.0
#: Prefect's command line, which the current folder does not configure.
_PREFECT = """
import sys
sys.path.append(sys.argv.pop(1))
import flows
from prefect.cli import app
app()
"""

_CASE = ("parameters", "case")


@dataclass(frozen=True, slots=True)
class Deployed:
    """One deployment at the server.

    Args:
        name: Flow and deployment, as Prefect's command line takes it.
        page: Its page in the UI.
        schedules: What each of its schedules is called, and whether it is active.
        kept: What was set before and is not as the file says, in words.
    """

    name: str
    page: str
    schedules: Mapping[str, bool]
    kept: Sequence[str] = ()

    def to_json(self) -> JsonObject:
        """Return it as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Offered:
    """What the server offers now.

    Args:
        deployments: All of the file's.
        cases: That can be chosen.
    """

    deployments: Sequence[Deployed]
    cases: Sequence[str]

    def kept(self) -> str:
        """Say what was set before and stays; empty if nothing was."""
        told = [f"{one.name} ({', '.join(one.kept)})" for one in self.deployments if one.kept]
        return f"kept as it was set: {'; '.join(told)}" if told else ""


def deploy(file: Path, root: Path | None = None, resource_folders: Sequence[Path] = ()) -> Offered:
    """Make the pools, deploy everything in a file, and offer the cases found now.

    What somebody set in the UI stays: parameters, schedules, tags, descriptions.

    Args:
        file: The ``prefect.yaml``; flow runs work in its folder.
        root: Where cases are looked for; None for what was set before, else what the file says.
        resource_folders: Further resource classes; empty for the same.

    Raises:
        InputError: If the file is not there, or there is no folder ``root``.
        BenchyardError: If Prefect refuses it.
    """
    wanted = declared(file)
    with our_client() as client:
        api.ensure_pools(client)
        before = {one.id: values_of(one) for one in _found(client, wanted)}
        try:
            _deploy_all(file)
        except BaseException:
            with suppress(Exception):
                _restore(client, _found(client, wanted), before)
            raise
        written = _found(client, wanted)
        merged = _restore(client, written, before)
        cases = _offer(client, _found(client, wanted), file.parent, root, resource_folders)
        found = _found(client, wanted)
        _remember(client, written, found, merged)
        return Offered([_told(client, one, merged[one.id].kept) for one in found], cases)


def declared(file: Path) -> set[tuple[str, str]]:
    """Return entry point and name of each deployment that a file declares.

    Raises:
        InputError: If the file is not there, or declares none.
    """
    if not file.is_file():
        raise InputError(
            f"there is no file '{file}'; go to the checkout of Benchyard, or name its "
            f"{PREFECT_YAML} with --prefect-yaml"
        )
    try:
        document = cast("dict[str, Any]", yaml.safe_load(file.read_text(encoding="utf-8")))
        declared = cast("list[dict[str, str]]", document["deployments"])
        return {(one["entrypoint"], one["name"]) for one in declared}
    except (yaml.YAMLError, UnicodeError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"'{file}' declares no deployments as Prefect has them: {reason}"
        ) from None


def _found(client: SyncPrefectClient, wanted: set[tuple[str, str]]) -> list[DeploymentResponse]:
    """Return the deployments of the file that are at the server."""
    found = each_of(client.read_deployments)
    return [one for one in found if (one.entrypoint or "", one.name) in wanted]


def _deploy_all(file: Path) -> None:
    """Let Prefect deploy everything in a file, in a process of its own as its users do."""
    command = [sys.executable, "-P", "-c", _PREFECT, str(SOURCE)]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    url = get_current_settings().api.url
    if url:
        environment[SERVER] = url
    try:
        ended = subprocess.run(
            [*command, "--no-prompt", "deploy", "--all", "--prefect-file", file.name],
            cwd=file.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEPLOY_SECONDS,
            check=False,
            encoding="utf-8",
        )
    except subprocess.TimeoutExpired:
        raise BenchyardError(
            f"Prefect did not deploy {file} within {_DEPLOY_SECONDS:.0f} s; is its server well?"
        ) from None
    if ended.returncode:
        said = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
        reason = " ".join(" ".join(said[-6:]).split())
        raise BenchyardError(f"Prefect could not deploy {file}: {reason}")


def _restore(
    client: SyncPrefectClient, written: Sequence[DeploymentResponse], before: Mapping[UUID, Values]
) -> dict[UUID, Merged]:
    """Put back what somebody had set; return how each deployment is now."""
    merged: dict[UUID, Merged] = {}
    for one in written:
        values = values_of(one)
        merged[one.id] = Merged(values)
        if one.id in before:
            merged[one.id] = merge(before[one.id], remembered(client, one.id), values)
            put_back(client, one, merged[one.id].values)
    return merged


def _remember(
    client: SyncPrefectClient,
    written: Sequence[DeploymentResponse],
    found: Sequence[DeploymentResponse],
    merged: Mapping[UUID, Merged],
) -> None:
    """Keep what this deploy wrote; a case that was chosen for want of the wanted one is ours."""
    now = {one.id: values_of(one) for one in found}
    for one in written:
        values, is_now = values_of(one), now.get(one.id, {})
        if _CASE in is_now and is_now[_CASE] != merged[one.id].values.get(_CASE):
            values[_CASE] = is_now[_CASE]
        remember(client, one.id, values)


def _offer(
    client: SyncPrefectClient,
    found: Sequence[DeploymentResponse],
    checkout: Path,
    root: Path | None,
    resource_folders: Sequence[Path],
) -> list[str]:
    """Let the forms offer the cases that are there now; return these."""
    offered: list[str] = []
    for deployment in found:
        schema = deployment.parameter_openapi_schema or {}
        known = cast("dict[str, Any]", schema.get("properties", {}))
        parameters = dict(deployment.parameters)
        if "root" in known and root is not None:
            parameters["root"] = _below(checkout, root)
        if "resources" in known and resource_folders:
            parameters["resources"] = [_below(checkout, folder) for folder in resource_folders]
        if "case" in known:
            place = checkout / str(parameters.get("root", "."))
            given = cast("list[str]", parameters.get("resources") or [])
            offered = choices(place, checkout, [checkout / folder for folder in given])
            schema = with_choices(schema, offered)
            if offered and parameters.get("case") not in offered:
                parameters["case"] = offered[0]
        changed = DeploymentUpdate(parameter_openapi_schema=schema, parameters=parameters)
        client.update_deployment(deployment.id, changed)
    return offered


def _below(checkout: Path, folder: Path) -> str:
    """Write a folder as flow runs find it: below the checkout where it is there, else absolute."""
    place, base = folder.resolve(), checkout.resolve()
    return str(place.relative_to(base)) if place.is_relative_to(base) else str(place)


def _told(
    client: SyncPrefectClient, deployment: DeploymentResponse, kept: Sequence[str]
) -> Deployed:
    flow = client.read_flow(deployment.flow_id).name
    page = f"{get_current_settings().ui_url}/deployments/deployment/{deployment.id}"
    schedules = {schedule.slug or "": schedule.active for schedule in deployment.schedules}
    return Deployed(f"{flow}/{deployment.name}", page, schedules, kept)
