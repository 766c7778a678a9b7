"""What was measured goes along, and runs of one second keep their order."""

from collections.abc import Generator

import pytest

from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.reader import AzureTablesReader
from benchyard.publish.sinks.azure.sink import AzureTablesSink
from tests.benchyard.publish.sinks.records import SubjectTests, events

pytestmark = [pytest.mark.slow, pytest.mark.requires("azurite")]


@pytest.fixture
def sink(found: Access) -> Generator[AzureTablesSink]:
    made = AzureTablesSink(found)
    yield made
    made.close()


@pytest.fixture
def reader(found: Access) -> AzureTablesReader:
    return AzureTablesReader(found)


class TestSubjects(SubjectTests):
    spooled = staticmethod(events)
