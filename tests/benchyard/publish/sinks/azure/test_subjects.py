"""What was measured goes along, and runs of one second keep their order."""

from collections.abc import Generator
from datetime import timedelta

import pytest

from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.reader import AzureTablesReader
from benchyard.publish.sinks.azure.sink import AzureTablesSink
from tests.benchyard.publish.sinks.records import FIRST, NEIGHBOURS, events, record, subject

pytestmark = [pytest.mark.slow, pytest.mark.requires("azurite")]


@pytest.fixture
def sink(found: Access) -> Generator[AzureTablesSink]:
    made = AzureTablesSink(found)
    yield made
    made.close()


@pytest.fixture
def reader(found: Access) -> AzureTablesReader:
    return AzureTablesReader(found)


def test_runs_of_one_second_keep_their_order_and_their_subject(
    sink: AzureTablesSink, reader: AzureTablesReader
) -> None:
    for made in NEIGHBOURS:
        sink.store(events(made))
    found = list(reader.timings("words", "load"))
    assert [one.wall_time for one in found] == [0.03, 0.02, 0.01]
    microseconds = [(one.started_at - FIRST) // timedelta(microseconds=1) for one in found]
    assert microseconds == [100_000, 400_000, 700_000]
    assert list(reader.timings("words", "load", newest_first=True)) == found[::-1]
    assert list(reader.starts("words", newest_first=True, limit=1)) == [found[-1].started_at]
    assert [one.subject for one in found] == [subject(), subject(), subject(version="2.0.0")]
    assert [one.suspect for one in found] == ["", "the host swapped", ""]
    assert [one.versions for one in found][1:] == [{"DuckDB": "1.2.2"}, {"DuckDB": "2.0.0"}]
    assert {one.host for one in found} == {"h1"}


def test_two_campaigns_have_runs_of_the_same_numbers(
    sink: AzureTablesSink, reader: AzureTablesReader
) -> None:
    campaigns = [
        record(number, 60.0 * place + number, 0.1, measured)
        for place, measured in enumerate((subject(), subject(version="2.0.0")))
        for number in (1, 2)
    ]
    for made in (*campaigns, *campaigns):  # published, and published again
        sink.store(events(made))
    found = list(reader.timings("words", "load"))
    assert [one.started_at for one in found] == [made.began for made in campaigns]
    assert [one.versions["DuckDB"] for one in found] == ["1.2.2", "1.2.2", "2.0.0", "2.0.0"]


def test_an_older_record_says_its_host_alone(
    sink: AzureTablesSink, reader: AzureTablesReader
) -> None:
    sink.store(events(record(1, 0.0, 0.1)))
    [found] = reader.timings("words", "load")
    assert (found.host, found.versions, found.suspect) == ("h0", {}, "")
    assert "digest" not in found.subject
