"""Flow runs whose process is gone are ended; after an outage they get time to say they live.

Prefect's server looks for missing heartbeats as soon as it is up again, before anybody could send
one. It would take every flow run for dead that lived through an outage of a minute.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from prefect.client.orchestration import SyncPrefectClient
from prefect.events.schemas.automations import AutomationCore
from prefect.server.database import provide_database_interface
from sqlalchemy.exc import DBAPIError

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


async def give_time() -> int:
    """Let each wait for a heartbeat begin anew now; return how many there are."""
    db = provide_database_interface()
    buckets = db.AutomationBucket
    ours = sa.select(db.Automation.id).where(db.Automation.name == NAME)
    latest = datetime.now(UTC) + timedelta(seconds=WITHIN_SECONDS)
    wait = sa.update(buckets).where(buckets.automation_id.in_(ours), buckets.end < latest)
    async with db.session_context(begin_transaction=True) as session:
        found = await session.execute(wait.values(end=latest))
    return int(getattr(found, "rowcount", 0))


async def _give_time_and_close() -> None:
    try:
        await give_time()
    finally:
        await (await provide_database_interface().engine()).dispose()


def after_outage() -> None:
    """Give time before the server starts; nobody waits in a database that is not there yet."""
    try:
        asyncio.run(_give_time_and_close())
    except (DBAPIError, OSError):
        return
