"""The launcher: children are small beside a large lab, and it may be killed without harm."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from benchyard.core.errors import CommandFailedError
from benchyard.process import launcher, launching
from benchyard.process.children import Child, pipe, spawn
from benchyard.process.labels import CHILD, OWNER, labelled, this_owner
from benchyard.process.launching import launcher_pid
from benchyard.process.usage import stops_since
from tests.children import speaking
from tests.conftest import eventually, is_gone

MIB = 2**20
ROOT = Path("/")
FAMILY = "setsid sh -c 'echo $$; exec sleep 300' & echo $$; wait"
#: How a program of another lab begins.
LAB = f"""import sys
sys.path.insert(0, {str(Path(launcher.__file__).parents[2])!r})
from pathlib import Path
from benchyard.process.children import spawn
"""


def said(*arguments: str, folder: Path = ROOT, **environment: str) -> bytes:
    """Run a program; return what it wrote."""
    child = spawn(arguments, folder=folder, environment=environment, stdout=subprocess.PIPE)
    with pipe(child.stdout) as stream:
        output = stream.read()
    assert child.wait().exit_status == 0
    return output


def own_launcher() -> int:
    spawn(["true"], folder=ROOT).wait()
    return launcher_pid() or pytest.fail("there is none")


def kill_launcher() -> int:
    pid = own_launcher()
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: launcher_pid() is None)
    return pid


def status(pid: int | str, name: str) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split(":")[1].strip() for line in lines if line.startswith(f"{name}:"))


def program(folder: Path, name: str, words: str, mode: int = 0o755) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {words}\n")
    path.chmod(mode)
    return path


@pytest.fixture
def family() -> Generator[tuple[Child, list[int]]]:
    child = spawn(["sh", "-c", FAMILY], folder=ROOT, stdout=subprocess.PIPE)
    with pipe(child.stdout) as stream:
        yield child, [int(stream.readline()) for _ in range(2)]
    child.kill()


# -- peaks


@pytest.mark.parametrize("size", [12, 48])
def test_a_peak_is_the_childs_own_however_large_the_lab_is(size: int) -> None:
    held = bytearray(b"1") * (128 * MIB)
    ended = spawn(
        [sys.executable, "-S", "-c", f"bytearray(b'1') * {size * MIB}"], folder=ROOT
    ).wait()

    assert size * MIB < (ended.peak_rss_bytes or 0) < (size + 16) * MIB
    del held


def test_the_launcher_stays_small() -> None:
    own_launcher()
    many = ["x" * 100_000] * 10
    assert len(said("sh", "-c", 'echo "$@"', "sh", *many)) > 10**6

    peak = spawn(["true"], folder=ROOT).wait().peak_floor_bytes
    assert peak < 16 * MIB


# -- what a child gets


def test_a_child_has_three_descriptors_and_no_more() -> None:
    with Path(__file__).open() as stream:
        os.set_inheritable(stream.fileno(), True)
        child = spawn(["cat"], folder=ROOT, stdin=subprocess.PIPE)

    folder = Path(f"/proc/{child.pid}/fd")
    # Its libraries may still be loading.
    assert eventually(lambda: sorted(one.name for one in folder.iterdir()) == ["0", "1", "2"], 30)
    pipe(child.stdin).close()
    child.wait()


def test_a_child_hears_all_signals_whatever_the_lab_ignores() -> None:
    """The lab's own state, and that of a launcher that was started in it."""
    lab = f"""{LAB}
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
spawn(["grep", "Sig[BI]", "/proc/self/status"], folder=Path("/"), stdout=1).wait()
"""
    ended = subprocess.run([sys.executable, "-c", lab], capture_output=True, check=True)

    blocked, ignored = [int(line.split()[1], 16) for line in ended.stdout.splitlines()]
    # posix_spawn ignores two signals that the C library has for itself: 32 and 33.
    assert (blocked, ignored & ~(3 << 31)) == (0, 0)


