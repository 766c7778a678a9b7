"""The host's lock: one lab at a time, and everybody is told who."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchyard.errors import RunInterruptedError, TestbedBusyError
from benchyard.execution.testbed import LOCK_VARIABLE, hold_testbed, lock_file
from tests.conftest import eventually

#: Another lab: holds the testbed, says so, and keeps it until its input ends.
OTHER = """
import sys
from benchyard.execution.testbed import hold_testbed
with hold_testbed("tpch[scale=1]", wait=False):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def other_lab() -> Generator["subprocess.Popen[str]"]:
    pipe = subprocess.PIPE
    arguments = [sys.executable, "-c", OTHER]
    with subprocess.Popen(arguments, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_another_process_is_refused_and_told_who_holds_it() -> None:
    with other_lab() as other:
        with pytest.raises(TestbedBusyError) as caught, hold_testbed("mine", wait=False):
            pytest.fail("two at once")
        said = str(caught.value)
        assert f"pid {other.pid} of " in said
        assert "tpch[scale=1]" in said
        assert "since 20" in said
        assert str(lock_file()) in said


def test_waiting_ends_when_the_holder_ends() -> None:
    told: list[str] = []
    with other_lab() as other:

        def waiting(holder: str) -> None:
            told.append(holder)
            assert other.stdin is not None
            other.stdin.close()

        with hold_testbed("mine", wait=True, waiting=waiting):
            assert other.wait(10) == 0

    assert len(told) == 1
    assert "tpch[scale=1]" in told[0]


def test_the_lock_is_free_after_kill_9_of_its_holder() -> None:
    with other_lab() as other:
        other.send_signal(signal.SIGKILL)
        other.wait(10)
        with hold_testbed("mine", wait=False):
            pass


def test_a_child_of_the_holder_does_not_keep_the_lock() -> None:
    """The lock goes with the lab, not with a server that outlives it."""
    pipe = subprocess.PIPE
    with hold_testbed("mine", wait=False):
        child = subprocess.Popen(["/bin/cat"], stdin=pipe, stdout=pipe, close_fds=False)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"up\n")
        child.stdin.flush()
        child.stdout.readline()
    with child, hold_testbed("again", wait=False):
        assert child.poll() is None


def test_two_threads_of_one_lab_exclude_each_other_too() -> None:
    with (
        hold_testbed("one", wait=False),
        pytest.raises(TestbedBusyError, match=f"pid {os.getpid()} .* one"),
        hold_testbed("two", wait=False),
    ):
        pytest.fail("two at once")


def test_giving_up_ends_the_wait() -> None:
    asked = threading.Event()
    with (
        hold_testbed("one", wait=False),
        pytest.raises(RunInterruptedError, match=r"gave up waiting for pid .* one"),
        hold_testbed("two", wait=True, waiting=lambda _: asked.set(), give_up=asked.is_set),
    ):
        pytest.fail("two at once")


def test_the_lock_is_released_when_the_work_fails() -> None:
    with pytest.raises(ZeroDivisionError), hold_testbed("one", wait=False):
        _ = 1 / 0

    with hold_testbed("two", wait=False):
        pass


def test_what_the_last_holder_wrote_is_replaced_whole() -> None:
    with hold_testbed("a very long purpose " * 20, wait=False):
        pass
    with hold_testbed("short", wait=False):
        assert json.loads(lock_file().read_text())["purpose"] == "short"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b"[1]", b'{"pid": 1'])
def test_a_damaged_lock_file_is_no_obstacle(content: bytes) -> None:
    with hold_testbed("one", wait=False):
        lock_file().write_bytes(content)
        with (
            pytest.raises(TestbedBusyError, match="measuring already: another lab"),
            hold_testbed("two", wait=False),
        ):
            pytest.fail("two at once")


def test_every_user_of_the_host_may_lock_it() -> None:
    umask = os.umask(0o077)
    try:
        with hold_testbed("one", wait=False):
            assert lock_file().stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(umask)


def test_a_link_in_a_shared_folder_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock_file().symlink_to(victim)

    with pytest.raises((OSError, TestbedBusyError)), hold_testbed("one", wait=False):
        pytest.fail("the link was followed")

    assert victim.read_text() == "precious"


def test_the_lock_is_one_for_the_host_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LOCK_VARIABLE)

    assert lock_file().name == "benchyard-testbed.lock"
    assert lock_file().is_absolute()


def test_processes_take_turns(tmp_path: Path) -> None:
    """Several labs write begin and end into one file: no two overlap."""
    program = f"""
import os
from pathlib import Path
from benchyard.execution import testbed
testbed._POLL_SECONDS = 0.001
with testbed.hold_testbed("x", wait=True):
    with Path({str(tmp_path / "turns")!r}).open("a") as file:
        print("begin", os.getpid(), file=file, flush=True)
        print("end", os.getpid(), file=file, flush=True)
"""
    labs = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(4)]
    assert eventually(lambda: all(lab.poll() is not None for lab in labs), 60)

    lines = (tmp_path / "turns").read_text().split("\n")[:-1]
    assert len(lines) == 8
    pairs = zip(lines[::2], lines[1::2], strict=True)
    assert all(begin.replace("begin", "end") == end for begin, end in pairs)


def test_a_lock_full_of_brackets_is_another_lab_s(isolated_lock: Path) -> None:
    with hold_testbed("first", wait=False):
        isolated_lock.write_text("[" * 100_000)
        with pytest.raises(TestbedBusyError, match="another lab"), hold_testbed("b", wait=False):
            pass
