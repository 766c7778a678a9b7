"""What was measured goes along, and runs of one second keep their order."""

from typing import Any

import pytest

from benchyard.publish.sinks.datastore.reader import DatastoreReader
from benchyard.publish.sinks.datastore.sink import DatastoreSink
from benchyard.results.subject import commit_of
from tests.benchyard.publish.sinks.datastore.conftest import MakeSpooled
from tests.benchyard.publish.sinks.records import SubjectTests, record, results, subject
from tests.emulators.datastore.fixture import Emulator

pytestmark = pytest.mark.slow


class TestSubjects(SubjectTests):
    """Of Datastore."""


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
