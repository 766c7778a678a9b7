"""The event by which a flow run says itself that it has ended, and sends no heartbeat any more.

Those of its states may wait at the server for others that never come, and may overtake heartbeats
that are still on their way. This one follows no other, and takes the way of the heartbeats.
"""

from typing import Any

from prefect import Flow, State
from prefect.client.schemas.objects import FlowRun
from prefect.events import emit_event
from prefect.events.related import tags_as_related_resources

FLOW_RUN_ENDED = "benchyard.flow-run.ended"


def announce_end(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Tell that a deployment's flow run has ended; others send no heartbeat.

    A hook of Prefect's, which passes the arguments by these names.
    """
    del flow
    if flow_run.deployment_id is None:
        return
    emit_event(
        FLOW_RUN_ENDED,
        resource={
            "prefect.resource.id": f"prefect.flow-run.{flow_run.id}",
            "prefect.resource.name": flow_run.name,
        },
        related=tags_as_related_resources(set(flow_run.tags)),
        payload={"state": state.name, "text": f"{flow_run.name} has ended: {state.name}"},
    )
