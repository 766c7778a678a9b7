"""What was measured goes along, and runs of one second keep their order."""

import pytest

from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.reader import AzureTablesReader
from tests.benchyard.publish.sinks.records import SubjectTests, events

pytestmark = [pytest.mark.slow, pytest.mark.requires("azurite")]


@pytest.fixture
def reader(found: Access) -> AzureTablesReader:
    return AzureTablesReader(found)


class TestSubjects(SubjectTests):
    spooled = staticmethod(events)
