"""Bring pools, deployments and the choice of cases to the server; as often as one likes."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, cast

import yaml
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse
from prefect.settings import get_current_settings

import flows
from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.model import JsonObject
from benchyard.lab.checkout import SOURCE
from tasks.names import SERVER
from tasks.parameters import below, choices
from tasks.pools import ensure_pools
from tasks.prefect_internals import each_of, our_client

PREFECT_YAML = "prefect.yaml"
#: What the flows of this installation are deployed by where no checkout is.
_INSTALLED = Path(flows.__file__).with_name(PREFECT_YAML)
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
#: Of a schedule for which the file does not say it.
_SCHEDULE_DEFAULTS: Mapping[str, Any] = {"active": True, "parameters": {}}

#: Entry point and name, which a deployment is known by.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Deployed:
    """One deployment at the server.

    Args:
        name: Flow and deployment, as Prefect's command line takes it.
        page: Its page in the UI.
        schedules: What each of its schedules is called, and whether it is active.
        kept: What the server had and the file says otherwise, in words.
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
        """Say what the server had and keeps; empty if that is what the file says."""
        names = [f"{each.name} ({', '.join(each.kept)})" for each in self.deployments if each.kept]
        if not names:
            return ""
        return f"kept as it was set: {'; '.join(names)}; benchyard deploy --reset undoes it"


def deploy(
    file: Path,
    root: Path | None = None,
    resource_folders: Sequence[Path] = (),
    *,
    reset: bool = False,
) -> Offered:
    """Make the pools, deploy everything in a file, and offer the cases found now.

    Parameters, schedules, tags and the description of a deployment that the server has already stay
    as they are. Prefect leaves alone the schedules of a deployment for which its file has none.

    Args:
        file: The ``prefect.yaml``; flow runs work in its folder.
        root: Where cases are looked for; None for what the server has, else what the file says.
        resource_folders: Further resource classes; empty for the same.
        reset: Write what the file says over what the server has.

    Raises:
        InputError: If the file is not there, or there is no folder ``root``.
        BenchyardError: If Prefect refuses it.
    """
    document = declared(file)
    deployments = {_key(each): each for each in document["deployments"]}
    checkout = file.parent
    given: dict[str, Any] = {}
    if root is not None:
        given["root"] = below(checkout, root)
    if resource_folders:
        given["resources"] = [below(checkout, folder) for folder in resource_folders]
    with our_client() as client:
        ensure_pools(client)
        before = {} if reset else _found(client, deployments)
        kept = {key: _differences(deployments[key], old, given) for key, old in before.items()}
        for key, old in before.items():
            deployments[key] |= _values(deployments[key], old)
        _deploy_all(file, {**document, "deployments": list(deployments.values())})
        cases: list[str] = []
        found = _found(client, deployments)
        for key, deployment in found.items():
            own = before[key].parameters if key in before else {}
            cases += _offer(client, deployment, {**deployment.parameters, **own, **given}, checkout)
        return Offered([_deployed(client, found[key], kept.get(key, ())) for key in found], cases)


def declared(file: Path) -> dict[str, Any]:
    """Return what a file declares, of which each deployment has an entry point and a name.

    Where the current folder has no such file, it is that of the installation, for the cases there.

    Raises:
        InputError: If the file is not there, or declares none.
    """
    if not file.is_file():
        if file.resolve() == Path.cwd() / PREFECT_YAML:
            return _installed()
        raise InputError(
            f"there is no file '{file}'; go to the checkout of Benchyard, or name its "
            f"{PREFECT_YAML} with --prefect-yaml"
        )
    try:
        document = cast("dict[str, Any]", yaml.safe_load(file.read_text(encoding="utf-8")))
        for deployment in document["deployments"]:
            _key(deployment)
    except (yaml.YAMLError, UnicodeError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"'{file}' declares no deployments as Prefect has them: {reason}"
        ) from None
    return document


def _installed() -> dict[str, Any]:
    """Return what deploys the installed flows, by module, for cases below the current folder."""
    document = declared(_INSTALLED)
    for each in document["deployments"]:
        each["entrypoint"] = each["entrypoint"].replace(".py:", ".").replace("/", ".")
        parameters: dict[str, Any] = each.get("parameters", {})
        parameters.pop("case", None)
        if "root" in parameters:
            parameters["root"] = "."
    return document


