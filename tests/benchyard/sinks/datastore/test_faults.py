import threading
from pathlib import Path

import pytest

from benchyard.errors import DocumentRejectedError, SinkUnavailableError
from benchyard.sinks.datastore.connection import INDEX_FILE, Connection
from benchyard.sinks.datastore.patience import Patience
from benchyard.sinks.datastore.reader import DatastoreReader
from benchyard.sinks.datastore.settings import Settings
from benchyard.sinks.datastore.sink import DatastoreSink
from tests.benchyard.sinks.datastore.conftest import Connect, MakeSpooled
from tests.emulators.datastore.faults import When
from tests.emulators.datastore.fixture import Emulator, running

pytestmark = pytest.mark.slow

#: Gives up at once.
SHORT = Patience(attempt_s=20.0, trying_s=0.3, first_pause_s=0.05, longest_pause_s=0.1)


def stored(emulator: Emulator) -> tuple[int, int]:
    """Count the entities of both kinds."""
    client = emulator.client()
    tests, entries = (len(list(client.query(kind=kind).fetch())) for kind in ("Test", "Entry"))
    return tests, entries


@pytest.mark.parametrize(
    "code", ["UNAVAILABLE", "ABORTED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"]
)
def test_what_passes_is_waited_for(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled, code: str
) -> None:
    emulator.faults.fail(code, times=3, methods=["Commit"])
    sink.store(spooled())
    assert stored(emulator) == (1, 3)


def test_one_internal_error_is_waited_for_and_two_are_not(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("INTERNAL", times=1, methods=["Commit"])
    sink.store(spooled())
    emulator.faults.fail("INTERNAL", times=2, methods=["Commit"])
    with pytest.raises(SinkUnavailableError, match="tried 2 times: INTERNAL"):
        sink.store(spooled())


@pytest.mark.parametrize("code", ["UNAVAILABLE", "INTERNAL", "ABORTED"])
def test_an_error_after_all_was_stored_leaves_one_copy(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled, code: str
) -> None:
    emulator.faults.fail(code, times=1, methods=["Commit"], when="after")
    sink.store(spooled())
    assert stored(emulator) == (1, 3)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_that_breaks_leaves_one_copy(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled, when: When
) -> None:
    emulator.faults.drop(times=1, methods=["Commit"], when=when)
    sink.store(spooled())
    assert stored(emulator) == (1, 3)


def test_many_faults_by_chance_leave_one_copy_of_each(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("UNAVAILABLE", probability=0.3, seed=7, times=None)
    for number in range(10):
        sink.store(spooled(start=number))
    emulator.faults.clear()
    assert stored(emulator) == (10, 30)


def test_the_test_goes_last_so_where_it_is_the_document_is_whole(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("INVALID_ARGUMENT", times=1, methods=["Commit"], skip=2)
    with pytest.raises(DocumentRejectedError, match="INVALID_ARGUMENT"):
        sink.store(spooled(entries=700))
    assert stored(emulator) == (0, 700)


@pytest.mark.parametrize("code", ["PERMISSION_DENIED", "UNAUTHENTICATED"])
def test_no_document_is_rejected_for_its_credentials(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled, code: str
) -> None:
    emulator.faults.fail(code, times=1)
    with pytest.raises(SinkUnavailableError, match="credentials"):
        sink.store(spooled())


def test_a_server_that_stays_down_is_not_waited_for_forever(
    emulator: Emulator, connect: Connect, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("UNAVAILABLE", times=None)
    with pytest.raises(SinkUnavailableError, match="it may answer later"):
        DatastoreSink(connect(emulator, SHORT)).store(spooled())
    with pytest.raises(SinkUnavailableError):
        list(DatastoreReader(connect(emulator, SHORT)).tests())
    emulator.faults.clear()
    assert stored(emulator) == (0, 0)


def test_where_nobody_listens(spooled: MakeSpooled) -> None:
    connection = Connection(Settings("p", emulator="127.0.0.1:9"), SHORT)
    with pytest.raises(SinkUnavailableError, match=r"127\.0\.0\.1:9"):
        DatastoreSink(connection).store(spooled())
    connection.close()


def test_a_slow_answer_ends_at_the_deadline(
    emulator: Emulator, connect: Connect, spooled: MakeSpooled
) -> None:
    emulator.faults.slow(5.0, times=1, methods=["Commit"])
    hasty = Patience(attempt_s=2.0, trying_s=60.0, first_pause_s=0.01, longest_pause_s=0.1)
    DatastoreSink(connect(emulator, hasty)).store(spooled())
    assert emulator.counters()["Commit"] == 3
    assert stored(emulator) == (1, 3)


def test_closing_ends_what_waits(
    emulator: Emulator, connect: Connect, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("UNAVAILABLE", times=None)
    patient = Patience(attempt_s=20.0, trying_s=300.0, first_pause_s=100.0, longest_pause_s=100.0)
    sink = DatastoreSink(connect(emulator, patient))
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
        sink.store(spooled(start=5))
        assert stored(emulator) == (2, 6)


@pytest.mark.parametrize("when", ["before", "half", "after"])
def test_a_server_that_dies_in_the_middle_keeps_one_copy(
    connect: Connect, spooled: MakeSpooled, tmp_path: Path, when: When
) -> None:
    with running(index=INDEX_FILE, data=tmp_path / "data") as emulator:
        emulator.faults.die(methods=["Commit"], when=when, skip=1)
        with pytest.raises(SinkUnavailableError):
            DatastoreSink(connect(emulator, SHORT)).store(spooled(entries=1200))
        emulator.restart()
        assert stored(emulator)[0] == 0
        DatastoreSink(connect(emulator)).store(spooled(entries=1200))
        assert stored(emulator) == (1, 1200)
        reader = DatastoreReader(connect(emulator))
        assert len(list(reader.entries("//t:x"))) == 1200


def test_several_threads_may_store_at_once(
    emulator: Emulator, sink: DatastoreSink, spooled: MakeSpooled
) -> None:
    emulator.faults.fail("ABORTED", probability=0.2, seed=1, times=None)
    documents = [spooled(start=n % 20, entries=30) for n in range(60)]
    threads = [threading.Thread(target=sink.store, args=(one,)) for one in documents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    emulator.faults.clear()
    assert stored(emulator) == (20, 600)
