"""Go on with a case at a lab: *Retry* and *Custom run* of the UI, for the shell."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, cast
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterDeploymentId,
)
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import SetStateStatus
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
from prefect.settings import get_current_settings
from prefect.states import AwaitingRetry

from benchyard.core.errors import BenchyardError
from benchyard.core.model import Case, Json, JsonObject, point_suffix
from benchyard.lab.checkout import checkout
from benchyard.run.beginning import Campaigning
from tasks.choices import reference
from tasks.shared_client import each_of, our_client

FLOW = "execute-case"
DEPLOYMENT = "execute-case/testbed"
#: Older flow runs are not looked through: a flow run of the case would be started anew.
_MOST_FLOW_RUNS = 5_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What shall be done again.

    Args:
        only: Numbers of the runs; empty means those that are not done.
        force: Finished ones too.
        more: Parameters for a flow run that is not modelled on an earlier one.
    """

    case: Case
    only: tuple[int, ...] = ()
    force: bool = False
    more: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Rerun:
    """What was done.

    Args:
        action: ``retried``, ``started`` or ``under way``: nothing was done then.
        flow_run: Id of the flow run.
        name: Of the flow run.
        state: Of the flow run, before.
        page: Of the flow run in the UI.
    """

    action: str
    flow_run: str
    name: str
    state: str
    page: str

    def to_json(self) -> JsonObject:
        """Return it as JSON."""
        return {
            "action": self.action,
            "flow_run": {"id": self.flow_run, "name": self.name, "page": self.page},
            "state_before": self.state,
        }


def rerun(wanted: Wanted) -> Rerun | None:
    """Go on with a case at the lab; None if the lab has no deployment that executes cases.

    A failed flow run is retried as it is, with its id. Where it did not fail, or something else
    is wanted than it had, a new flow run of the deployment gets its parameters and the change.

    Raises:
        BenchyardError: If the server refuses it.
    """
    try:
        with our_client() as client:
            last = _last(client, wanted.case)
            state = last.state if last is not None else None
            if last is not None and state is not None:
                if not state.is_final():
                    return _told("under way", last)
                as_before = not (wanted.only or wanted.force)
                if as_before and not state.is_completed() and _retry(client, last):
                    return _told("retried", last)
            return _start(client, wanted, last)
    except PrefectHTTPStatusError as error:
        raise BenchyardError(f"the Prefect server refuses it: {_detail(error)}") from None


def _last(client: SyncPrefectClient, case: Case) -> FlowRun | None:
    """Return the newest flow run of a deployment that was for this case."""
    names = _names(case)
    for flow_run in _flow_runs(client):
        if _resolved((flow_run.parameters or {}).get("case")) in names:
            return flow_run
    return None


def _flow_runs(client: SyncPrefectClient) -> Iterator[FlowRun]:
    of_deployment = FlowRunFilter(deployment_id=FlowRunFilterDeploymentId(is_null_=False))
    newest_first = partial(
        client.read_flow_runs,
        flow_filter=FlowFilter(name=FlowFilterName(any_=[FLOW])),
        flow_run_filter=of_deployment,
        sort=FlowRunSort.EXPECTED_START_TIME_DESC,
    )
    return islice(each_of(newest_first), _MOST_FLOW_RUNS)


def _names(case: Case) -> set[str]:
    suffix = point_suffix(case.point)
    return {f"{os.path.realpath(case.folder)}{suffix}", case.title, reference(case, checkout())}


def _resolved(case: object) -> str:
    """Return what a parameter names, with the real path of the folder where it names one."""
    text = str(case)
    place, bracket, point = text.partition("[")
    folder = checkout() / place
    try:
        return f"{os.path.realpath(folder)}{bracket}{point}" if folder.exists() else text
    except (OSError, ValueError):
        return text


def _retry(client: SyncPrefectClient, flow_run: FlowRun) -> bool:
    """Do what the button Retry does; tell whether the server took it."""
    again = AwaitingRetry(message="Retry from the command line")
    answer = client.set_flow_run_state(flow_run.id, again, force=True)
    return answer.status == SetStateStatus.ACCEPT


def _start(client: SyncPrefectClient, wanted: Wanted, last: FlowRun | None) -> Rerun | None:
    deployment = _deployment(client, last)
    if deployment is None:
        return None
    started = client.create_flow_run_from_deployment(
        deployment,
        parameters=_parameters(wanted, last),
        work_queue_name=last.work_queue_name if last else None,
    )
    return _told("started", started, last)


def _deployment(client: SyncPrefectClient, last: FlowRun | None) -> UUID | None:
    """Return the deployment of the last flow run, else ours, if it is there."""
    try:
        if last is not None and last.deployment_id is not None:
            return client.read_deployment(last.deployment_id).id
    except ObjectNotFound:
        pass
    try:
        return client.read_deployment_by_name(DEPLOYMENT).id
    except ObjectNotFound:
        return None


def _parameters(wanted: Wanted, last: FlowRun | None) -> dict[str, Any]:
    if last is None:
        parameters = {"case": reference(wanted.case, checkout()), **(wanted.more or {})}
    else:
        parameters = dict(last.parameters or {})
    # What the last one chose is not what this one chooses.
    chosen = {"only": list(wanted.only) or _only(last), "force": wanted.force}
    return {**parameters, **chosen, "campaign": Campaigning.AUTO.value}


def _only(last: FlowRun | None) -> Sequence[int]:
    return cast("Sequence[int]", (last.parameters or {}).get("only") or []) if last else []


def _told(action: str, flow_run: FlowRun, before: FlowRun | None = None) -> Rerun:
    page = f"{get_current_settings().ui_url}/runs/flow-run/{flow_run.id}"
    known = before if action == "started" else flow_run
    state = str(known.state_name) if known else ""
    return Rerun(action, str(flow_run.id), flow_run.name, state, page)


def _detail(error: PrefectHTTPStatusError) -> str:
    """Return what the server says is wrong, such as a case that its form does not offer."""
    try:
        said = cast("dict[str, Any]", error.response.json()).get("detail")
    except ValueError:
        said = None
    text = " ".join(str(said or error).split())
    advice = "; benchyard deploy tells it of new cases" if error.response.status_code == 409 else ""
    return f"{text[:300]}{advice}"