def _key(deployment: Mapping[str, Any]) -> Key:
    return deployment["entrypoint"], deployment["name"]


def _found(
    client: SyncPrefectClient, wanted: Mapping[Key, object]
) -> dict[Key, DeploymentResponse]:
    """Return the deployments of the file that are at the server."""
    found = {(each.entrypoint or "", each.name): each for each in each_of(client.read_deployments)}
    return {key: found[key] for key in wanted if key in found}


def _values(deployment: Mapping[str, Any], old: DeploymentResponse) -> dict[str, Any]:
    """Return what a declaration says of a deployment so that the server's values stay."""
    return {
        "schedules": [],
        "parameters": {**(deployment.get("parameters") or {}), **old.parameters},
        "tags": old.tags,
        "description": old.description,
    }


def _differences(
    deployment: Mapping[str, Any], old: DeploymentResponse, given: Mapping[str, Any]
) -> list[str]:
    """Name what the server has and the file says otherwise: "parameter runs", "tags"."""
    parameters: dict[str, Any] = deployment.get("parameters") or {}
    schedules: list[dict[str, Any]] = deployment.get("schedules") or []
    changed = [
        f"parameter {name}"
        for name, value in old.parameters.items()
        if name not in given and (name not in parameters or parameters[name] != value)
    ]
    wanted: dict[str | None, dict[str, Any]] = {each.get("slug"): each for each in schedules}
    there = {each.slug: _settings(each) for each in old.schedules}
    changed += [
        f"schedule {slug or 'without a slug'}"
        for slug in {**wanted, **there}
        if slug not in wanted
        or slug not in there
        or not {**_SCHEDULE_DEFAULTS, **wanted[slug]}.items() <= there[slug].items()
    ]
    changed += ["tags"] if set(old.tags) != set(deployment.get("tags") or []) else []
    description = deployment.get("description") or old.description or ""
    return [*changed, *(["description"] if description != (old.description or "") else [])]


def _settings(schedule: DeploymentSchedule) -> dict[str, Any]:
    """Return a schedule as a file declares it."""
    values = schedule.model_dump(mode="json")
    return {**values, **values["schedule"]}


def _deploy_all(file: Path, document: Mapping[str, Any]) -> None:
    """Let Prefect deploy a document in the file's folder, in a process of its own.

    Args:
        file: The document as it is written, which errors name.
        document: What is deployed.
    """
    command = [sys.executable, "-P", "-c", _PREFECT, str(SOURCE)]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    url = get_current_settings().api.url
    if url:
        environment[SERVER] = url
    with NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as copy:
        yaml.safe_dump(dict(document), copy)
        copy.flush()
        try:
            ended = subprocess.run(
                [*command, "--no-prompt", "deploy", "--all", "--prefect-file", copy.name],
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


def _offer(
    client: SyncPrefectClient,
    deployment: DeploymentResponse,
    parameters: Mapping[str, Any],
    checkout: Path,
) -> list[str]:
    """Give a deployment its parameters, and its form the cases that are there; return these."""
    schema = deployment.parameter_openapi_schema or {}
    known = cast("dict[str, Any]", schema.get("properties", {}))
    # With a parameter that its flow has no more, a flow run would not begin.
    values = {name: value for name, value in parameters.items() if name in known}
    cases: list[str] = []
    if "case" in known:
        folders: list[str] = values.get("resources") or []
        root = checkout / str(values.get("root", "."))
        cases = choices(root, checkout, [checkout / folder for folder in folders])
        if cases:  # a form with an empty choice could not be sent
            known["case"]["enum"] = cases
            values["case"] = values["case"] if values.get("case") in cases else cases[0]
    changed = DeploymentUpdate(parameter_openapi_schema=schema, parameters=values)
    client.update_deployment(deployment.id, changed)
    return cases


def _deployed(
    client: SyncPrefectClient, deployment: DeploymentResponse, kept: Sequence[str]
) -> Deployed:
    flow = client.read_flow(deployment.flow_id).name
    page = f"{get_current_settings().ui_url}/deployments/deployment/{deployment.id}"
    schedules = {schedule.slug or "": schedule.active for schedule in deployment.schedules}
    return Deployed(f"{flow}/{deployment.name}", page, schedules, kept)
