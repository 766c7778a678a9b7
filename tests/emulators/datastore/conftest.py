"""Servers for the tests of the server itself: ours and, for what both can, Google's emulator."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from google.cloud import datastore
from google.cloud.datastore.query import PropertyFilter

from tests.emulators.datastore.fixture import Emulator, googles_program, running

INDEX = Path(__file__).with_name("tensorflow.yaml")
GOOGLE = pytest.param("google", marks=pytest.mark.slow)
BOTH = ["ours", *([GOOGLE] if googles_program() else [])]


def start(number: int) -> datetime:
    """Return when the test of this number was started."""
    return datetime(2023, 11, 14, tzinfo=UTC) + timedelta(seconds=number)


def compared(name: str, operator: str, value: Any) -> Any:
    """Return a filter."""
    return cast("Any", PropertyFilter)(name, operator, value)


def found(client: Any, kind: str | None, *filters: Any, **query: Any) -> list[Any]:
    """Return all that a query finds."""
    limit = query.pop("limit", None)
    return list(client.query(kind=kind, filters=filters, **query).fetch(limit=limit))


def names(entities: list[Any]) -> list[Any]:
    """Return the names or ids of entities."""
    return [entity.key.id_or_name for entity in entities]


def put(client: Any, kind: str, name: str | None = None, **properties: Any) -> Any:
    """Store an entity, whose ``info`` is in no index, and return it."""
    made = _entity(client, kind, name, properties)
    client.put(made)
    return made


def put_all(client: Any, kind: str, properties: dict[str, dict[str, Any]]) -> None:
    """Store entities by name, in one commit."""
    client.put_multi([_entity(client, kind, name, each) for name, each in properties.items()])


def _entity(client: Any, kind: str, name: str | None, properties: dict[str, Any]) -> Any:
    key = client.key(kind, name) if name else client.key(kind)
    made = cast("Any", datastore).Entity(key, exclude_from_indexes=("info",))
    made.update(properties)
    return made


@pytest.fixture(scope="session")
def server() -> Iterator[Emulator]:
    with running(index=INDEX) as emulator:
        yield emulator


@pytest.fixture
def ours(server: Emulator) -> Emulator:
    """A server of ours that is empty."""
    server.need_ours()
    server.clear()
    return server


@pytest.fixture(scope="session", params=BOTH)
def both(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    """Our server, and Google's where it is installed."""
    if request.param == "google":
        with running(INDEX, googles=True) as emulator:
            yield emulator
    else:
        yield request.getfixturevalue("server")


@pytest.fixture
def client(both: Emulator) -> Any:
    """A client of an empty server of either kind."""
    both.clear()
    return both.client()
