import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchyard.core.errors import (
    DocumentRejectedError,
    InputError,
    SinkUnavailableError,
    UnreachableError,
)
from benchyard.publish.sinks.contract import Spooled
from benchyard.publish.sinks.datastore.connection import INDEX_FILE, Connection
from benchyard.publish.sinks.datastore.reader import DatastoreReader
from benchyard.publish.sinks.datastore.settings import Settings
from benchyard.publish.sinks.datastore.sink import DatastoreSink
from benchyard.publish.sinks.sending import RetryPolicy, retried
from tests.benchyard.publish.sinks.datastore.conftest import Connect, MakeSpooled
from tests.emulators.datastore.faults import When
from tests.emulators.datastore.fixture import Emulator, running
from tests.ports import free_port

pytestmark = pytest.mark.slow

QUICK = RetryPolicy(retries=20, first_s=0.01, longest_s=0.05)


def wait_anyhow(_: SinkUnavailableError, seconds: float) -> bool:
    time.sleep(seconds)
    return True


def stored(emulator: Emulator) -> tuple[int, int]:
    """Count the entities of both kinds."""
    client = emulator.client()
    tests, entries = (len(list(client.query(kind=kind).fetch())) for kind in ("Test", "Entry"))
    return tests, entries


@pytest.mark.parametrize("code", ["UNAVAILABLE", "ABORTED", "DEADLINE_EXCEEDED", "INTERNAL", ""])
@pytest.mark.parametrize("when", ["before", "after"])
def test_what_may_pass_is_asked_once_and_told_and_leaves_one_copy(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled, code: str, when: When
) -> None:
    if code:
        emulator.faults.fail(code, times=1, methods=["Commit"], when=when)
    else:
        emulator.faults.drop(times=1, methods=["Commit"], when=when)
    with pytest.raises(SinkUnavailableError, match=code or "may answer later"):
        sink.store(spooled())
    assert emulator.counters()["Commit"] == 1
    assert stored(emulator) == ((0, 0) if when == "before" else (0, 3))
    retried(lambda: sink.store(spooled()), QUICK, wait_anyhow)
    assert stored(emulator) == (1, 3)


# -- whose fault a refusal is


