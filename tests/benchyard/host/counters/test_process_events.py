"""The kernel tells when processes execute a program and end."""

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing
from unittest.mock import Mock

import pytest

from benchyard.host.counters.process_events import ProcessAges, ProcessEvents
from tests.conftest import eventually, program

NOTHING = (None, None)
LASTING = pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(0.1)",
        # The first thread ends before the last one.
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(0.1,)).start();"
        "ctypes.CDLL(None).pthread_exit(None)",
    ],
    ids=["one thread", "the first thread is gone"],
)


def execute(code: str) -> int:
    """Execute a program of Python to its end; return its process id."""
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as child:
        return child.pid


@pytest.fixture
def events() -> Generator[ProcessEvents]:
    with closing(ProcessEvents()) as made:
        execute("")
        made.read()
        if not made.are_heard:
            pytest.skip("this kernel does not report execs and exits")
        yield made


def read_until_ended(events: ProcessEvents, pid: int) -> None:
    def has_ended() -> bool:
        events.read()
        return events.span(pid, 0)[1] is not None

    assert eventually(has_ended)


@LASTING
def test_exec_and_exit_have_the_kernels_monotonic_times(events: ProcessEvents, code: str) -> None:
    before = time.monotonic_ns()
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as child:
        events.only(child.pid)  # as the lab does: others that end meanwhile may fill the queue
    after = time.monotonic_ns()
    read_until_ended(events, child.pid)
    began_ns, ended_ns = (at_ns or 0 for at_ns in events.span(child.pid, before))
    assert before < began_ns < began_ns + 10**8 < ended_ns <= after + 10**8
    assert events.span(child.pid, after)[0] is None


def test_what_the_kernel_takes_down_after_the_end_does_not_count(events: ProcessEvents) -> None:
    ages = vars(events)["_ages"]
    code = "x = bytearray(2**26); import time; time.sleep(0.1)"
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as child:
        events.only(child.pid)  # as the lab does: others that end meanwhile may fill the queue
    pid = child.pid
    read_until_ended(events, pid)
    _, ended = events.span(pid, 0)
    if not eventually(lambda: is_known(ages, pid), 1):
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


@pytest.mark.usefixtures("events")
@pytest.mark.requires("unshare")
def test_numbers_of_another_namespace_are_not_heard_beside_a_listener() -> None:
    code = (
        "import subprocess; from benchyard.host.counters.process_events import ProcessEvents;"
        "events = ProcessEvents(); subprocess.run(['/bin/true']); events.read();"
        "print(events.are_heard)"
    )
    command = [program("unshare"), "--pid", "--fork", sys.executable, "-c", code]
    assert subprocess.check_output(command, text=True) == "False\n"


@pytest.mark.parametrize("refused", ["socket", "bind"])
def test_a_kernel_that_refuses_tells_nothing(refused: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = Mock(side_effect=PermissionError)
    refusing = type("Refusing", (socket.socket,), {"bind": refuse})
    monkeypatch.setattr(socket, "socket", refuse if refused == "socket" else refusing)
    events = ProcessEvents()
    events.only(1)
    events.read()
    assert events.span(1, 0) == NOTHING
    assert not events.are_heard
    events.close()


# -- ages


def is_known(ages: ProcessAges, pid: int) -> bool:
    ages.read()
    return ages.age_ns(pid) is not None


def hears(ages: ProcessAges) -> bool:
    """Tell whether the age of one of three processes comes: others may fill the kernel's queue."""
    pids = (execute("") for _ in range(3))
    return any(eventually(lambda pid=pid: is_known(ages, pid), 1) for pid in pids)


@pytest.fixture
def ages() -> Generator[ProcessAges]:
    with closing(ProcessAges()) as made:
        if not hears(made):
            pytest.skip("the kernel tells nobody here of the ages of processes")
        yield made


@LASTING
def test_the_age_is_that_at_the_end_of_the_last_thread(ages: ProcessAges, code: str) -> None:
    before = time.monotonic_ns()
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as child:
        ages.only(child.pid)  # as the lab does: others that end meanwhile may fill the queue
    after = time.monotonic_ns()
    assert eventually(lambda: is_known(ages, child.pid))
    assert 10**8 <= (ages.age_ns(child.pid) or 0) <= after - before


def test_others_are_known_where_some_were_lost(ages: ProcessAges) -> None:
    # More than any queue of the kernel holds here.
    subprocess.run(["/bin/sh", "-c", "for i in $(seq 600); do /bin/true; done"], check=True)
    ages.read()
    assert hears(ages)


def hearing(monkeypatch: pytest.MonkeyPatch, *messages: bytes) -> ProcessAges:
    """Return what heard these messages and no more."""
    receive = Mock(side_effect=[*messages, BlockingIOError])
    ages = ProcessAges()
    ages.close()
    monkeypatch.setattr(ages, "_socket", Mock(recv=receive))
    ages.read()
    assert receive.call_count == len(messages) + 1
    return ages


def ended(age_us: int, flags: int = 0x20, version: int = 16) -> bytes:
    """Return the kernel's message of a thread of process 5 that ended."""
    account = struct.pack("=H6xB359xI4xQ", version, flags, 5, age_us)
    stats = struct.pack("=HH", 4 + len(account), 3) + account
    thread = struct.pack("=HHI", 8, 1, 5) + stats
    return bytes(20) + struct.pack("=HH", 4 + len(thread), 4) + thread


def test_only_versions_that_have_the_age_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = [hearing(monkeypatch, ended(7, version=n)).age_ns(5) for n in (11, 12, 14, 15, 16)]
    assert heard == [None, 7000, 7000, None, 7000]


def test_an_earlier_thread_that_is_heard_late_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hearing(monkeypatch, ended(100), ended(15, flags=0x10)).age_ns(5) == 100_000


def test_a_message_that_breaks_off_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = bytes(20) + struct.pack("=HHHH", 600, 4, 900, 3) + bytes(40)
    assert hearing(monkeypatch, b"", bytes(30), broken).age_ns(0) is None
