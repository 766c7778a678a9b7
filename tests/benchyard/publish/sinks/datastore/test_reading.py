from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.cloud import datastore

from benchyard.core.errors import InputError
from benchyard.publish.sinks.datastore.reader import DatastoreReader
from benchyard.publish.sinks.datastore.sink import DatastoreSink
from tests.benchyard.publish.sinks.datastore.conftest import Connect, MakeSpooled
from tests.emulators.datastore.fixture import Emulator, running

pytestmark = pytest.mark.slow

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
DAY = timedelta(days=1)

#: Indexes as TensorFlow ships them, in upload_test_benchmarks_index.yaml.
ORIGINAL = """
indexes:
- kind: Test
  properties:
  - name: test
  - name: start
- kind: Entry
  properties:
  - name: test
  - name: entry
  - name: start
  - name: timing
"""


def store_days(sink: DatastoreSink, spooled: MakeSpooled, days: int, test: str = "//t:x") -> None:
    """Store one document for each day, its timing the number of the day."""
    for day in range(days):
        start = (START + day * DAY).timestamp()
        sink.store(spooled(test=test, start=int(start), entries={"BM_a": day, "BM_b": -day}))


def upload_as_the_original(emulator: Emulator, timing: Any, entry: str = "BM_a") -> None:
    """Store as upload_test_benchmarks.py does: numbered keys, no zone, wallTime as JSON had it."""
    client: Any = emulator.client()
    start = START.replace(tzinfo=None)
    made: list[Any] = []
    for kind, values in (
        ("Test", {"test": "//t:x", "start": start, "info": "{}"}),
        ("Entry", {"test": "//t:x", "start": start, "entry": entry, "timing": timing, "info": "{"}),
    ):
        entity: Any = datastore.Entity(client.key(kind), exclude_from_indexes=["info"])
        entity.update(values)
        made.append(entity)
    client.put_multi(made)


def ask(emulator: Emulator, text: str, **bindings: Any) -> list[Any]:
    """Ask in GQL, as the original's docstring does; values are bound as Google's client does."""
    from google.cloud.datastore import helpers  # noqa: PLC0415

    client: Any = emulator.client()
    library: Any = helpers
    named: dict[str, Any] = {}
    for name, value in bindings.items():
        attribute, converted = library._pb_attr_value(value)
        named[name] = {"value": {attribute: converted}}
    answer = client._datastore_api.run_query(
        request={
            "project_id": emulator.project,
            "partition_id": {"project_id": emulator.project},
            "gql_query": {"query_string": text, "allow_literals": True, "named_bindings": named},
        }
    )
    return [dict(library.entity_from_protobuf(r.entity)) for r in answer.batch.entity_results]


@pytest.fixture
def days(sink: DatastoreSink, spooled: MakeSpooled) -> None:
    store_days(sink, spooled, 5)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    index = tmp_path_factory.mktemp("original") / "index.yaml"
    index.write_text(ORIGINAL)
    with running(index=index) as emulator:
        yield emulator


@pytest.mark.usefixtures("days")
def test_starts_in_both_orders_since_a_day_and_only_so_many(reader: DatastoreReader) -> None:
    every = [START + day * DAY for day in range(5)]
    assert list(reader.starts("//t:x")) == every
    assert list(reader.starts("//t:x", newest_first=True)) == every[::-1]
    assert list(reader.starts("//t:x", since=every[3])) == every[3:]
    assert list(reader.starts("//t:x", since=every[1], newest_first=True, limit=2)) == [
        every[4],
        every[3],
    ]
    assert list(reader.starts("//t:x", limit=2)) == every[:2]
    assert not list(reader.starts("//t:none"))


@pytest.mark.usefixtures("days")
def test_timings_in_both_orders_since_a_day_and_only_so_many(reader: DatastoreReader) -> None:
    def values(**wanted: Any) -> list[float]:
        return [timing.wall_time for timing in reader.timings("//t:x", "BM_a", **wanted)]

    assert values() == [0, 1, 2, 3, 4]
    assert values(newest_first=True) == [4, 3, 2, 1, 0]
    assert values(since=START + 3 * DAY) == [3, 4]
    assert values(since=START + timedelta(microseconds=1), limit=2) == [1, 2]
    assert values(since=START + DAY, newest_first=True, limit=3) == [4, 3, 2]
    assert [t.started_at for t in reader.timings("//t:x", "BM_a", limit=1)] == [START]
    assert not list(reader.timings("//t:x", "BM_none"))