def test_the_test_goes_last_so_where_it_is_the_document_is_whole(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("UNAVAILABLE", times=1, methods=["Commit"], skip=2)
    with pytest.raises(SinkUnavailableError):
        sink.store(spooled(entries=700))
    assert stored(emulator) == (0, 700)


def test_a_document_that_alone_is_refused_is_rejected(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("INVALID_ARGUMENT", times=None, methods=["Commit"], holding="BM_0001")
    with pytest.raises(DocumentRejectedError, match="refuses it: INVALID_ARGUMENT"):
        sink.store(spooled())
    assert stored(emulator)[0] == 0
    sink.store(spooled(test="//t:other", entries=1))
    assert stored(emulator)[0] == 1


def test_a_refusal_that_does_not_come_again_rejects_nothing(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("INVALID_ARGUMENT", times=1, methods=["Commit"], holding="BM_")
    sink.store(spooled())
    assert stored(emulator) == (1, 3)


@pytest.mark.parametrize("code", ["INVALID_ARGUMENT", "OUT_OF_RANGE"])
def test_where_everything_is_refused_no_document_is_to_blame(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled, code: str
) -> None:
    emulator.faults.fail(code, times=None, methods=["Commit"])
    with pytest.raises(InputError, match="refuses whatever it is sent"):
        sink.store(spooled())
    assert emulator.counters()["Commit"] == 2


@pytest.mark.parametrize(
    ("admitted", "settings", "words"),
    [
        ({"refused": "PERMISSION_DENIED"}, {}, "roles/datastore.user"),
        ({"refused": "UNAUTHENTICATED"}, {}, "does not let these credentials in"),
        ({"project": "another"}, {}, "PERMISSION_DENIED"),
        ({"database": "another"}, {"database": "absent"}, "look at project and database"),
        ({"project": "another"}, {"project": "No Project!"}, "project, database and namespace"),
    ],
    ids=str,
)
def test_settings_are_told_of_in_a_sentence_and_asked_with_once(
    emulator: Emulator,
    connect: Connect,
    spooled: MakeSpooled,
    admitted: dict[str, str],
    settings: dict[str, str],
    words: str,
) -> None:
    emulator.admit(**admitted)
    with pytest.raises(InputError, match=words):
        DatastoreSink(connect(emulator, **settings)).store(spooled())
    assert emulator.counters()["Commit"] <= 2
    with pytest.raises(InputError):
        list(DatastoreReader(connect(emulator, **settings)).tests())


def test_a_reader_asks_again(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled, reader: DatastoreReader
) -> None:
    sink.store(spooled())
    emulator.faults.fail("UNAVAILABLE", times=1, methods=["RunQuery"])
    assert list(reader.tests()) == ["//t:x"]


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_where_nobody_listens(spooled: MakeSpooled, host: str) -> None:
    connection = Connection(Settings("p", emulator=f"{host}:{free_port()}"))
    with pytest.raises(UnreachableError, match=f"nobody answers at Datastore at {host}"):
        DatastoreSink(connection).store(spooled())
    with pytest.raises(UnreachableError):
        list(DatastoreReader(connection).tests())
    connection.close()


@pytest.fixture
def own() -> Iterator[Emulator]:
    """Return an emulator of a test's own: what commits late would come into the next test."""
    with running(index=INDEX_FILE) as emulator:
        yield emulator


def test_a_slow_answer_ends_at_the_deadline(
    own: Emulator, connect: Connect, spooled: MakeSpooled
) -> None:
    own.faults.slow(5.0, times=1, methods=["Commit"])
    with pytest.raises(SinkUnavailableError, match="DEADLINE_EXCEEDED"):
        DatastoreSink(connect(own, 1.0)).store(spooled())


def test_closing_ends_what_waits(own: Emulator, connect: Connect, spooled: MakeSpooled) -> None:
    own.faults.slow(3.0, times=None, methods=["Commit"])
    sink = DatastoreSink(connect(own))
    threading.Timer(0.3, sink.close).start()
    with pytest.raises(SinkUnavailableError):
        sink.store(spooled())
    with pytest.raises(SinkUnavailableError, match="closed"):
        sink.store(spooled())
    sink.close()


def test_a_server_that_starts_again_is_found(
    connect: Connect, spooled: MakeSpooled, tmp_path: Path
) -> None:
    with running(index=INDEX_FILE, data=tmp_path / "data") as emulator:
        sink = DatastoreSink(connect(emulator))
        sink.store(spooled())
        emulator.kill()
        threading.Timer(0.5, emulator.restart).start()
        patient = RetryPolicy(retries=600, first_s=0.1, longest_s=0.1)
        retried(lambda: sink.store(spooled(start=5)), patient, wait_anyhow)
        assert stored(emulator) == (2, 6)


@pytest.mark.parametrize("when", ["before", "half", "after"])
def test_a_server_that_dies_in_the_middle_keeps_one_copy(
    connect: Connect, spooled: MakeSpooled, tmp_path: Path, when: When
) -> None:
    with running(index=INDEX_FILE, data=tmp_path / "data") as emulator:
        emulator.faults.die(methods=["Commit"], when=when, skip=1)
        with pytest.raises(SinkUnavailableError):
            DatastoreSink(connect(emulator)).store(spooled(entries=1200))
        emulator.restart()
        assert stored(emulator)[0] == 0
        DatastoreSink(connect(emulator)).store(spooled(entries=1200))
        assert stored(emulator) == (1, 1200)
        reader = DatastoreReader(connect(emulator))
        assert len(list(reader.entries("//t:x"))) == 1200


def test_several_threads_may_store_at_once(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    def store(one: Spooled) -> None:
        retried(lambda: sink.store(one), QUICK)

    emulator.faults.fail("ABORTED", probability=0.2, seed=1, times=None)
    documents = [spooled(start=n % 20, entries=30) for n in range(60)]
    with ThreadPoolExecutor(60) as threads:
        list(threads.map(store, documents))
    emulator.faults.clear()
    assert stored(emulator) == (20, 600)
