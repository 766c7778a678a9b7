"""What a test can order to go wrong, and what of it a client sees."""

from pathlib import Path
from typing import Any

import pytest
from google.api_core.exceptions import (
    GoogleAPICallError,
    ResourceExhausted,
    ServiceUnavailable,
)

from tests.emulators.datastore.conftest import found, names, put, put_all
from tests.emulators.datastore.faults import Fault
from tests.emulators.datastore.fixture import Emulator, running


@pytest.fixture
def client(ours: Emulator) -> Any:
    return ours.client()


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
    assert ours.counters() == {"Commit": 4, "RunQuery": 1}


def test_an_order_can_be_for_some_requests_and_be_taken_back(ours: Emulator, client: Any) -> None:
    ours.faults.fail("INTERNAL", times=None, holding="odd")
    put(client, "Test", "a")
    with pytest.raises(GoogleAPICallError):
        put(client, "Test", "odd")
    ours.faults.clear()
    put(client, "Test", "odd")


@pytest.mark.parametrize(("when", "expected"), [("before", []), ("after", ["a"])])
def test_the_line_is_cut_and_the_client_connects_again(
    ours: Emulator, client: Any, when: str, expected: list[str]
) -> None:
    put(client, "K", "warm")
    ours.faults.drop(methods=["Commit"], when=when)
    with pytest.raises(ServiceUnavailable):
        put(client, "Test", "a")
    assert stored(client) == expected


def test_chance_is_the_same_for_a_seed() -> None:
    def struck(seed: int) -> list[bool]:
        fault = Fault("fail", times=None, probability=0.5, seed=seed)
        return [fault.strikes("Commit", b"") for _ in range(50)]

    assert struck(1) == struck(1)
    assert struck(1) != struck(2)
    assert 10 < sum(struck(1)) < 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "expected"), [("before", ["a"]), ("half", ["a"]), ("after", ["a", "b", "c"])]
)
def test_a_server_killed_at_a_commit_has_all_of_it_or_nothing(
    tmp_path: Path, when: str, expected: list[str]
) -> None:
    with running(data=tmp_path / "journal") as server:
        client = server.client()
        put(client, "Test", "a", test="t")
        server.faults.die(methods=["Commit"], when=when)
        with pytest.raises(ServiceUnavailable):
            put_all(client, "Test", {"b": {"test": "t"}, "c": {"test": "t"}})
        for _ in range(2):  # what was cut short is not in the way of what comes after
            server.restart()
            assert stored(server.client()) == expected
            expected = [*expected, "d"]
            put(server.client(), "Test", "d")
