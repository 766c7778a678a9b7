"""What was measured goes along, and runs of one second keep their order."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from benchyard.publish.sinks.local.reader import LocalReader
from benchyard.publish.sinks.local.schema import VERSION
from benchyard.publish.sinks.local.sink import LocalSink
from tests.benchyard.publish.sinks.records import FIRST, NEIGHBOURS, record, results, subject


def test_runs_of_one_second_keep_their_order_and_their_subject(
    sink: LocalSink, reader: LocalReader
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


def test_two_campaigns_have_runs_of_the_same_numbers(sink: LocalSink, reader: LocalReader) -> None:
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


def test_an_older_record_says_its_host_alone(sink: LocalSink, reader: LocalReader) -> None:
    sink.store(results(record(1, 0.0, 0.1)))
    [found] = reader.timings("words", "load")
    assert (found.host, found.versions, found.suspect) == ("h0", {}, "")
    assert "digest" not in found.subject


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
