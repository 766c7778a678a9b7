"""Publishing to the local store and reading it back."""

import json
import math
import sqlite3
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import DocumentRejectedError, SinkUnavailableError
from benchyard.publish.sinks.local.reader import LocalReader
from benchyard.publish.sinks.local.sink import LocalSink
from benchyard.statistics.measures import median
from tests.benchyard.publish.conftest import raising
from tests.benchyard.publish.sinks.local.conftest import day, document, spooled


def rows(file: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(file)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def put(sink: LocalSink, entries: Mapping[str, float | str], start: float = 0.0) -> None:
    sink.store(spooled(document(entries, start=start)))


# -- what is stored is read


def test_the_views_are_for_everybody(file: Path, sink: LocalSink) -> None:
    sink.store(spooled(document({"load": 1.5}, startTime="1767225600.25")))
    sink.store(spooled(document({"load": 2.5}, startTime="0")))
    assert rows(file, "SELECT * FROM entries ORDER BY start") == [
        ("words", "load", "1970-01-01T00:00:00.000000Z", 2.5, "bench-01", "", "", None),
        ("words", "load", "2026-01-01T00:00:00.250000Z", 1.5, "bench-01", "", "", None),
    ]
    assert rows(file, "SELECT test, start FROM tests ORDER BY start DESC LIMIT 1") == [
        ("words", "2026-01-01T00:00:00.250000Z")
    ]


# -- identity


def test_the_environment_of_the_test_is_not_stored(
    file: Path, sink: LocalSink, reader: LocalReader
) -> None:
    environment = {"argument": ["--fast"], "envVars": {"TOKEN": "hunter2"}}
    sink.store(spooled(document({"load": 1.0}, runConfiguration=environment)))
    [(info,)] = rows(file, "SELECT info FROM tests")
    assert isinstance(info, bytes)
    kept = json.loads(zlib.decompress(info))
    assert kept["runConfiguration"] == {"argument": ["--fast"]}
    assert kept["entries"]["entry"][0]["name"] == "load"
    sink.close()
    reader.close()
    assert all(b"hunter2" not in path.read_bytes() for path in file.parent.iterdir())


# -- values


def test_what_is_no_number_stays_what_it_is(sink: LocalSink, reader: LocalReader) -> None:
    values = {"nan": "NaN", "inf": "Infinity", "neg": "-Infinity", "zero": 0, "int": 3}
    sink.store(spooled(document(values)))
    read = {name: next(iter(reader.timings("words", name))).value for name in values}
    assert math.isnan(read.pop("nan"))
    assert read == {"inf": math.inf, "neg": -math.inf, "zero": 0.0, "int": 3.0}
    assert all(isinstance(value, float) for value in read.values())


EPOCH, SECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
times = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.tuples(names, times), max_size=20),
    names,
    st.integers(0, (datetime(9999, 12, 30, tzinfo=UTC) - EPOCH) // SECOND),
)
def test_any_names_times_and_dates(entries: list[tuple[str, float]], test: str, start: int) -> None:
    moment = EPOCH + start * SECOND
    found = [{"name": name, "wallTime": time} for name, time in entries]
    with TemporaryDirectory() as folder:
        file = Path(folder, "s.sqlite")
        sink, reader = LocalSink(file), LocalReader(file)
        try:
            sink.store(spooled(document(found, test=test, startTime=str(start))))
            assert list(reader.tests()) == [test]
            assert list(reader.entries(test)) == sorted({name for name, _ in entries})
            assert list(reader.starts(test)) == [moment]
            for name in {name for name, _ in entries}:
                read = [one.value for one in reader.timings(test, name)]
                assert read == [median([time for other, time in entries if other == name])]
        finally:
            sink.close()
            reader.close()


# -- what can never be published


def test_what_is_rejected_leaves_no_file(file: Path, sink: LocalSink) -> None:
    with pytest.raises(DocumentRejectedError):
        sink.store(spooled(document({"\ud800": 1.0})))
    assert not file.exists()


# -- one sink in several threads, and closed in between


def test_a_closed_sink_opens_again(sink: LocalSink, reader: LocalReader) -> None:
    sink.close()
    put(sink, {"load": 1.0})
    sink.close()
    sink.close()
    put(sink, {"load": 1.0}, start=1)
    assert len(list(reader.starts("words"))) == 2


def test_a_store_that_is_moved_away_is_made_anew(
    file: Path, sink: LocalSink, tmp_path: Path
) -> None:
    put(sink, {"load": 1.0})
    for path in list(file.parent.iterdir()):
        path.rename(tmp_path / path.name)
    put(sink, {"load": 2.0}, start=1)
    assert rows(file, "SELECT timing FROM entries") == [(2.0,)]


def test_a_failed_document_leaves_nothing(
    file: Path, sink: LocalSink, reader: LocalReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(sink, {"load": 1.0})
    with monkeypatch.context() as patch:
        broken = raising(sqlite3.OperationalError("broken"))
        patch.setattr("benchyard.publish.sinks.local.sink._put_timings", broken)
        with pytest.raises(SinkUnavailableError, match=r"results\.sqlite: .*\(broken\)"):
            put(sink, {"sort": 1.0}, start=1)
    assert list(reader.starts("words")) == [day(0)]
    put(sink, {"sort": 1.0}, start=1)
    assert list(reader.entries("words")) == ["load", "sort"]
    assert rows(file, "PRAGMA integrity_check") == [("ok",)]


def test_a_reader_sees_what_comes_while_it_reads(sink: LocalSink, reader: LocalReader) -> None:
    for start in range(3):
        put(sink, {"load": 1.0}, start)
    reading = reader.timings("words", "load")
    next(reading)
    put(sink, {"load": 1.0}, 9)
    assert len(list(reading)) == 2
    assert len(list(reader.timings("words", "load"))) == 4
