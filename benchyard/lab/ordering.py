"""In which order the server's triggers take events, and for how long one waits for another.

They take the states of a flow run in their order: an event is parked until the one before it has
come. Some never come. The scheduler writes the first state of a flow run without an event, and a
server that was started again has forgotten which events it saw. Prefect waits 15 minutes for them:
alerts are late, and the heartbeat automation takes what has ended for dead.

Events that follow none are taken two at a time: a flow run of a second may have ended before its
first heartbeat is written down, which then waits for the next one. Ours are taken one at a time.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from prefect.server.events.ordering import PRECEDING_EVENT_LOOKBACK, memory
from prefect.server.events.schemas.events import ReceivedEvent

#: Events that overtake each other on their way do so by less than a second.
PATIENCE = timedelta(seconds=2)


class CausalOrdering(memory.CausalOrdering):
    """Prefect's own, with less patience and no two events at once; a setting names it."""

    def __init__(self, scope: str) -> None:
        super().__init__(scope)
        if not hasattr(self, "_turn"):  # one object a scope, however often it is asked for
            self._turn = asyncio.Lock()

    @asynccontextmanager
    async def event_is_processing(self, event: ReceivedEvent) -> AsyncGenerator[None]:
        """Let an event be processed once the one before it is through."""
        async with self._turn, super().event_is_processing(event):
            yield

    async def record_follower(self, event: ReceivedEvent) -> None:
        """Park an event as one that has been waiting for all of the 15 minutes but two seconds."""
        earlier = event.received - PRECEDING_EVENT_LOOKBACK + PATIENCE
        await super().record_follower(event.model_copy(update={"received": earlier}))
