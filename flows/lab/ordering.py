"""For how long the server's triggers wait for an event that another one follows: two seconds.

They take the states of a flow run in their order: an event is parked until the one before it has
come. Some never come. The scheduler writes the first state of a flow run without an event, and a
server that was started again has forgotten which events it saw. Prefect waits 15 minutes for them:
alerts are late, and the heartbeat automation takes what has ended for dead.
"""

from datetime import timedelta

from prefect.server.events.ordering import PRECEDING_EVENT_LOOKBACK, memory
from prefect.server.events.schemas.events import ReceivedEvent

#: Events that overtake each other on their way do so by less than a second.
PATIENCE = timedelta(seconds=2)


class CausalOrdering(memory.CausalOrdering):
    """Prefect's own, with less patience; the server finds it through its setting."""

    async def record_follower(self, event: ReceivedEvent) -> None:
        """Park an event as one that has been waiting for all of the 15 minutes but two seconds."""
        earlier = event.received - PRECEDING_EVENT_LOOKBACK + PATIENCE
        await super().record_follower(event.model_copy(update={"received": earlier}))
