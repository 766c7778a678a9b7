"""The host's lock: one lab at a time, and everybody is told who."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from benchyard.core.errors import InputError, RunInterruptedError, TestbedBusyError
from benchyard.host import testbed
from benchyard.host.testbed import LOCK_VARIABLE, hold_both, hold_results, hold_testbed, lock_file
from benchyard.results.campaigns import clean
from benchyard.results.folders import RESULTS_LOCK
from benchyard.results.layout import begin_run
from tests.children import speaking
from tests.conftest import eventually

#: Another lab: holds the testbed, says so, and keeps it until its input ends.
OTHER = """
import sys
from benchyard.host.testbed import hold_testbed
with hold_testbed("tpch[scale=1]", wait=False):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def other_lab(program: str = OTHER) -> Generator["subprocess.Popen[str]"]:
    with speaking(program) as (process, said):
        assert said == "held\n"
        yield process
        process.kill()


def refused(error: type[Exception], match: str, holding: AbstractContextManager[None]) -> str:
    """Check that a lock is not given; return what is said."""
    with pytest.raises(error, match=match) as caught, holding:
        pytest.fail("two at once")
    return str(caught.value)


def test_another_process_is_refused_and_told_who_holds_it() -> None:
    with other_lab() as other:
        said = refused(TestbedBusyError, f"pid {other.pid} of ", hold_testbed("m", wait=False))
        assert "tpch[scale=1]" in said
        assert "since 20" in said
        assert str(lock_file()) in said


def test_the_lock_is_free_after_kill_9_of_its_holder_and_waiting_ends() -> None:
    told: list[str] = []
    with other_lab() as other:

        def waiting(holder: str) -> None:
            told.append(holder)
            other.send_signal(signal.SIGKILL)

        with hold_testbed("mine", wait=True, waiting=waiting):
            assert other.wait(10) == -signal.SIGKILL

    assert len(told) == 1
    assert "tpch[scale=1]" in told[0]


def test_a_child_of_the_holder_does_not_keep_the_lock() -> None:
    """The lock goes with the lab, not with a server that outlives it."""
    pipe = subprocess.PIPE
    with hold_testbed("mine", wait=False):
        child = subprocess.Popen(["/bin/cat"], stdin=pipe, stdout=pipe, bufsize=0, close_fds=False)
        assert child.stdin
        assert child.stdout
        child.stdin.write(b"executed")  # Popen returns before the lock's file is closed there
        assert child.stdout.read(8) == b"executed"
    with child, hold_testbed("again", wait=False):
        assert child.poll() is None


def test_two_threads_of_one_lab_exclude_each_other_too_and_giving_up_ends_the_wait() -> None:
    asked = threading.Event()
    waits = hold_testbed("b", wait=True, waiting=lambda _: asked.set(), give_up=asked.is_set)
    with hold_testbed("one", wait=False):
        refused(TestbedBusyError, f"pid {os.getpid()} .* one", hold_testbed("two", wait=False))
        refused(RunInterruptedError, r"gave up waiting for pid .* one", waits)


def test_the_lock_is_released_when_the_work_fails_and_written_anew() -> None:
    with pytest.raises(ZeroDivisionError), hold_testbed("a very long purpose " * 20, wait=False):
        _ = 1 / 0
    with hold_testbed("short", wait=False):
        assert json.loads(lock_file().read_text())["purpose"] == "short"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b"[1]", b'{"pid": 1', b"[" * 100_000])
def test_a_damaged_lock_file_is_no_obstacle(content: bytes) -> None:
    """The kernel knows who holds it, whatever anybody wrote."""
    with hold_testbed("one", wait=False):
        lock_file().write_bytes(content)
        said = f"measuring already: pid {os.getpid()} of "
        refused(TestbedBusyError, said, hold_testbed("two", wait=False))


def mode_of_lock(umask: int) -> int:
    before = os.umask(umask)
    try:
        with hold_testbed("one", wait=False):
            return testbed.lock_file().stat().st_mode & 0o777
    finally:
        os.umask(before)
        testbed.lock_file().unlink()


