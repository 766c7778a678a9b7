"""What was measured goes along, and runs of one second keep their order."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchyard.publish.sinks.local.reader import LocalReader
from benchyard.publish.sinks.local.schema import VERSION
from benchyard.publish.sinks.local.sink import LocalSink
from tests.benchyard.publish.sinks.records import (
    NEIGHBOURS,
    SubjectTests,
    record,
    results,
    subject,
)


class TestSubjects(SubjectTests):
    """Of the local store."""


@pytest.fixture
def version_1(file: Path) -> Path:
    """A store that the first version wrote: a day apart a run of h0, and a suspect one of h1."""
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as made:
        made.executescript(Path(__file__).with_name("version_1.sql").read_text(encoding="utf-8"))
    return file


def told(reader: LocalReader) -> list[tuple[str, float, str]]:
    return [(t.host, t.wall_time, t.suspect) for t in reader.timings("words", "load")]


OLD = [("h0", 1.0, ""), ("h1", 2.0, "the host swapped")]


def test_a_store_of_version_1_is_read_and_not_changed(version_1: Path, reader: LocalReader) -> None:
    before = version_1.read_bytes()
    assert told(reader) == OLD
    assert version_1.read_bytes() == before


def test_a_store_of_version_1_is_written_on(
    version_1: Path, sink: LocalSink, reader: LocalReader
) -> None:
    assert told(reader) == OLD  # a reader that was there before goes on
    sink.store(results(record(1, 0.5, 3.0, subject())))
    assert told(reader) == [*OLD, ("h1", 3.0, "")]
    with closing(sqlite3.connect(version_1)) as opened:
        assert list(opened.execute("PRAGMA user_version")) == [(VERSION,)]
        found = list(opened.execute("SELECT host, subject, suspect FROM entries ORDER BY start"))
    assert found == [(None, None, None)] * 2 + [("h1", subject()["digest"], None)]


def test_what_is_suspect_is_in_the_views(file: Path, sink: LocalSink) -> None:
    for made in NEIGHBOURS:
        sink.store(results(made))
    with closing(sqlite3.connect(file)) as opened:
        found = list(opened.execute("SELECT commits, suspect FROM entries ORDER BY start"))
        hosts = list(opened.execute("SELECT DISTINCT host FROM tests"))
    short = "a" * 10 + " with changes"
    assert found == [(short, None), (short, "the host swapped"), (short, None)]
    assert hosts == [("h1",)]
