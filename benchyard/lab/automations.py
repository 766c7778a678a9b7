"""The automation that ends flow runs whose process is gone and cannot say so."""

from typing import Any

from prefect.client.orchestration import SyncPrefectClient
from prefect.events.schemas.automations import AutomationCore

from tasks.end_event import FLOW_RUN_ENDED

NAME = "benchyard: flow runs without a heartbeat"
#: Flow runs of our deployments send a heartbeat so often (prefect.yaml says so to their process).
FREQUENCY_SECONDS = 30
#: Longer than three of them: what lives must not be taken for dead.
WITHIN_SECONDS = 95
_BEAT = "prefect.flow-run.heartbeat"
_ENDS = ("Completed", "Failed", "Cancelled", "Crashed")


def heartbeat_automation() -> AutomationCore:
    """Return the automation: no heartbeat within 95 s after one, and the flow run has crashed.

    Only flow runs with our tag are looked at: others may send theirs every three minutes.
    """
    tag = {"prefect.resource.id": "prefect.tag.benchyard", "prefect.resource.role": "tag"}
    trigger = {
        "type": "event",
        "after": [_BEAT],
        "expect": [_BEAT, FLOW_RUN_ENDED, *(f"prefect.flow-run.{end}" for end in _ENDS)],
        "match": {"prefect.resource.id": "prefect.flow-run.*"},
        "match_related": tag,
        "for_each": ["prefect.resource.id"],
        "posture": "Proactive",
        "threshold": 1,
        "within": WITHIN_SECONDS,
    }
    crash = {
        "type": "change-flow-run-state",
        "state": "CRASHED",
        "message": "no heartbeat: its process is gone; a retry goes on where it ended",
    }
    return AutomationCore.model_validate(
        {
            "name": NAME,
            "description": "Ends flow runs whose process died with its worker or its host.",
            "trigger": trigger,
            "actions": [crash],
        }
    )


def ensure_heartbeat_automation(api: SyncPrefectClient) -> None:
    """Make the automation, or bring it up to date; one that was switched off stays so."""
    wanted = heartbeat_automation()
    found = api.read_automations_by_name(NAME)
    if not found:
        api.create_automation(wanted)
        return
    kept, *doubles = found
    for double in doubles:
        api.delete_automation(double.id)
    if _essence(kept) != _essence(wanted):
        api.update_automation(kept.id, wanted.model_copy(update={"enabled": kept.enabled}))


def _essence(automation: AutomationCore) -> tuple[Any, ...]:
    """Return what an automation does; the server adds ids and defaults of its own."""
    trigger = automation.trigger.model_dump(mode="json")
    sets = [sorted(trigger.get(key) or ()) for key in ("after", "expect", "for_each")]
    rest = [trigger.get(key) for key in ("match", "match_related", "posture", "within")]
    actions = [action.model_dump(mode="json") for action in automation.actions]
    return (sets, rest, [(one.get("state"), one.get("message")) for one in actions])
