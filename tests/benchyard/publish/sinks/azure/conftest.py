"""What the tests of Azure's sink share: one Azurite, and in it a table for each test."""

from collections.abc import Callable, Generator
from itertools import count
from typing import TypeVar

import pytest

from benchyard.publish.sinks.azure.client import EventTable
from benchyard.publish.sinks.azure.credentials import Access, access
from benchyard.publish.sinks.azure.sink import AzureTablesSink
from tests.emulators.azurite.server import Azurite, running

_tables = count(1)
TestT = TypeVar("TestT", bound=Callable[..., None])

MakeAccess = Callable[..., Access]


def of_a_server(test: TestT) -> TestT:
    """Mark a test that needs Azurite."""
    return pytest.mark.slow(pytest.mark.requires("azurite")(test))


@pytest.fixture(scope="session")
def azurite() -> Generator[Azurite]:
    with running() as made:
        yield made


@pytest.fixture
def found(azurite: Azurite) -> Access:
    return to_table(azurite.connection_string)


@pytest.fixture
def impatient(found: Access) -> Generator[EventTable]:
    """A writer that is closed at the end."""
    writer = EventTable(found)
    yield writer
    writer.close()


@pytest.fixture
def sink(found: Access) -> Generator[AzureTablesSink]:
    made = AzureTablesSink(found)
    yield made
    made.close()


def to_table(connection_string: str, prefix: str | None = None) -> Access:
    """Return the way to a table that no other test has."""
    known = {"AZURE_STORAGE_CONNECTION_STRING": connection_string}
    return access(prefix=prefix or f"test{next(_tables)}", environment=known)
