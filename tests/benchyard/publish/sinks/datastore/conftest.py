"""A local Datastore with the indexes that we ship, and what stores into it and reads from it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchyard.publish.sinks.contract import Spooled
from benchyard.publish.sinks.datastore.connection import INDEX_FILE, Connection
from benchyard.publish.sinks.datastore.reader import DatastoreReader
from benchyard.publish.sinks.datastore.settings import Settings
from benchyard.publish.sinks.datastore.sink import DatastoreSink
from tests.emulators.datastore.fixture import Emulator, running

#: Long enough on a busy machine.
ATTEMPT_S = 60.0

Connect = Callable[..., Connection]
MakeSpooled = Callable[..., Spooled]


@pytest.fixture(scope="session")
def server() -> Iterator[Emulator]:
    with running(index=INDEX_FILE) as emulator:
        yield emulator


@pytest.fixture
def emulator(server: Emulator) -> Emulator:
    server.clear()
    return server


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Return a function that connects to an emulator; keywords are of Settings."""
    opened: list[Connection] = []

    def made(to: Emulator, attempt_s: float = ATTEMPT_S, **others: str) -> Connection:
        settings = Settings(**{"project": to.project, "emulator": to.address, **others})
        opened.append(Connection(settings, attempt_s))
        return opened[-1]

    yield made
    for connection in opened:
        connection.close()


@pytest.fixture
def sink(emulator: Emulator, connect: Connect) -> DatastoreSink:
    return DatastoreSink(connect(emulator))


@pytest.fixture
def reader(emulator: Emulator, connect: Connect) -> DatastoreReader:
    return DatastoreReader(connect(emulator))


@pytest.fixture
def spooled() -> MakeSpooled:
    """Return a function that makes a document that waits."""

    def made(
        test: str = "//t:x",
        start: float = 1_700_000_000,
        entries: dict[str, Any] | int = 3,
        **others: Any,
    ) -> Spooled:
        timings = entries if isinstance(entries, dict) else named(entries)
        listed = [{"name": name, "wallTime": value} for name, value in timings.items()]
        body = {"name": test, "startTime": str(start), "entries": {"entry": listed}, **others}
        return Spooled("a.json", json.dumps(body).encode(), "archive/a.json")

    return made


def named(count: int) -> dict[str, float]:
    return {f"BM_{n:04}": n / 8 for n in range(count)}
