import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest

from benchyard.publish.sinks import open_reader, open_sink
from benchyard.publish.sinks.contract import Spooled
from benchyard.publish.sinks.datastore.reader import DatastoreReader
from benchyard.publish.sinks.datastore.sink import MARKER, DatastoreSink
from tests.benchyard.publish.sinks.datastore.conftest import Connect, MakeSpooled
from tests.emulators.datastore.fixture import Emulator, running

pytestmark = pytest.mark.slow

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def found(emulator: Emulator, kind: str, **where: Any) -> list[Any]:
    """Read all entities of a kind as any user of the client would."""
    return list(emulator.client(**where).query(kind=kind).fetch())


def test_the_environment_says_where(
    emulator: Emulator, spooled: MakeSpooled, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("BENCHYARD_DATASTORE_NAMESPACE", "team")
    sink, reader = open_sink("datastore"), open_reader("datastore")
    sink.check()
    sink.store(spooled())
    assert list(reader.tests()) == ["//t:x"]
    sink.close()
    reader.close()
    assert len(found(emulator, "Test", namespace="team")) == 1
    assert not found(emulator, "Test")


def test_5000_entries_go_into_a_server_that_takes_500_a_commit(
    connect: Connect, spooled: MakeSpooled
) -> None:
    with running(legacy=True) as emulator:
        extras = {"k": {"stringValue": "x" * 200}}
        one = spooled()
        body = json.loads(one.content)
        body["entries"]["entry"] = [
            {"name": f"BM_{n:04}", "wallTime": n, "extras": extras} for n in range(5000)
        ]
        content = json.dumps(body).encode()
        DatastoreSink(connect(emulator)).store(Spooled("a.json", content, "archive/a.json"))
        assert len(found(emulator, "Entry")) == 5000
        (test,) = found(emulator, "Test")
        info = json.loads(test["info"])
        assert [e["name"] for e in info["entries"]["entry"]] == [f"BM_{n:04}" for n in range(5000)]
        assert info[MARKER] == {"archive": "archive/a.json", "bytes": len(json.dumps(body))}


def test_entries_of_two_megabytes_go_in_cut_and_more_than_a_request_takes(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    body = json.loads(spooled().content)
    body["entries"]["entry"] = [
        {"name": f"BM_{n}", "wallTime": n, "extras": {"log": {"stringValue": "x" * 2_000_000}}}
        for n in range(12)
    ]
    sink.store(Spooled("a.json", json.dumps(body).encode(), "gs://archive/a.json"))
    stored = found(emulator, "Entry")
    assert len(stored) == 12
    for one in stored:
        info = json.loads(one["info"])
        assert info["name"] == one["entry"]
        assert info[MARKER]["archive"] == "gs://archive/a.json"
    assert len(found(emulator, "Test")) == 1


def test_names_longer_than_an_index_takes(
    emulator: Emulator, sink: DatastoreSink, reader: DatastoreReader, spooled: MakeSpooled
) -> None:
    test, entry = "//t:" + "ä" * 2000, "BM_" + "ö" * 2000
    sink.store(spooled(test=test, entries={entry: 1.5}))
    assert [t.value for t in reader.timings(test, entry)] == [1.5]
    (listed,) = reader.tests()
    (named,) = reader.entries(listed)
    assert [t.value for t in reader.timings(listed, named)] == [1.5]
    (stored,) = found(emulator, "Entry")
    assert json.loads(stored["info"])["name"] == entry


def test_nan_and_infinity_are_kept(
    sink: DatastoreSink, reader: DatastoreReader, spooled: MakeSpooled
) -> None:
    values = ["NaN", "Infinity", "-Infinity", 0, -1.5]
    for number, value in enumerate(values):
        configuration = {"argument": [str(number)]}
        sink.store(spooled(entries={"BM": value}, runConfiguration=configuration))
    read = [timing.value for timing in reader.timings("//t:x", "BM")]
    numbers = sorted(value for value in read if not math.isnan(value))
    assert numbers == [-math.inf, -1.5, 0.0, math.inf]
    assert len(read) == 5
