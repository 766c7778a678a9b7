"""Child processes: how they end is told truly, and none of their descendants stays."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import benchyard
from benchyard.core.errors import CommandFailedError
from benchyard.process.children import Child, child_environment, pipe, spawn, tail, told
from benchyard.process.labels import CHILD, OWNER, labelled, this_owner
from benchyard.process.launching import Launched, Spent
from benchyard.process.usage import Ended
from tests.conftest import eventually, is_gone

#: A child with a grandchild in its group and one in a session of its own; each says its pid.
FAMILY = "setsid sh -c 'echo $$; exec sleep 300' & sh -c 'echo $$; exec sleep 300' & echo $$; wait"
#: The same, deaf to a polite request.
STUBBORN = f"trap '' TERM; {FAMILY}; wait; wait"

SIGNALS = ((9, "SIGKILL"), (11, "SIGSEGV"), (15, "SIGTERM"))
Spawn = Callable[..., tuple[Child, list[int]]]


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Spawn]:
    """Spawn a shell, and read as many pids as it is said to print."""
    made: list[Child] = []

    def start(program: str, pids: int = 0, **labels: str) -> tuple[Child, list[int]]:
        child = spawn(["sh", "-c", program], folder=tmp_path, stdout=subprocess.PIPE, labels=labels)
        made.append(child)
        return child, [int(pipe(child.stdout).readline()) for _ in range(pids)]

    yield start
    for child in made:
        child.stop(0)
        pipe(child.stdout).close()


def descriptors() -> set[str]:
    return {entry.name for entry in os.scandir("/proc/self/fd")}


@pytest.mark.parametrize(
    ("program", "status", "words"),
    [
        *((f"exit {status}", status, f"exit code {status}") for status in (0, 1, 3, 137, 255)),
        *((f"kill -{number} $$", -number, f"killed by {name}") for number, name in SIGNALS),
    ],
)
def test_defect_01_exit_codes_and_signals_are_told_apart(
    shell: Spawn, program: str, status: int, words: str
) -> None:
    ended = shell(program)[0].wait()

    assert (ended.exit_status, ended.describe()) == (status, words)
    assert Ended(-99, 0.0, 0.0, 0).describe() == "killed by signal 99"


def test_the_kernels_account_covers_waited_for_descendants(shell: Spawn) -> None:
    burn = f"{sys.executable} -S -c 'sum(range(2_000_000)); bytearray(b\"1\") * (24 << 20)'"

    ended = shell(f"{burn}; {burn}")[0].wait()

    assert ended.user_s > 0.02
    assert (ended.peak_rss_bytes or 0) > 24 << 20


def test_threads_may_wait_for_one_child_and_again(shell: Spawn) -> None:
    child, _ = shell("read line < /dev/null; exit 5")
    with ThreadPoolExecutor(3) as pool:
        answers = [one.result(10) for one in [pool.submit(child.wait) for _ in range(3)]]
    assert [answer.exit_status for answer in answers] == [5, 5, 5]
    assert child.wait() is child.wait() is child.stop()


@pytest.mark.parametrize(
    ("program", "pids", "end", "status"),
    [
        ("trap 'exit 7' TERM; echo $$; while :; do sleep 0.01; done", 1, Child.stop, 7),
        (FAMILY, 3, Child.stop, -signal.SIGTERM),
        (STUBBORN, 3, partial(Child.stop, grace=0.05), -signal.SIGKILL),
        (FAMILY, 3, Child.kill, -signal.SIGKILL),
    ],
)
def test_stop_asks_politely_and_kills_what_does_not_listen_with_grandchildren_in_other_sessions(
    shell: Spawn, program: str, pids: int, end: Callable[[Child], object], status: int
) -> None:
    child, family = shell(program, pids)
    end(child)
    end(child)  # once more is harmless
    assert child.wait().exit_status == status
    assert eventually(lambda: all(map(is_gone, family)))
    assert not [pid for pid, label in labelled(CHILD) if label == child.label]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_wait_kills_the_whole_tree(shell: Spawn, number: signal.Signals) -> None:
    child, pids = shell(FAMILY, 3)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), number))
    timer.start()

    with pytest.raises(KeyboardInterrupt):
        child.wait()
    signal.signal(signal.SIGTERM, before)

    assert child.wait().exit_status == -signal.SIGKILL
    assert all(eventually(lambda p=pid: is_gone(p)) for pid in pids)


def test_a_wait_interrupted_at_any_place_can_be_waited_for_again(
    shell: Spawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    child, _ = shell("exit 6")

    for where in ("send", "recv"):
        really = getattr(socket.socket, where)

        def interrupted(*given: Any, really: Any = really) -> Any:
            if threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt
            return really(*given)  # a thread of a library, with a socket of its own

        with monkeypatch.context() as patch:
            patch.setattr(socket.socket, where, interrupted)
            with pytest.raises(KeyboardInterrupt):
                child.wait()

    assert child.wait().exit_status == 6


def test_a_pid_given_out_again_is_never_killed(
    shell: Spawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the child was reaped its pid may be somebody else's, even before we took note."""
    child, _ = shell("exit 0")
    really_reap = Launched.reap

    def reap_while_another_thread_kills(line: Launched) -> Spent:
        spent = really_reap(line)
        killer.start()
        killer.join(0.1)
        return spent

    killer = threading.Thread(target=child.kill)
    monkeypatch.setattr(Launched, "reap", reap_while_another_thread_kills)
    monkeypatch.setattr(os, "killpg", killpg := Mock())
    child.wait()
    killer.join(10)
    child.kill()
    child.stop()
    killpg.assert_not_called()


