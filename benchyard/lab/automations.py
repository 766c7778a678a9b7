"""The lab's automations: alerts, and the end of flow runs that send no heartbeat any more.

Alerts tell a webhook or a command of failures and of regressions. They begin with what the server
itself says of flow runs, not with our own events: a flow run whose host lost power says nothing any
more, and the server still finds out.
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

from benchyard.core.errors import BenchyardError, InputError
from benchyard.core.files import write_atomically
from flows.alert import alert
from tasks.alerting import command_file
from tasks.events import FLOW_RUN_ENDED, REGRESSION_FOUND, tag_resource
from tasks.names import CONTROL, DEFAULT_QUEUE, HEARTBEATS, WITHIN_SECONDS
from tasks.shared_client import our_client

#: Takes alerts away instead of making some.
NONE = "none"
FAILED = "benchyard: tell of failed flow runs"
WORSE = "benchyard: tell of regressions"
#: Name of the block that keeps the address: a webhook's address is its password.
BLOCK = "benchyard-alerts"
DEPLOYMENT = "command"

#: Flow runs of our deployments have it.
_TAG = tag_resource("benchyard")
_BEAT = "prefect.flow-run.heartbeat"

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
    with our_client() as client:
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
        _ensure_alert(client, name, expect, action.model_dump(mode="json"))


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
        job_variables={"stream_output": False, "working_dir": "."},
        parameter_openapi_schema=alert.parameters.model_dump(),
        enforce_parameter_schema=True,
    )
    for name, expect, template in _kinds():
        message = {"__prefect_kind": "jinja", "template": template}
        action = RunDeployment.model_validate(
            {"deployment_id": deployment, "parameters": {"message": message}}
        )
        _ensure_alert(client, name, expect, action.model_dump(mode="json"))


def _states(*names: str) -> list[str]:
    """Return the events by which Prefect tells that a flow run is in one of some states."""
    return [f"prefect.flow-run.{name}" for name in names]


_KINDS = (
    (FAILED, _states("Failed", "Crashed", "TimedOut"), _OF_FAILED),
    (WORSE, [REGRESSION_FOUND], _OF_WORSE),
)


def _kinds() -> Iterator[tuple[str, list[str], str]]:
    """Yield name, events and template of each alert, with the address of the lab's pages."""
    # Prefect's filter for it is known to a server only once that has loaded a webhook's action.
    address = str(get_current_settings().ui_url)
    for name, expect, template in _KINDS:
        yield name, expect, template.replace(_UI_URL, address)


def _ensure_alert(
    client: SyncPrefectClient, name: str, expect: Sequence[str], action: dict[str, Any]
) -> None:
    told = "Made by benchyard up --alerts, for deployments tagged benchyard."
    trigger: dict[str, Any] = {"posture": "Reactive", "expect": list(expect), "within": 0}
    found = client.read_automations_by_name(name)
    wanted = _automation(name, told, trigger, action)
    for one in found:
        client.delete_automation(one.id)
    enabled = all(one.enabled for one in found)
    client.create_automation(wanted.model_copy(update={"enabled": enabled}))


def _forget(client: SyncPrefectClient) -> None:
    for name, *_ in _KINDS:
        for one in client.read_automations_by_name(name):
            client.delete_automation(one.id)
    command_file().unlink(missing_ok=True)


# -- heartbeats


def ensure_heartbeat_automation(client: SyncPrefectClient) -> None:
    """Make the automation, or bring it up to date; one that somebody switched off stays off.

    It is not replaced while it is right: that would forget whom it waits for.
    """
    wanted = heartbeat_automation()
    found = client.read_automations_by_name(wanted.name)
    if not found:
        client.create_automation(wanted)
        return
    kept, *doubles = found
    for double in doubles:
        client.delete_automation(double.id)
    if _essence(kept) != _essence(wanted):
        enabled = all(one.enabled for one in found)
        client.update_automation(kept.id, wanted.model_copy(update={"enabled": enabled}))


def heartbeat_automation() -> AutomationCore:
    """Return the automation: no heartbeat within 95 s after one, and the flow run has crashed.

    A suspended flow run has no process, and is left alone.

    Only flow runs with our tag are looked at: others may send theirs every three minutes.
    """
    trigger: dict[str, Any] = {
        "posture": "Proactive",
        "after": [_BEAT],
        "expect": [
            _BEAT,
            FLOW_RUN_ENDED,
            *_states("Completed", "Failed", "Cancelled", "Crashed", "Suspended"),
        ],
        "match": {"prefect.resource.id": "prefect.flow-run.*"},
        "for_each": ["prefect.resource.id"],
        "within": WITHIN_SECONDS,
    }
    crash = {
        "type": "change-flow-run-state",
        "state": "CRASHED",
        "message": "no heartbeat: its process is gone; a retry goes on where it ended",
    }
    told = "Ends flow runs whose process died with its worker or its host."
    return _automation(HEARTBEATS, told, trigger, crash)


# -- any automation


def _automation(
    name: str, description: str, trigger: dict[str, Any], action: dict[str, Any]
) -> AutomationCore:
    of_ours = {"type": "event", "match_related": _TAG, "threshold": 1, **trigger}
    return AutomationCore.model_validate(
        {"name": name, "description": description, "trigger": of_ours, "actions": [action]}
    )


def _essence(automation: AutomationCore) -> tuple[Any, ...]:
    """Return what an automation does; the server adds ids and defaults of its own."""
    trigger = automation.trigger.model_dump(mode="json")
    sets = [sorted(trigger.get(key) or ()) for key in ("after", "expect", "for_each")]
    rest = [trigger.get(key) for key in ("match", "match_related", "posture", "within")]
    actions = [action.model_dump(mode="json") for action in automation.actions]
    return (sets, rest, [(one.get("state"), one.get("message")) for one in actions])
