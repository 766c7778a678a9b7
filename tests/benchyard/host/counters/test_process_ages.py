"""The kernel tells how old processes were when they called exit."""

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Generator

import pytest

from benchyard.host.counters.process_events import ProcessAges
from tests.conftest import eventually


def execute(code: str) -> int:
    """Execute a program of Python to its end; return its process id."""
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as child:
        child.wait()
    return child.pid


def is_known(ages: ProcessAges, pid: int) -> bool:
    ages.read()
    return ages.age_ns(pid) is not None


@pytest.fixture
def ages() -> Generator[ProcessAges]:
    made = ProcessAges()
    pid = execute("")
    if not eventually(lambda: is_known(made, pid), 1):
        pytest.skip("the kernel tells nobody here of the ages of processes")
    yield made
    made.close()


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(0.1)",
        # The first thread ends before the last one.
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(0.1,)).start();"
        "ctypes.CDLL(None).pthread_exit(None)",
    ],
    ids=["one thread", "the first thread is gone"],
)
def test_the_age_is_that_at_the_end_of_the_last_thread(ages: ProcessAges, code: str) -> None:
    before = time.monotonic_ns()
    pid = execute(code)
    after = time.monotonic_ns()
    assert eventually(lambda: is_known(ages, pid))
    assert 10**8 <= (ages.age_ns(pid) or 0) <= after - before


def test_others_are_known_where_some_were_lost(ages: ProcessAges) -> None:
    # More than any queue of the kernel holds here.
    subprocess.run(["/bin/sh", "-c", "for i in $(seq 600); do /bin/true; done"], check=True)
    ages.read()
    pid = execute("")
    assert eventually(lambda: is_known(ages, pid))


@pytest.mark.parametrize(
    ("version", "age_ns"), [(11, None), (12, 7000), (14, 7000), (15, None), (16, 7000)]
)
def test_only_versions_that_have_the_age_are_read(
    version: int, age_ns: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = struct.pack("=H366xI4xQ", version, 5, 7)
    stats = struct.pack("=HH", 4 + len(account), 3) + account
    thread = struct.pack("=HHI", 8, 1, 5) + stats
    messages = [bytes(20) + struct.pack("=HH", 4 + len(thread), 4) + thread]

    class Telling:
        def recv(self, _: int) -> bytes:
            if not messages:
                raise BlockingIOError
            return messages.pop()

        def close(self) -> None:
            return

    ages = ProcessAges()
    ages.close()
    monkeypatch.setattr(ages, "_socket", Telling())
    ages.read()
    assert ages.age_ns(5) == age_ns


def test_a_kernel_that_refuses_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refuse)
    ages = ProcessAges()
    ages.only(1)
    ages.read()
    assert ages.age_ns(1) is None
    ages.close()


def test_a_message_that_breaks_off_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [b"", bytes(30), bytes(20) + struct.pack("=HHHH", 600, 4, 900, 3) + bytes(40)]

    class Broken:
        def recv(self, _: int) -> bytes:
            if not messages:
                raise BlockingIOError
            return messages.pop()

    ages = ProcessAges()
    ages.close()
    monkeypatch.setattr(ages, "_socket", Broken())
    ages.read()
    assert not messages
