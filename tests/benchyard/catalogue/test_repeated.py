import re
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from benchyard.catalogue.repeated import Repeated
from benchyard.core.errors import InputError
from tests.conftest import eventually

PATIENCE_S = 30


def test_without_an_interval_there_is_one_round() -> None:
    rounds: list[int] = []
    work = Repeated("test", lambda _: rounds.append(1))
    work.start()
    for thread in threading.enumerate():
        if thread.name == "test":
            thread.join(PATIENCE_S)
    assert (rounds, work.is_running) == ([1], False)


def test_it_sleeps_between_rounds_and_stops_within_the_sleep() -> None:
    rounds: list[int] = []
    done = Event()

    def work(_: Callable[[], bool]) -> None:
        rounds.append(1)
        done.set()

    repeated = Repeated("test", work)
    repeated.start(3600)
    assert done.wait(PATIENCE_S)
    assert repeated.is_running
    repeated.stop()
    assert (rounds, repeated.is_running) == ([1], False)


def test_a_thread_that_sleeps_does_not_wake_up() -> None:
    done = Event()
    repeated = Repeated("sleeper", lambda _: done.set())
    repeated.start(3600)
    assert done.wait(PATIENCE_S)
    (thread,) = [one for one in threading.enumerate() if one.name == "sleeper"]
    assert eventually(lambda: _switches(thread) == (Event().wait(0.2) or _switches(thread)), 30)
    repeated.stop()


def _switches(thread: threading.Thread) -> int:
    """Return how often a thread gave up the processor, or had it taken away."""
    status = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
    return sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", status)))


def test_rounds_go_on_until_it_stops() -> None:
    third = Event()
    rounds: list[int] = []

    def work(_: Callable[[], bool]) -> None:
        rounds.append(1)
        if len(rounds) == 3:
            third.set()

    repeated = Repeated("test", work)
    repeated.start(0.001)
    assert third.wait(PATIENCE_S)
    repeated.stop()
    count = len(rounds)
    assert not Event().wait(0.02)
    assert len(rounds) == count


def test_work_is_told_that_it_shall_end() -> None:
    begun = Event()

    def work(stopped: Callable[[], bool]) -> None:
        begun.set()
        while not stopped():
            Event().wait(0.001)

    repeated = Repeated("test", work)
    repeated.start(1)
    assert begun.wait(PATIENCE_S)
    repeated.stop()
    assert not repeated.is_running


def test_starting_again_ends_what_went_on() -> None:
    repeated = Repeated("twice", lambda _: None)
    repeated.start(3600)
    repeated.start(3600)
    assert [thread.name for thread in threading.enumerate()].count("twice") == 1
    repeated.stop()


@pytest.mark.parametrize("interval", [-1, float("nan")])
def test_an_impossible_interval_is_refused(interval: float) -> None:
    with pytest.raises(InputError, match="0 or more seconds"):
        Repeated("test", lambda _: None).start(interval)