def test_a_child_leads_its_own_session_and_carries_the_labels(shell: Spawn) -> None:
    child, (pid,) = shell("echo $$; sleep 300", 1, BENCHYARD_RUN="here:1")

    assert os.getsid(pid) == pid == child.pid
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    labels = {f"{OWNER}={this_owner()}", f"{CHILD}={child.label}", "BENCHYARD_RUN=here:1"}
    assert {label.encode() for label in labels} <= set(environment)


@pytest.mark.parametrize(
    ("program", "folder", "why"),
    [
        ("/no/such/program", "/", "No such file"),
        ("no-such-program-anywhere", "/", "No such file"),
        ("/etc/passwd", "/", "Permission denied"),
        ("true", "/no/such/folder", "No such file.*'/no/such/folder'"),
    ],
)
def test_a_program_that_cannot_start_is_one_sentence(program: str, folder: str, why: str) -> None:
    with pytest.raises(CommandFailedError, match=f"cannot start '{program}': .*{why}") as caught:
        spawn([program], folder=Path(folder))

    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301


def test_what_the_kernel_cannot_take_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    for environment in ({"a": "b\0"}, {"a\0": ""}, {"a=": ""}):
        with pytest.raises(CommandFailedError, match="cannot start"):
            spawn(["echo", "a"], folder=tmp_path, environment=environment)
    with pytest.raises(CommandFailedError, match="cannot start"):
        spawn(["echo", "a\0b"], folder=tmp_path)


def test_arguments_reach_the_program_as_they_are(tmp_path: Path) -> None:
    """Defect 40: nothing is read by a shell."""
    nasty = ["$HOME", "`id`", "; touch hacked", "a b", "'", '"', "*", "\n", ""]
    out = tmp_path / "out"
    with out.open("wb") as stream:
        arguments = [sys.executable, "-S", "-c", "import sys; print(sys.argv[1:])", *nasty]
        spawn(arguments, folder=tmp_path, stdout=stream).wait()

    assert out.read_text() == f"{nasty}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("stderr", [subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL])
def test_each_stream_may_be_a_pipe(tmp_path: Path, stderr: int) -> None:
    code, asked = "cat; echo no >&2", subprocess.PIPE
    child = spawn(["sh", "-c", code], folder=tmp_path, stdin=asked, stdout=asked, stderr=stderr)
    with pipe(child.stdin) as requests:
        requests.write(b"yes")

    with pipe(child.stdout) as out:
        assert out.read() == (b"yesno\n" if stderr == subprocess.STDOUT else b"yes")
    missing = pytest.raises(ValueError, match="without this pipe")
    with nullcontext() if stderr == asked else missing, pipe(child.stderr) as complaints:
        assert complaints.read() == b"no\n"
    assert child.wait().exit_status == 0


def test_neither_a_child_that_ended_nor_a_closed_stream_leaves_a_descriptor(
    shell: Spawn, tmp_path: Path
) -> None:
    shell("true")[0].wait()
    with (tmp_path / "out").open("wb") as stream:
        pass
    before = descriptors()
    with pytest.raises(CommandFailedError, match="closed file"):
        spawn(["true"], folder=tmp_path, stdin=subprocess.PIPE, stdout=stream)
    child, _ = shell("true")
    child.wait()
    pipe(child.stdout).close()
    assert descriptors() == before


def test_running_until_it_ends(shell: Spawn) -> None:
    child, _ = shell("read line < /dev/null; exec sleep 300")

    assert child.running
    assert child.ended is None
    child.kill()
    assert eventually(lambda: not child.running)
    assert child.ended is None
    assert child.wait() is child.ended
    assert not child.running


def test_the_tail_is_the_end_and_never_an_error(tmp_path: Path) -> None:
    file = tmp_path / "stderr"
    file.write_bytes(b"x" * 5000 + b"\xff the reason\n")

    assert tail(file, 20).endswith("the reason")
    assert len(tail(file)) <= 2000
    assert tail(tmp_path / "none") == ""


ROOT = str(Path(benchyard.__file__).resolve().parents[1])


def test_what_is_the_labs_and_prefects_stays_with_them() -> None:
    kept = {"PATH": "/bin", "TOKEN": "t"}
    lab = {
        **kept,
        "BENCHYARD_OWNER": "1:2:3",
        "BENCHYARD_DATABASE_URL": "postgresql://user:password@host/x",
        "PREFECT_API_AUTH_STRING": "a:b",
        "prefect_api_key": "k",
        "PREFECT__FLOW_RUN_ID": "1",
        "PYTHONPATH": os.pathsep.join([ROOT, "/mine"]),
    }
    assert child_environment(lab) == {**kept, "PYTHONPATH": "/mine", "DO_NOT_TRACK": "1"}
    assert "PYTHONPATH" not in child_environment({"PYTHONPATH": ROOT})


def test_a_record_tells_names_and_only_harmless_values() -> None:
    harmless = {"PATH": "/bin", "OMP_NUM_THREADS": "4", "LC_ALL": "C"}
    assert told({"TOKEN": "t", **harmless}) == {**harmless, "DO_NOT_TRACK": "1", "TOKEN": None}