def test_a_lock_of_a_group_is_nobody_else_s_and_one_of_the_host_is_everybodys_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(map(mode_of_lock, (0o077, 0o022, 0o002))) == [0o600, 0o640, 0o660]
    monkeypatch.delenv(LOCK_VARIABLE)
    monkeypatch.setattr(testbed, "lock_file", lambda: tmp_path / "benchyard-testbed.lock")
    assert mode_of_lock(0o077) == 0o644


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_who_may_only_read_the_lock_holds_it_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        lock = Path(folder, "lock")
        monkeypatch.setenv(LOCK_VARIABLE, str(lock))
        content = '{"pid": 1, "user": "old", "purpose": "then", "since": "once"}'
        lock.write_text(content)
        lock.chmod(0o644)
        drop = "import os\nos.setgroups([]); os.setgid(65534); os.setuid(65534)\nwith hold"
        with other_lab(OTHER.replace("with hold", drop)) as other:
            holder = rf"pid {other.pid} of nobody \(lock"
            refused(TestbedBusyError, holder, hold_testbed("mine", wait=False))
            assert lock.read_text() == content


@pytest.mark.parametrize("content", [b"precious", b"{}", b'{"my": "settings"}\n', b"\x7fELF"])
def test_a_foreign_file_is_left_as_it_is(content: bytes) -> None:
    def state() -> tuple[object, ...]:
        about = lock_file().stat()
        return lock_file().read_bytes(), about.st_mtime_ns, about.st_mode

    lock_file().write_bytes(content)
    before = state()
    refused(InputError, "is no lock of Benchyard's", hold_testbed("a", wait=True))
    assert state() == before


@pytest.mark.parametrize("content", [b"", b"\0" * 99, b'{"pid', b'{"pid": 1, "us'])
def test_what_a_power_cut_left_of_a_lock_is_ours(content: bytes) -> None:
    lock_file().write_bytes(content)
    with hold_testbed("one", wait=False):
        assert json.loads(lock_file().read_text())["purpose"] == "one"


def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fifo, folder, link = (tmp_path / name for name in ("fifo", "folder", "link"))
    os.mkfifo(fifo)
    folder.mkdir()
    (tmp_path / "victim").write_text("precious")
    link.symlink_to(tmp_path / "victim")
    for place in (fifo, folder, link, Path("/dev/null"), tmp_path / "absent" / "lock"):
        monkeypatch.setenv(LOCK_VARIABLE, str(place))
        refused(InputError, str(place), hold_testbed("one", wait=True))
    assert (tmp_path / "victim").read_text() == "precious"


def test_processes_take_turns(tmp_path: Path) -> None:
    """Several labs write begin and end into one file: no two overlap."""
    program = f"""
import os
from pathlib import Path
from benchyard.host import testbed
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


# -- a results folder


def test_a_results_folder_is_one_lab_s_at_a_time(tmp_path: Path) -> None:
    results = tmp_path / "a" / "results"
    with hold_results(results, "case", wait=False):
        said = f"results is in use already: pid {os.getpid()} "
        refused(TestbedBusyError, said, hold_results(results, "case", wait=False))
        with hold_results(results / "n=1", "case[n=1]", wait=False):
            pass


def test_who_waited_for_a_folder_that_was_removed_holds_the_new_one(tmp_path: Path) -> None:
    results = tmp_path / "results"
    waits, held = threading.Event(), threading.Event()

    def wait() -> None:
        with hold_results(results, "two", wait=True, waiting=lambda _: waits.set()):
            held.set()

    with hold_results(results, "one", wait=False):
        other = threading.Thread(target=wait)
        other.start()
        assert waits.wait(60)
        begin_run(results, 1)
        clean(results)
        assert not results.exists()
    assert held.wait(60)
    other.join(60)
    assert (results / RESULTS_LOCK).is_file()


def test_both_are_held_and_waited_for(tmp_path: Path) -> None:
    told: list[str] = []
    results = tmp_path / "results"
    with hold_results(results, "other", wait=False):
        both = hold_both(results, "a", wait=True, tell=told.append, give_up=lambda: bool(told))
        refused(RunInterruptedError, "gave up waiting for pid", both)
    [text] = told
    assert text.startswith(f"waiting for {results}, held by pid ")