def test_large_environments_and_many_arguments_arrive_and_too_much_is_one_sentence() -> None:
    variables = {f"LARGE_{number}": str(number) * 50_000 for number in range(10)}
    words = [str(number) for number in range(20_000)]
    found = said("sh", "-c", "echo ${#LARGE_7} $#", "sh", *words, folder=ROOT, **variables)
    assert found == b"50000 20000\n"
    with pytest.raises(CommandFailedError, match="Argument list too long: 'true'"):
        spawn(["true", "x" * 10**6], folder=ROOT)
    assert said("echo", "still here") == b"still here\n"


def test_a_program_is_looked_up_in_the_childs_own_path(tmp_path: Path) -> None:
    program(tmp_path / "first", "tool", "no", mode=0o644)
    program(tmp_path / "second", "tool", "yes")
    (tmp_path / "none").mkdir()
    folders = [tmp_path / name for name in ("none", "not_there", "first", "second")]

    assert said("tool", PATH=":".join(map(str, folders))) == b"yes\n"
    with pytest.raises(CommandFailedError, match="Permission denied: 'tool'"):
        said("tool", PATH=":".join(map(str, folders[:3])))
    with pytest.raises(CommandFailedError, match="No such file or directory: 'tool'"):
        said("tool", PATH=":".join(map(str, folders[:2])))


def test_relative_names_are_below_the_childs_folder_and_that_is_below_the_labs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = own_launcher()
    program(tmp_path / "in", "tool", "here")
    assert said("./tool", folder=tmp_path / "in") == b"here\n"
    assert said("tool", folder=tmp_path / "in", PATH="") == b"here\n"
    monkeypatch.chdir(tmp_path)
    assert said("pwd", "-P", folder=Path("in")) == f"{tmp_path.resolve() / 'in'}\n".encode()
    assert Path(f"/proc/{pid}/cwd").readlink() == ROOT, "no folder is kept busy"


def test_threads_may_start_children_at_once() -> None:
    numbers = [str(number) for number in range(8)] * 10
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(partial(said, "echo"), numbers))
    assert answers == [f"{number}\n".encode() for number in numbers]


# -- how it ends


def test_a_killed_launcher_is_told_and_takes_its_children_along(
    family: tuple[Child, list[int]],
) -> None:
    child, pids = family
    threading.Timer(0.05, os.kill, (own_launcher(), signal.SIGKILL)).start()

    for _ in range(2):
        with pytest.raises(CommandFailedError, match="was killed"):
            child.wait()

    assert eventually(lambda: all(map(is_gone, pids)))
    assert child.ended is None
    assert not child.running
    child.kill()
    with pytest.raises(CommandFailedError, match="was killed"):
        child.stop()


