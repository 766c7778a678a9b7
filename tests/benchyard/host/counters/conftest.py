"""What the tests of the counters share: a child that does what it is told, a real control group."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from benchyard.host.counters.account import MetricBook
from benchyard.process.cgroups import UNIFIED, Cgroup
from benchyard.process.usage import Ended

MIB = 2**20


def whole(account: MetricBook) -> MetricBook:
    """Check what holds for every account."""
    nulls = {metric for metric, value in account.values.items() if value is None}
    assert nulls == account.reasons.keys()
    assert all(account.reasons.values())
    return account


_OBEY = """
import subprocess, sys
print("ready")
for line in sys.stdin:
    who, code = eval(line)
    if who == "self":
        exec(code)
    elif who == "child":
        subprocess.run([sys.executable, "-S", "-c", code], check=True)
    elif who == "start":
        started = subprocess.Popen([sys.executable, "-S", "-c", code])
    print("done")
"""


class Worker:
    """A child process that does what it is told, itself or through children of its own."""

    def __init__(self, before: Callable[[], None] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-u", "-c", _OBEY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=before,  # noqa: PLW1509 - no test here starts it beside threads
        )
        self._expect("ready")

    @property
    def pid(self) -> int:
        return self.process.pid

    def do(self, code: str, who: str = "self") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{(who, code)!r}\n")
        self.process.stdin.flush()
        self._expect("done")

    def burn(self, seconds: float, who: str = "self") -> None:
        end = f"import time; end = time.process_time() + {seconds}\n"
        self.do(f"{end}while time.process_time() < end: pass", who)

    def touch(self, size: int) -> None:
        """Use so many bytes of memory, and give them back."""
        self.do(
            f"held = bytearray({size})\nfor at in range(0, {size}, 4096): held[at] = 1\ndel held"
        )

    def write(self, path: Path, size: int, who: str = "self") -> None:
        """Write so many bytes and bring them to the disk."""
        stream = f"import os; stream = open({str(path)!r}, 'wb'); stream.write(bytes({size}))"
        self.do(f"{stream}\nstream.flush(); os.fsync(stream.fileno()); stream.close()", who)

    def end(self) -> Ended:
        """Let it end, and wait as the lab does."""
        self._close()
        _, status, usage = os.wait4(self.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(
            0,
            usage.ru_utime,
            usage.ru_stime,
            usage.ru_maxrss * 1024,
            *(usage.ru_minflt, usage.ru_majflt, usage.ru_inblock * 512, usage.ru_oublock * 512),
            pid=self.pid,
        )

    def kill(self) -> None:
        self._close()
        self.process.kill()
        self.process.wait(30)

    def _close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()

    def _expect(self, answer: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == answer


@pytest.fixture
def worker() -> Generator[Worker]:
    one = Worker()
    yield one
    one.kill()


@pytest.fixture
def cgroup(request: pytest.FixtureRequest) -> Generator[Cgroup]:
    """Make a control group in each hierarchy of version 1 and beside them."""
    name = f"benchyard-test-{os.getpid()}-{abs(hash(request.node.nodeid))}"
    places = {one: one for one in ("cpu", "cpuacct", "memory", "pids")} | {UNIFIED: "unified"}
    folders = {one: Path("/sys/fs/cgroup", place, name) for one, place in places.items()}
    with ExitStack() as made:
        for folder in folders.values():
            try:
                folder.mkdir()
            except OSError as error:
                pytest.skip(f"no control group of version 1 can be made here: {error}")
            made.enter_context(suppress(FileNotFoundError))
            made.callback(folder.rmdir)
        yield Cgroup(f"/{name}", folders)


def joining(cgroup: Cgroup) -> Callable[[], None]:
    """Return what brings the process that calls it into the control group."""

    def join() -> None:
        for folder in cgroup.folders.values():
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    return join


@pytest.fixture
def inside(cgroup: Cgroup) -> Generator[Worker]:
    """Start a worker in the control group."""
    one = Worker(joining(cgroup))
    yield one
    one.kill()
