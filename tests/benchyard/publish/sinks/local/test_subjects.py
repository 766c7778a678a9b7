"""What was measured goes along, and runs of one second keep their order."""

import sqlite3
from contextlib import closing
from pathlib import Path

from benchyard.publish.sinks.local.sink import LocalSink
from benchyard.publish.sinks.local.store import BLOCK
from tests.benchyard.publish.sinks.records import (
    NEIGHBOURS,
    SubjectTests,
    results,
)


class TestSubjects(SubjectTests):
    """Of the local store."""

    runs = 4 * BLOCK + 5


def test_what_is_suspect_is_in_the_views(file: Path, sink: LocalSink) -> None:
    for made in NEIGHBOURS:
        sink.store(results(made))
    with closing(sqlite3.connect(file)) as opened:
        found = list(opened.execute("SELECT commits, suspect FROM entries ORDER BY start"))
        hosts = list(opened.execute("SELECT DISTINCT host FROM tests"))
    short = "a" * 10 + " with changes"
    assert found == [(short, None), (short, "the host swapped"), (short, None)]
    assert hosts == [("h1",)]