def test_nobody_is_signalled_once_the_launcher_is_gone(
    family: tuple[Child, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    child, pids = family
    kill_launcher()
    with monkeypatch.context() as patch:
        patch.setattr(os, "killpg", killpg := Mock())
        child.kill()
    killpg.assert_not_called()
    assert eventually(lambda: all(map(is_gone, pids)))


def test_the_next_child_has_a_new_launcher_unless_that_cannot_live(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = kill_launcher()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(CommandFailedError):
            spawn(["true"], folder=ROOT)
    assert said("echo", "again") == b"again\n"
    assert launcher_pid() not in {None, first}


def test_a_child_that_was_let_go_of_leaves_no_zombie() -> None:
    pid = own_launcher()
    child = spawn(["sleep", "0.05"], folder=ROOT)
    gone = child.pid
    assert status(gone, "PPid") == str(pid)
    del child

    assert eventually(lambda: not Path(f"/proc/{gone}").exists())


def test_an_interruption_while_a_child_starts_leaves_none_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own_launcher()
    before = children()
    with monkeypatch.context() as patch:
        patch.setattr(launching, "_answer", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            spawn(["sleep", "300"], folder=ROOT)

    assert eventually(lambda: children() <= before)


def children() -> set[int]:
    """Return those of this process; the tests beside it have children of their own."""
    own = {pid for pid, owner in labelled(OWNER) if owner == this_owner()}
    return own & {pid for pid, _ in labelled(CHILD)}


def test_it_hears_what_it_cannot_understand_and_goes_on() -> None:
    pid = own_launcher()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for descriptors in ([], [theirs.fileno()], [theirs.fileno()] * 4):
            launching._hand_over(descriptors)  # pyright: ignore[reportPrivateUsage]
        ours.send(launcher.MORE + b"half an order")

    assert said("echo", "on") == b"on\n"
    assert launcher_pid() == pid


def test_it_carries_the_owners_label_and_no_childs() -> None:
    pid = own_launcher()
    assert (pid, this_owner()) in list(labelled(OWNER))
    assert pid not in [labelled_pid for labelled_pid, _ in labelled(CHILD)]
    assert os.getsid(pid) != os.getsid(0)


def test_a_forked_lab_has_a_launcher_of_its_own_and_keeps_no_other_alive() -> None:
    lab = f"""{LAB}
import os
from benchyard.process.launching import launcher_pid
spawn(["true"], folder=Path("/")).wait()
first = launcher_pid()
if os.fork():
    os._exit(0)
assert launcher_pid() is None
spawn(["true"], folder=Path("/")).wait()
print(first, launcher_pid(), flush=True)
sys.stdin.readline()
"""
    with speaking(lab) as (_, pids):
        first, second = map(int, pids.split())
        assert first != second
        assert eventually(lambda: is_gone(first), 5)
        assert not is_gone(second)
    assert eventually(lambda: is_gone(second), 5)


# -- the program itself, inside this process


@pytest.mark.parametrize("way", ["posix_spawn", "fork"])
def test_a_program_starts_or_cannot_either_way(
    way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second way is that of a Python that knows no sessions."""
    if way == "fork":
        monkeypatch.setattr(os, "posix_spawn", Mock(side_effect=NotImplementedError))
    with (tmp_path / "out").open("wb") as out, Path(os.devnull).open("rb") as nothing:
        streams = [nothing.fileno(), out.fileno(), out.fileno()]
        pid = launcher.start([b"sh", b"-c", b"echo $$ $A; echo no >&2"], {b"A": b"b"}, streams)
        assert os.getsid(pid) == pid
        os.waitpid(pid, 0)
    assert (tmp_path / "out").read_text() == f"{pid} b\nno\n"
    words = program(tmp_path, "words", "")
    words.write_text("words")
    wrong = {"no-such-program": "No such file", "/etc/passwd": "Permission denied"}
    for name, why in {**wrong, str(words): "Exec format error"}.items():
        with pytest.raises(OSError, match=why):
            launcher.start([name.encode()], {}, [0, 1, 2])


# -- stops


def test_each_stop_of_the_launcher_is_told_once() -> None:
    begun, launcher = time.monotonic_ns(), own_launcher()
    for _ in range(2):
        os.kill(launcher, signal.SIGSTOP)
        assert eventually(lambda: status(launcher, "State").startswith("T"), 60)
        os.kill(launcher, signal.SIGCONT)
        assert eventually(lambda: not status(launcher, "State").startswith("T"), 60)
        spawn(["true"], folder=ROOT).wait()
    spawn(["true"], folder=ROOT).wait()
    told = stops_since(begun)
    assert [stop.who for stop in told] == ["the process that starts the lab's children"] * 2
    assert begun < told[0].until_ns < told[1].until_ns < time.monotonic_ns()


# -- waiting for a CPU


def test_what_a_child_waited_for_a_cpu_is_the_kernels_own_account_if_it_works_alone() -> None:
    script = "import time\nwhile time.process_time() < 0.1: pass\n"
    script += "print(open('/proc/self/schedstat').read().split()[1])"
    arguments = [sys.executable, "-S", "-c", script]
    child = spawn(arguments, folder=ROOT, stdout=subprocess.PIPE)
    with pipe(child.stdout) as stream:
        told_s = int(stream.read()) / 1e9
    # It ends after it told: what is added is waiting at the end of its life.
    assert told_s <= (child.wait().cpu_wait_s or 0)
    burns = f"{sys.executable} -S -c 'sum(range(10**6))'; true"
    assert spawn(["sh", "-c", burns], folder=ROOT).wait().cpu_wait_s is None
