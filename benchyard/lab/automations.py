"""The lab's automations: alerts, and the end of flow runs that send no heartbeat any more.

Alerts tell a webhook of failures, regressions and alarms. Those of failures begin with what the
server itself says of flow runs, not with our own events: a flow run whose host lost power says
nothing any more, and the server still finds out.
"""

from typing import Any, cast

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient
from prefect.events.actions import CallWebhook
from prefect.events.schemas.automations import AutomationCore
from prefect.settings import get_current_settings

from benchyard.core.errors import BenchyardError, InputError
from tasks.events import ALARM_RAISED, FLOW_RUN_ENDED, REGRESSION_FOUND, tag_resource
from tasks.names import HEARTBEATS, WITHIN_SECONDS
from tasks.prefect_internals import our_client

#: Takes alerts away instead of making some.
NONE = "none"
FAILED = "benchyard: tell of failed flow runs"
WORSE = "benchyard: tell of regressions"
ALARMS = "benchyard: tell of alarms"
#: Name of the block that keeps the address: a webhook's address is its password.
BLOCK = "benchyard-alerts"

#: Flow runs of our deployments have it.
_TAG = tag_resource("benchyard")
_BEAT = "prefect.flow-run.heartbeat"

_UI_URL = "UI_URL"


def _payload(**values: str) -> str:
    """Return a template of JSON with the values of expressions, and what every alert has.

    The first is "text": what chat programs show of an incoming webhook.
    """
    every = {
        **values,
        "source": "'benchyard'",
        "flow_run": "flow_run.id | string",
        "url": f"'{_UI_URL}/runs/flow-run/' ~ flow_run.id",
        "occurred": "event.occurred | string",
    }
    members = [f'"{name}": {{{{ ({value}) | tojson }}}}' for name, value in every.items()]
    return f"{{{', '.join(members)}}}"


_WHOSE, _WHY = "event.resource.name", 'event.resource["prefect.state-message"]'
_OF_FAILED = _payload(
    text=f'("" if ({_WHY} ~ "").startswith({_WHOSE} ~ " ") else {_WHOSE} ~ ": ") ~ {_WHY}',
    kind="'failed'",
    case=_WHOSE,
    reason=_WHY,
    state='event.resource["prefect.state-name"]',
    flow="flow.name",
)
#: What both the alert and the event of a regression call so.
_TOLD = (
    *("case", "host", "metric", "unit", "baseline_median", "candidate_median"),
    *("ratio", "ratio_interval", "results", "baseline"),
)
_OF_WORSE = _payload(
    text="'regression: ' ~ event.payload.text",
    kind="'regression'",
    step="event.payload.name",
    **{name: f"event.payload.{name}" for name in _TOLD},
)
_OF_ALARM = _payload(
    text="'alarm: ' ~ event.payload.text",
    kind="'alarm'",
    **{name: f"event.payload.{name}" for name in ("case", "host", "moves", "bisect")},
)


def _states(*names: str) -> list[str]:
    """Return the events by which Prefect tells that a flow run is in one of some states."""
    return [f"prefect.flow-run.{name}" for name in names]


_KINDS = (
    (FAILED, _states("Failed", "Crashed", "TimedOut"), _OF_FAILED),
    (WORSE, [REGRESSION_FOUND], _OF_WORSE),
    (ALARMS, [ALARM_RAISED], _OF_ALARM),
)


def ensure_alerts(target: str) -> None:
    """Let the server tell of failed flow runs of our deployments, and of regressions.

    Args:
        target: A URL that takes a POST of JSON, or ``none`` for no alerts any more.

    Raises:
        InputError: If it is neither.
        BenchyardError: If the server does not take it.
    """
    if target != NONE and not target.startswith(("http://", "https://")):
        raise InputError(
            f"--alerts {target!r} is no URL (http://, https://); give one, or none, and for mail "
            "or chat an automation in Prefect's UI"
        )
    with our_client() as client:
        try:
            if target == NONE:
                _forget(client)
            else:
                _call(client, target)
        except Exception as error:
            raise BenchyardError(
                f"the Prefect server takes no alerts: {type(error).__name__}: {error}"
            ) from error


def _call(client: SyncPrefectClient, url: str) -> None:
    headers = {"Content-Type": "application/json"}
    block = Webhook(url=cast("Any", url), headers=cast("Any", headers))
    identity = cast("Any", block).save(BLOCK, overwrite=True)
    told = "Made by benchyard up --alerts, for deployments tagged benchyard."
    # Another's server need not know the address of its pages, so Prefect's filter for it may not.
    address = str(get_current_settings().ui_url)
    for name, expect, template in _KINDS:
        trigger: dict[str, Any] = {"posture": "Reactive", "expect": expect, "within": 0}
        payload = template.replace(_UI_URL, address)
        action = CallWebhook(block_document_id=identity, payload=payload)
        _ensure(client, _automation(name, told, trigger, action.model_dump(mode="json")))


def _forget(client: SyncPrefectClient) -> None:
    for name, *_ in _KINDS:
        for one in client.read_automations_by_name(name):
            client.delete_automation(one.id)


# -- heartbeats


def ensure_heartbeat_automation(client: SyncPrefectClient) -> None:
    """Make the automation, or bring it up to date."""
    _ensure(client, heartbeat_automation())


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


def _ensure(client: SyncPrefectClient, wanted: AutomationCore) -> None:
    """Make an automation, or bring it up to date; one that somebody switched off stays off.

    It is not replaced while it is right: that would forget whom it waits for.
    """
    found = client.read_automations_by_name(wanted.name)
    if not found:
        client.create_automation(wanted)
        return
    kept, *doubles = found
    for double in doubles:
        client.delete_automation(double.id)
    if (kept.trigger, kept.actions) != (wanted.trigger, wanted.actions):
        enabled = all(one.enabled for one in found)
        client.update_automation(kept.id, wanted.model_copy(update={"enabled": enabled}))
