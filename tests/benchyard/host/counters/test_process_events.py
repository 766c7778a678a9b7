"""The kernel tells when processes execute a program and end."""

import socket
import subprocess
import sys
import time
from collections.abc import Generator

import pytest

from benchyard.host.counters.process_events import ProcessEvents
from tests.conftest import eventually

NOTHING = (None, None)


def execute(code: str) -> int:
    """Execute a program of Python to its end; return its process id."""
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as child:
        child.wait()
    return child.pid


@pytest.fixture
def events() -> Generator[ProcessEvents]:
    made = ProcessEvents()
    execute("")
    made.read()
    if not made.are_heard:
        pytest.skip("the kernel tells nobody here of execs and exits")
    yield made
    made.close()


def read_until_ended(events: ProcessEvents, pid: int) -> None:
    def has_ended() -> bool:
        events.read()
        return events.span(pid, 0)[1] is not None

    assert eventually(has_ended)


def test_exec_and_exit_have_the_kernels_monotonic_times(events: ProcessEvents) -> None:
    before = time.monotonic_ns()
    pid = execute("import time; time.sleep(0.1)")
    after = time.monotonic_ns()
    read_until_ended(events, pid)
    began, ended = events.span(pid, before)
    assert began is not None
    assert ended is not None
    assert before < began < began + 10**8 < ended <= after + 10**8
    assert events.span(pid, after)[0] is None


def test_the_end_is_that_of_the_last_thread(events: ProcessEvents) -> None:
    pid = execute("import threading; t = threading.Thread(target=print); t.start(); t.join()")
    read_until_ended(events, pid)
    began, ended = events.span(pid, 0)
    assert (began or 0) < (ended or 0)


def test_what_the_kernel_takes_down_after_the_end_does_not_count(events: ProcessEvents) -> None:
    ages = vars(events)["_ages"]
    pid = execute("x = bytearray(2**26)")
    read_until_ended(events, pid)
    _, ended = events.span(pid, 0)
    if ages.age_ns(pid) is None:
        pytest.skip("the kernel tells nobody here of the ages of processes")
    assert (ended or 0) < vars(events)["_exits"][pid]


def test_others_are_not_heard_once_one_is_named(events: ProcessEvents) -> None:
    code = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.PIPE) as child:
        events.read()
        events.only(child.pid)
        other = execute("")
        child.communicate()
    read_until_ended(events, child.pid)
    assert events.span(other, 0) == NOTHING


def test_where_some_were_lost_nothing_is_known(events: ProcessEvents) -> None:
    # More than any queue of the kernel holds here.
    subprocess.run(["/bin/sh", "-c", "for i in $(seq 600); do /bin/true; done"], check=True)
    pid = execute("")
    events.read()
    assert not events.are_heard
    assert events.span(pid, 0) == NOTHING


@pytest.mark.parametrize("refused", ["socket", "bind"])
def test_a_kernel_that_refuses_tells_nothing(refused: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(socket.socket):
        def bind(self, *_: object) -> None:
            raise PermissionError

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refuse if refused == "socket" else Refusing)
    events = ProcessEvents()
    events.only(1)
    events.read()
    assert events.span(1, 0) == NOTHING
    assert not events.are_heard
    events.close()
