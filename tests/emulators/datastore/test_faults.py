"""What a test can order to go wrong, and what of it a client sees."""

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from google.api_core.exceptions import (
    DeadlineExceeded,
    GoogleAPICallError,
    ResourceExhausted,
    ServiceUnavailable,
)

from tests.emulators.datastore.conftest import found, names, put, put_all
from tests.emulators.datastore.faults import Fault
from tests.emulators.datastore.fixture import Emulator, running
from tests.emulators.datastore.journal import Journal
from tests.emulators.datastore.keys import Partition
from tests.emulators.datastore.store import Change, Store


def stored(client: Any) -> list[Any]:
    return names(found(client, "Test"))


def test_so_many_calls_fail_and_the_next_one_does_not(ours: Emulator, client: Any) -> None:
    ours.faults.fail("RESOURCE_EXHAUSTED", times=2, methods=["Commit"], skip=1)
    put(client, "Test", "passes")
    for _ in range(2):
        with pytest.raises(ResourceExhausted, match="by order of the test"):
            put(client, "Test", "fails")
    put(client, "Test", "passes too")
    assert stored(client) == ["passes", "passes too"]
    counts = ours.counters()
    assert (counts["Commit"], counts["Commit:RESOURCE_EXHAUSTED"], counts["mutations"]) == (4, 2, 2)


def test_an_order_can_be_taken_back(ours: Emulator, client: Any) -> None:
    ours.faults.fail("INTERNAL", times=None)
    ours.faults.clear()
    put(client, "Test", "a")


def test_a_call_may_be_done_although_it_fails(ours: Emulator, client: Any) -> None:
    ours.faults.fail("INTERNAL", methods=["Commit"], when="after")
    with pytest.raises(GoogleAPICallError):
        put(client, "Test", "done")
    assert stored(client) == ["done"]


def test_half_of_a_commit_may_be_done_although_it_fails(ours: Emulator, client: Any) -> None:
    ours.faults.fail("UNAVAILABLE", methods=["Commit"], when="half")
    with pytest.raises(ServiceUnavailable):
        put_all(client, "Test", {name: {} for name in "abcd"})
    assert stored(client) == ["a", "b"]


@pytest.mark.parametrize(("when", "expected"), [("before", []), ("after", ["a"])])
def test_the_line_is_cut_and_the_client_connects_again(
    ours: Emulator, client: Any, when: Any, expected: list[str]
) -> None:
    put(client, "K", "warm")
    ours.faults.drop(methods=["Commit"], when=when)
    with pytest.raises(ServiceUnavailable):
        put(client, "Test", "a")
    assert stored(client) == expected


def test_a_late_answer_misses_its_deadline(ours: Emulator, client: Any) -> None:
    put(client, "K", "warm")
    ours.faults.slow(5.0, methods=["Commit"], when="after")
    key = {"path": [{"kind": "Test", "name": "late"}]}
    request = {"project_id": client.project, "mode": "NON_TRANSACTIONAL"}
    request["mutations"] = [{"upsert": {"key": key}}]
    with pytest.raises(DeadlineExceeded):
        client._datastore_api.commit(request=request, timeout=2.0, retry=None)
    assert stored(client) == ["late"]


def test_chance_is_the_same_for_a_seed() -> None:
    def struck(seed: int) -> list[bool]:
        fault = Fault("fail", times=None, probability=0.5, seed=seed)
        return [fault.strikes("Commit") for _ in range(50)]

    assert struck(1) == struck(1)
    assert struck(1) != struck(2)
    assert 10 < sum(struck(1)) < 40


def test_a_status_that_does_not_exist_is_refused(ours: Emulator) -> None:
    with pytest.raises(Exception, match="there is no status BUSY"):
        ours.faults.fail("BUSY")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "expected"), [("before", ["a"]), ("half", ["a"]), ("after", ["a", "b"])]
)
def test_a_server_killed_at_a_commit_has_all_of_it_or_nothing(
    tmp_path: Path, when: Any, expected: list[str]
) -> None:
    with running(data=tmp_path / "journal") as server:
        client = server.client()
        put(client, "Test", "a", test="t")
        server.faults.die(when=when)
        with pytest.raises(ServiceUnavailable):
            put_all(client, "Test", {"b": {"test": "t"}, "c": {"test": "t"}})
        server.wait()
        server.restart()
        wanted = [*expected, "c"] if len(expected) == 2 else expected
        assert stored(server.client()) == wanted
        put(server.client(), "Test", "d", test="t")
        assert stored(server.client()) == [*wanted, "d"]


@pytest.mark.slow
def test_a_server_that_is_down_refuses_and_knows_nothing_afterwards() -> None:
    with running() as server:
        put(server.client(), "Test", "a")
        server.stop()
        began = time.monotonic()
        with pytest.raises(ServiceUnavailable):
            put(server.client(), "Test", "b")
        assert time.monotonic() - began < 30
        server.restart()
        assert stored(server.client()) == []


@pytest.mark.parametrize("kept", [0, 5, 20, 70])
def test_a_journal_forgets_what_a_kill_left_of_a_commit(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "journal"
    shelf = (Partition("p", "", ""), "K")
    with closing(Journal(path)) as journal:
        journal.add([Change(b"a", shelf, b"")], 1)
        whole = path.read_bytes()
        journal.add([Change(b"b", shelf, b"x" * 100), Change(b"a", shelf, None)], 2)
    path.write_bytes(path.read_bytes()[: len(whole) + kept])
    store = Store()
    with closing(Journal(path)) as journal:
        journal.replay(store)
        assert [*store.rows] == [b"a"]
        assert path.read_bytes() == whole
        journal.clear()
    assert path.read_bytes() == b""
