"""Alerts: automations that tell a webhook or a command of failures and of regressions.

They begin with what the server itself says of flow runs, not with our own events: a flow run whose
host lost power says nothing any more, and the server still finds out.
"""

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from typing import Any, cast

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient
from prefect.events.actions import CallWebhook, RunDeployment
from prefect.events.schemas.automations import AutomationCore
from prefect.settings import get_current_settings
from prefect.utilities.callables import parameter_schema

from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.files import write_atomically
from benchyard.lab import api
from flows.alert import alert
from tasks.alerting import command_file
from tasks.names import CONTROL, DEFAULT_QUEUE

#: Takes alerts away instead of making some.
NONE = "none"
FAILED = "benchyard: tell of failed flow runs"
WORSE = "benchyard: tell of regressions"
#: Name of the block that keeps the address: a webhook's address is its password.
BLOCK = "benchyard-alerts"
DEPLOYMENT = "command"

_TAG = {"prefect.resource.id": "prefect.tag.benchyard", "prefect.resource.role": "tag"}
_ENDS = ("Failed", "Crashed", "TimedOut")

_UI_URL = "UI_URL"
_WHY = 'event.resource["prefect.state-message"]'
#: Both begin with "text": what chat programs show of an incoming webhook.
_OF_FAILED = """{
  "text": {{ (("" if (WHY ~ "").startswith(WHOSE ~ " ") else WHOSE ~ ": ") ~ WHY) | tojson }},
  "source": "benchyard",
  "kind": "failed",
  "case": {{ WHOSE | tojson }},
  "reason": {{ WHY | tojson }},
  "state": {{ event.resource["prefect.state-name"] | tojson }},
  "flow": {{ flow.name | tojson }},
  "flow_run": {{ (flow_run.id | string) | tojson }},
  "url": {{ ("UI_URL/runs/flow-run/" ~ flow_run.id) | tojson }},
  "occurred": {{ (event.occurred | string) | tojson }}
}""".replace("WHOSE", "event.resource.name").replace("WHY", _WHY)
_OF_WORSE = """{
  "text": {{ ("regression: " ~ event.payload.text) | tojson }},
  "source": "benchyard",
  "kind": "regression",
  "case": {{ event.payload.case | tojson }},
  "host": {{ event.payload.host | tojson }},
  "step": {{ event.payload.name | tojson }},
  "metric": {{ event.payload.metric | tojson }},
  "unit": {{ event.payload.unit | tojson }},
  "baseline_median": {{ event.payload.baseline_median | tojson }},
  "candidate_median": {{ event.payload.candidate_median | tojson }},
  "ratio": {{ event.payload.ratio | tojson }},
  "ratio_interval": {{ event.payload.ratio_interval | tojson }},
  "results": {{ event.payload.results | tojson }},
  "baseline": {{ event.payload.baseline | tojson }},
  "flow_run": {{ (flow_run.id | string) | tojson }},
  "url": {{ ("UI_URL/runs/flow-run/" ~ flow_run.id) | tojson }},
  "occurred": {{ (event.occurred | string) | tojson }}
}"""


def ensure_alerts(target: str) -> None:
    """Let the server tell of failed flow runs of our deployments, and of regressions.

    What was there before is replaced; an automation that somebody switched off stays off.

    Args:
        target: A URL that takes a POST of JSON, a command, or ``none`` for no alerts any more.

    Raises:
        InputError: If it is none of these.
        BenchyardError: If the server does not take it.
    """
    command = None if target == NONE or _is_url(target) else _split(target)
    with api.client() as client:
        try:
            if target == NONE:
                _forget(client)
            elif command is None:
                _call(client, target)
            else:
                _execute(client, command)
        except Exception as error:
            raise BenchyardError(
                f"the Prefect server takes no alerts: {type(error).__name__}: {error}"
            ) from error


def _is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def _split(target: str) -> list[str]:
    """Split a command as a shell does; none will see it."""
    try:
        command = shlex.split(target)
    except ValueError as error:
        raise InputError(f"--alerts {target!r}: {error}") from None
    if not command or shutil.which(command[0]) is None:
        raise InputError(
            f"--alerts {target!r} is no URL (http://, https://), and there is no such program; "
            "give one of them, or none"
        )
    return [os.path.abspath(cast("str", shutil.which(command[0]))), *command[1:]]  # noqa: PTH100


def _call(client: SyncPrefectClient, url: str) -> None:
    headers = {"Content-Type": "application/json"}
    block = Webhook(url=cast("Any", url), headers=cast("Any", headers))
    identity = cast("Any", block).save(BLOCK, overwrite=True)
    for name, expect, template in _kinds():
        action = CallWebhook(block_document_id=identity, payload=template)
        _ensure(client, name, expect, action.model_dump(mode="json"))


def _execute(client: SyncPrefectClient, command: Sequence[str]) -> None:
    write_atomically(command_file(), json.dumps({"arguments": list(command)}).encode())
    command_file().chmod(0o600)
    deployment = client.create_deployment(
        client.create_flow_from_name(alert.name),
        DEPLOYMENT,
        description="Gives an alert to the command of benchyard up --alerts.",
        entrypoint="flows/alert.py:alert",
        pull_steps=[{"benchyard.lab.checkout.enter_checkout": {}}],
        work_pool_name=CONTROL,
        work_queue_name=DEFAULT_QUEUE,
        job_variables={"stream_output": False},
        parameter_openapi_schema=parameter_schema(alert).model_dump(),
        enforce_parameter_schema=True,
    )
    for name, expect, template in _kinds():
        message = {"__prefect_kind": "jinja", "template": template}
        action = RunDeployment.model_validate(
            {"deployment_id": deployment, "parameters": {"message": message}}
        )
        _ensure(client, name, expect, action.model_dump(mode="json"))


_KINDS = (
    (FAILED, [f"prefect.flow-run.{end}" for end in _ENDS], _OF_FAILED),
    (WORSE, ["benchyard.regression.found"], _OF_WORSE),
)


def _kinds() -> Iterator[tuple[str, list[str], str]]:
    """Yield name, events and template of each alert, with the address of the lab's pages."""
    # Prefect's filter for it is known to a server only once that has loaded a webhook's action.
    address = str(get_current_settings().ui_url)
    for name, expect, template in _KINDS:
        yield name, expect, template.replace(_UI_URL, address)


def _ensure(
    client: SyncPrefectClient, name: str, expect: Sequence[str], action: dict[str, Any]
) -> None:
    found = client.read_automations_by_name(name)
    wanted = AutomationCore.model_validate(
        {
            "name": name,
            "description": "Made by benchyard up --alerts, for deployments tagged benchyard.",
            "enabled": all(one.enabled for one in found),
            "trigger": {
                "type": "event",
                "expect": list(expect),
                "match_related": _TAG,
                "posture": "Reactive",
                "threshold": 1,
                "within": 0,
            },
            "actions": [action],
        }
    )
    for one in found:
        client.delete_automation(one.id)
    client.create_automation(wanted)


def _forget(client: SyncPrefectClient) -> None:
    for name, *_ in _KINDS:
        for one in client.read_automations_by_name(name):
            client.delete_automation(one.id)
    command_file().unlink(missing_ok=True)
