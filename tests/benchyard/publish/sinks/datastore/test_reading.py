from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.cloud import datastore

from benchyard.core.errors import InputError
from benchyard.publish.sinks.datastore.reader import DatastoreReader
from benchyard.publish.sinks.datastore.sink import DatastoreSink
from tests.benchyard.publish.sinks.datastore.conftest import Connect, MakeSpooled
from tests.emulators.datastore.conftest import INDEX, compared, found
from tests.emulators.datastore.fixture import Emulator, running

pytestmark = pytest.mark.slow

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def store_days(sink: DatastoreSink, spooled: MakeSpooled, days: int, test: str = "//t:x") -> None:
    """Store one document for each day, its timing the number of the day."""
    for day in range(days):
        start = (START + day * DAY).timestamp()
        sink.store(spooled(test=test, start=int(start), entries={"BM_a": day, "BM_b": -day}))


def upload_as_the_original(emulator: Emulator, timing: Any) -> None:
    """Store as upload_test_benchmarks.py does: numbered keys, no zone, wallTime as JSON had it."""
    client: Any = emulator.client()
    common = {"test": "//t:x", "start": START.replace(tzinfo=None)}
    entry = {"entry": "BM_a", "timing": timing, "info": "{"}
    for kind, values in (("Test", {"info": "{}"}), ("Entry", entry)):
        entity: Any = datastore.Entity(client.key(kind), exclude_from_indexes=["info"])
        entity.update({**common, **values})
        client.put(entity)


@pytest.fixture(scope="module")
def original() -> Iterator[Emulator]:
    """A server with the indexes that TensorFlow's uploader asks for."""
    with running(index=INDEX) as emulator:
        yield emulator


def test_tests_and_entries_are_sorted_and_each_once(
    sink: DatastoreSink, reader: DatastoreReader, spooled: MakeSpooled
) -> None:
    for test in ("b", "a", "ä"):
        store_days(sink, spooled, 2, test)
    assert list(reader.tests()) == ["a", "b", "ä"]
    assert list(reader.entries("a")) == ["BM_a", "BM_b"]


def test_what_the_original_uploaded_is_read(emulator: Emulator, reader: DatastoreReader) -> None:
    upload_as_the_original(emulator, 3)
    upload_as_the_original(emulator, 2.5)
    # Nothing tells to which document each belongs.
    assert [t.value for t in reader.timings("//t:x", "BM_a")] == [2.75]
    assert list(reader.starts("//t:x")) == [START, START]
    assert list(reader.tests()) == ["//t:x"]


def test_the_four_questions_of_the_original_with_its_own_indexes(
    original: Emulator, connect: Connect, spooled: MakeSpooled
) -> None:
    sink = DatastoreSink(connect(original))
    store_days(sink, spooled, 3)
    sink.store(spooled(test="//t:y"))
    client, since = original.client(), START + DAY
    of_test, later = compared("test", "=", "//t:x"), compared("start", ">=", since)
    of_entry = compared("entry", "=", "BM_a")
    days = [int(day.timestamp()) * 1_000_000 for day in (since, since + DAY)]
    starts = found(client, "Test", of_test, later, projection=["start"], limit=10)
    assert [entity["start"] for entity in starts] == days
    timings = found(
        client, "Entry", of_test, of_entry, later, projection=["start", "timing"], limit=10
    )
    assert [(entity["start"], entity["timing"]) for entity in timings] == [
        (days[0], 1.0),
        (days[1], 2.0),
    ]
    tests = found(client, "Test", projection=["test"], distinct_on=["test"])
    assert [entity["test"] for entity in tests] == ["//t:x", "//t:y"]
    (whole,) = found(client, "Test", of_test, compared("start", "=", since))
    assert '"BM_b"' in whole["info"]


def test_a_missing_index_is_said_with_the_file_to_deploy(
    original: Emulator, connect: Connect
) -> None:
    reader = DatastoreReader(connect(original))
    with pytest.raises(InputError) as caught:
        list(reader.starts("//t:x"))
    assert "gcloud datastore indexes create" in str(caught.value)
    assert "index.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_answers_come_page_by_page_and_a_limit_counts_over_all_of_them(
    connect: Connect, spooled: MakeSpooled
) -> None:
    with running(index="any", batch_bytes=500) as emulator:
        sink, reader = DatastoreSink(connect(emulator)), DatastoreReader(connect(emulator))
        sink.store(spooled(entries=40))
        store_days(sink, spooled, 30, "//t:z")
        assert len(list(reader.entries("//t:x"))) == 40
        values = [t.value for t in reader.timings("//t:z", "BM_a", limit=25)]
        assert values == list(range(29, 4, -1))
        assert len(list(reader.starts("//t:z"))) == 30
        assert emulator.counters()["RunQuery"] > 10
