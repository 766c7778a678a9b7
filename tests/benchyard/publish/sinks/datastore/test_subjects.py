"""What was measured goes along, and runs of one second keep their order."""

from datetime import timedelta
from typing import Any

import pytest

from benchyard.publish.sinks.datastore.reader import DatastoreReader
from benchyard.publish.sinks.datastore.sink import DatastoreSink
from benchyard.results.subject import commit_of
from tests.benchyard.publish.sinks.datastore.conftest import MakeSpooled
from tests.benchyard.publish.sinks.records import FIRST, NEIGHBOURS, record, results, subject
from tests.emulators.datastore.fixture import Emulator

pytestmark = pytest.mark.slow


def test_runs_of_one_second_keep_their_order_and_their_subject(
    sink: DatastoreSink, reader: DatastoreReader
) -> None:
    for made in NEIGHBOURS:
        sink.store(results(made))
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
    sink: DatastoreSink, reader: DatastoreReader
) -> None:
    campaigns = [
        record(number, 60.0 * place + number, 0.1, measured)
        for place, measured in enumerate((subject(), subject(version="2.0.0")))
        for number in (1, 2)
    ]
    for made in (*campaigns, *campaigns):  # published, and published again
        sink.store(results(made))
    found = list(reader.timings("words", "load"))
    assert [one.started_at for one in found] == [made.began for made in campaigns]
    assert [one.versions["DuckDB"] for one in found] == ["1.2.2", "1.2.2", "2.0.0", "2.0.0"]


def test_entities_say_what_was_measured(sink: DatastoreSink, emulator: Emulator) -> None:
    sink.store(results(record(1, 0.0, 0.1, subject())))
    client: Any = emulator.client()
    for kind in ("Test", "Entry"):
        [entity] = client.query(kind=kind).fetch()
        assert entity["host"] == "h1"
        assert entity["subject"] == subject()["digest"]
        assert entity["commit"] == "a" * 10 + " with changes"
        unindexed = {"host", "subject", "commit", "info"}
        assert entity.exclude_from_indexes == unindexed


def test_others_documents_say_host_and_commit(
    sink: DatastoreSink, reader: DatastoreReader, spooled: MakeSpooled
) -> None:
    machine, commit = {"hostname": "h9"}, {"hash": "b" * 40}
    sink.store(spooled(machineConfiguration=machine, commitId=commit, entries=1))
    [found] = reader.timings("//t:x", "BM_0000")
    assert found.host == "h9"
    assert commit_of(found.subject) == "b" * 10


def test_an_older_record_says_its_host_alone(sink: DatastoreSink, reader: DatastoreReader) -> None:
    sink.store(results(record(1, 0.0, 0.1)))
    [found] = reader.timings("words", "load")
    assert (found.host, found.versions, found.suspect) == ("h0", {}, "")
    assert "digest" not in found.subject