def test_tests_and_entries_are_sorted_and_each_once(
    sink: DatastoreSink, reader: DatastoreReader, spooled: MakeSpooled
) -> None:
    for test in ("b", "a", "ä"):
        store_days(sink, spooled, 2, test)
    assert list(reader.tests()) == ["a", "b", "ä"]
    assert list(reader.entries("a")) == ["BM_a", "BM_b"]


def test_microseconds_are_kept(
    sink: DatastoreSink, reader: DatastoreReader, spooled: MakeSpooled
) -> None:
    sink.store(spooled(start=1_700_000_000.123456))
    (start,) = reader.starts("//t:x")
    assert abs((start - START).total_seconds() - 0.123456) < 2e-6
    assert len(list(reader.stored("//t:x", start))) == 3


def test_a_time_without_a_zone_is_utc(
    sink: DatastoreSink, reader: DatastoreReader, spooled: MakeSpooled
) -> None:
    sink.store(spooled())
    assert list(reader.starts("//t:x", since=START.replace(tzinfo=None))) == [START]


def test_what_the_original_uploaded_is_read(emulator: Emulator, reader: DatastoreReader) -> None:
    upload_as_the_original(emulator, 3)
    upload_as_the_original(emulator, 2.5)
    assert [t.wall_time for t in reader.timings("//t:x", "BM_a")] == [3.0, 2.5]
    stored = list(reader.stored("//t:x", START))
    assert [(one.wall_time, one.info) for one in stored] in (
        [(3.0, {}), (2.5, {})],
        [(2.5, {}), (3.0, {})],
    )
    assert list(reader.starts("//t:x")) == [START, START]
    assert list(reader.tests()) == ["//t:x"]


def test_the_four_questions_of_the_original_with_its_own_indexes(
    original: Emulator, connect: Connect, spooled: MakeSpooled
) -> None:
    sink = DatastoreSink(connect(original))
    store_days(sink, spooled, 3)
    sink.store(spooled(test="//t:y"))
    since = START + DAY
    starts = ask(
        original,
        "SELECT start FROM Test WHERE test = @test AND start >= @since LIMIT 10",
        test="//t:x",
        since=since,
    )
    assert [_micro(row["start"]) for row in starts] == [since, since + DAY]
    timings = ask(
        original,
        "SELECT start, timing FROM Entry "
        "WHERE test = @test AND entry = @entry AND start >= @since LIMIT 10",
        test="//t:x",
        entry="BM_a",
        since=since,
    )
    assert [(_micro(row["start"]), row["timing"]) for row in timings] == [
        (since, 1.0),
        (since + DAY, 2.0),
    ]
    tests = ask(original, "SELECT DISTINCT ON (test) test FROM Test")
    assert [row["test"] for row in tests] == ["//t:x", "//t:y"]
    (whole,) = ask(
        original,
        "SELECT * FROM Test WHERE test = @test AND start = @start",
        test="//t:x",
        start=since,
    )
    assert '"BM_b"' in whole["info"]


def _micro(value: Any) -> datetime:
    """Google's client leaves a projected time as microseconds."""
    if isinstance(value, int):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
    return value


def test_a_missing_index_is_said_with_the_file_to_deploy(
    original: Emulator, connect: Connect
) -> None:
    reader = DatastoreReader(connect(original))
    with pytest.raises(InputError) as caught:
        list(reader.starts("//t:x", newest_first=True))
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
        assert len(list(reader.stored("//t:x", START))) == 40
        assert len(list(reader.entries("//t:x"))) == 40
        values = [t.wall_time for t in reader.timings("//t:z", "BM_a", limit=25)]
        assert values == list(range(25))
        assert len(list(reader.starts("//t:z", newest_first=True))) == 30
        assert emulator.counters()["RunQuery"] > 10
