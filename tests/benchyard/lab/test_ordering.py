"""How long events wait at the server for others: those that come, and those that never do."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from unittest import mock
from uuid import UUID, uuid4

import pytest
from prefect.server.events.ordering import EventArrivedEarly, get_triggers_causal_ordering
from prefect.server.events.schemas.events import ReceivedEvent
from prefect.settings import PREFECT_SERVER_EVENTS_CAUSAL_ORDERING, temporary_settings

from benchyard.lab import ordering
from benchyard.lab.ordering import CausalOrdering


def make_event(name: str, follows: UUID | None = None, age: float = 0.0) -> ReceivedEvent:
    return ReceivedEvent.model_validate(
        {
            "occurred": datetime.now(UTC),
            "event": name,
            "resource": {"prefect.resource.id": "prefect.flow-run.x"},
            "id": uuid4(),
            "follows": follows,
            "received": datetime.now(UTC) - timedelta(seconds=age),
        }
    )


class Server:
    """What the server's triggers do with events, and in which order."""

    def __init__(self) -> None:
        self.ordering = CausalOrdering(scope=str(uuid4()))
        self.handled: list[str] = []

    async def handle(self, event: ReceivedEvent, depth: int = 0) -> None:
        async with self.ordering.preceding_event_confirmed(self.handle, event, depth):
            if event.event == "heartbeat":
                await asyncio.sleep(0.05)  # it is written to a busy database
            self.handled.append(event.event)

    async def take(self, *received: ReceivedEvent) -> None:
        for one in received:
            with suppress(EventArrivedEarly):
                await self.handle(one)

    async def look(self) -> None:
        await self.take(*await self.ordering.get_lost_followers())


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_chain_whose_first_event_never_comes_goes_on_after_two_seconds(server: Server) -> None:
    async def tell() -> None:
        pending = make_event("Pending", follows=uuid4(), age=3)
        running = make_event("Running", follows=pending.id)
        await server.take(pending, running)
        assert server.handled == []
        await server.look()

    asyncio.run(tell())

    assert server.handled == ["Pending", "Running"]


def test_an_event_that_overtook_another_waits_for_it(server: Server) -> None:
    async def tell() -> None:
        running = make_event("Running")
        failed = make_event("Failed", follows=running.id)
        await server.take(failed)
        await server.look()
        assert server.handled == []
        await server.take(running)

    with mock.patch.object(ordering, "PATIENCE", timedelta(minutes=1)):
        asyncio.run(tell())

    assert server.handled == ["Running", "Failed"]


def test_an_end_does_not_overtake_a_heartbeat_that_is_being_written(server: Server) -> None:
    async def tell() -> None:
        await asyncio.gather(
            *(server.take(make_event(name)) for name in ("heartbeat", "Completed", "ended"))
        )

    asyncio.run(tell())

    assert server.handled == ["heartbeat", "Completed", "ended"]


def test_prefect_takes_it_from_the_module_that_a_setting_names() -> None:
    with temporary_settings({PREFECT_SERVER_EVENTS_CAUSAL_ORDERING: ordering.__name__}):
        assert isinstance(get_triggers_causal_ordering(), CausalOrdering)
