"""How curves are drawn: a process samples, and what it wrote is decoded after the run.

This module is the parent's end of that process: it starts it, tells it what to watch, ends it.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote

from benchyard.core.clock import Deadline
from benchyard.core.errors import CommandFailedError, MeasurementError
from benchyard.host.counters.groups import FILES, Places, find_file
from benchyard.host.counters.host import packages, real_disks
from benchyard.host.counters.kernel import read_once
from benchyard.host.sampler import process
from benchyard.process.cgroups import UNIFIED, Cgroup
from benchyard.process.children import TAIL, Child, pipe, spawn
from benchyard.process.labels import OWNER, WINDS_UP, this_owner
from benchyard.process.usage import Owned

#: Owner of what belongs to no resource.
HOST = "host"
#: Kinds of what is drawn; the word ``what`` is such a kind, a colon, and a name.
COLUMNS, ENERGY, GPU, CGROUP, TREE = "columns", "energy", "gpu", "cgroup", "tree"
#: Set to the path of an NVML library, it is loaded wherever the driver's own sign is missing.
NVML_VARIABLE = "BENCHYARD_NVML"
_NVML_LIBRARY = "libnvidia-ml.so.1"
#: Bytes that the first lines of a file may grow by while a run lasts: a digit in each field.
_GROWTH = 24

#: Bytes that a file of one or two numbers, of a disk, and of a few lines never exceeds.
_NUMBER, _DISK, _LINES = 64, 512, 2048
#: Name that the decoder knows it by to its size, and where it may be: the first that is there.
_CGROUP_FILES: Mapping[str, tuple[int, Places]] = {
    "cpu": (_LINES, FILES["cpu"]),
    "cpu_user": (_NUMBER, FILES["cpu_user"]),
    "cpu_system": (_NUMBER, FILES["cpu_system"]),
    "memory": (_NUMBER, FILES["memory"]),
    "io": (0, FILES["io"]),
    "pids": (_NUMBER, (("pids", "pids.current"), (UNIFIED, "pids.current"))),
}


class WatchedFile(NamedTuple):
    """One file to record.

    Args:
        what: Kind and name.
        name: Tells the decoder what is in it.
        size: How many of its bytes are recorded; 0 for all.
    """

    owner: str
    what: str
    name: str
    size: int
    path: Path

    def command(self) -> bytes:
        """Return what the sampling process is told."""
        head = f"open {words(self.owner, self.what, self.name)} {self.size} ".encode()
        return head + os.fsencode(self.path) + b"\n"


def words(*texts: str) -> str:
    """Write texts as words that hold no blanks; ``urllib.parse.unquote`` reads one back."""
    return " ".join(quote(text, safe="/:=@", errors="surrogateescape") for text in texts)


def host_files(root: Path = Path("/")) -> Iterator[WatchedFile]:
    """Yield the files of KROWN's columns and, where readable, the counters of energy.

    Args:
        root: Where ``proc`` and ``sys`` are; tests set it.
    """
    for name, path, size in _columns(root):
        yield WatchedFile(HOST, COLUMNS, name, size, path)
    for zone in packages(root / "sys/class/powercap"):
        wraps_at = (read_once(str(zone / "max_energy_range_uj")) or b"").strip().decode()
        yield WatchedFile(HOST, f"{ENERGY}:{zone.name}", wraps_at, 32, zone / "energy_uj")


def _columns(root: Path) -> Iterator[tuple[str, Path, int]]:
    proc = root / "proc"
    stat = read_once(str(proc / "stat")) or b""
    yield "stat", proc / "stat", len(stat.partition(b"\n")[0]) + _GROWTH
    yield "meminfo", proc / "meminfo", _up_to(read_once(str(proc / "meminfo")) or b"", b"SwapFree:")
    yield "network", proc / "self/net/dev", 0
    block = root / "sys/block"
    for disk in real_disks(block):
        yield f"disk/{disk}", block / disk / "stat", _DISK


def _up_to(content: bytes, line: bytes) -> int:
    """Return how many bytes are to be read so that ``line`` is among them; 0 for all."""
    start = content.find(line)
    return content.find(b"\n", start) + _GROWTH if start >= 0 else 0


def cgroup_files(owner: str, cgroup: Cgroup) -> Iterator[WatchedFile]:
    """Yield what draws a control group: CPU time, memory now, disk bytes, processes."""
    what = f"{CGROUP}:{cgroup.name}"
    for name, (size, places) in _CGROUP_FILES.items():
        path = find_file(cgroup.folders, places)
        if path is not None and path.exists():
            yield WatchedFile(owner, what, name, size, path)


def tree_command(owner: str, pid: int) -> bytes:
    """Return what makes the sampling process watch a process tree."""
    return f"tree {words(owner, f'{TREE}:{pid}')} {pid}\n".encode()


def gpu_command(proc: Path = Path("/proc")) -> bytes:
    """Return what makes the sampling process read GPUs; nothing where no driver shows."""
    library = os.environ.get(NVML_VARIABLE)
    if library is None and (proc / "driver/nvidia").exists():
        library = _NVML_LIBRARY
    return f"gpus {HOST} {GPU} {library}\n".encode() if library else b""


#: Seconds until the first sample must be there: a loaded machine needs some to start a Python.
START_TIMEOUT = 30.0
#: Seconds that the sampler may take to end once its input has ended.
END_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class SamplerAccount:
    """What became of a sampler.

    Args:
        cpu_s: CPU seconds that it took, by the kernel's account.
        peak_rss_bytes: Its largest resident set; None if it did not live to tell.
        error: Why it ended before it was asked to; None if it did not.
    """

    cpu_s: float = 0.0
    peak_rss_bytes: int | None = None
    error: str | None = None


class Sampler:
    """One sampling process. Made by ``start_sampler``."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._account: SamplerAccount | None = None
        self._watched: dict[str, set[str]] = {}
        self._telling = threading.Lock()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    def watch(self, owner: str, owned: Owned) -> None:
        """Draw from now on what ``owned`` holds, and of ``owner`` nothing else.

        Thread-safe. It never raises and never waits: curves are not worth a run.
        """
        wanted = {f"{TREE}:{pid}": tree_command(owner, pid) for pid in owned.pids}
        for cgroup in owned.cgroups:
            files = cgroup_files(owner, cgroup)
            wanted[f"{CGROUP}:{cgroup.name}"] = b"".join(file.command() for file in files)
        with self._telling:
            known = self._watched.get(owner, set())
            ended = [
                f"forget {words(owner, what)}\n".encode() for what in sorted(known - {*wanted})
            ]
            begun = [command for what, command in wanted.items() if what not in known]
            if self._tell(b"".join((*ended, *begun))):
                self._watched[owner] = {*wanted}

    def _tell(self, commands: bytes) -> bool:
        """Hand over all commands or none; False if the sampler is gone or does not read."""
        requests = pipe(self._child.stdin)
        # An empty line first: what a full pipe cut off the last time must not spoil these.
        commands = b"\n" + commands
        try:
            os.set_blocking(requests.fileno(), False)
            while commands:
                commands = commands[os.write(requests.fileno(), commands) :]
        except (OSError, ValueError):
            return False
        return True

    def begin(self, commands: bytes, timeout: float) -> None:
        """Hand over the first commands, and wait for the first sample.

        Raises:
            MeasurementError: If it does not come in time; the process is gone then.
        """
        self._tell(commands + b"begin\n")
        line = _first_line(pipe(self._child.stdout), timeout)
        if line != b"ready":
            self._child.kill()
            account = self.end()
            reason = account.error or f"it wrote '{line.decode(errors='replace')}'"
            raise MeasurementError(f"the sampler took no sample within {timeout:g} s: {reason}")

    def end(self) -> SamplerAccount:
        """Let it take its last sample, and wait until it is gone; again returns the same."""
        if self._account is None:
            self._account = self._end()
        return self._account

    def _end(self) -> SamplerAccount:
        child = self._child
        with self._telling, contextlib.suppress(BrokenPipeError):
            pipe(child.stdin).close()
        with pipe(child.stdout) as out, pipe(child.stderr) as complaints:
            try:
                with Deadline(END_TIMEOUT, child.kill).armed():
                    ended = child.wait()
            except CommandFailedError as error:
                return SamplerAccount(error=str(error))
            told, stderr = _account(out.read()), complaints.read()
        said = stderr[-TAIL:].decode(errors="replace").strip()
        error = None if told else f"{ended.describe()}; {said or 'it said nothing'}"
        return SamplerAccount(
            cpu_s=ended.user_s + ended.system_s,
            peak_rss_bytes=told.get("peak_rss_bytes"),
            error=error,
        )


def start_sampler(raw: Path, interval: float, files: Iterable[WatchedFile]) -> Sampler:
    """Start the sampling process, and wait for its first sample.

    Args:
        raw: Where its records go; ``benchyard.host.sampler.raw`` reads them.
        interval: Seconds between two samples.
        files: What it records from the first sample on.

    Raises:
        MeasurementError: If it cannot be started or yields no sample.
    """
    python = [sys.executable, "-I", "-S", "-E", process.__file__]
    piped = subprocess.PIPE
    try:
        arguments = [*python, str(raw.absolute()), repr(interval)]
        child = spawn(
            arguments,
            folder=raw.parent,
            stdin=piped,
            stdout=piped,
            stderr=piped,
            labels={OWNER: this_owner() + WINDS_UP},
        )
    except CommandFailedError as error:
        raise MeasurementError(f"no sampler: {error}") from error
    sampler = Sampler(child)
    try:
        commands = b"".join(file.command() for file in files)
        sampler.begin(commands + gpu_command(), START_TIMEOUT)
    except BaseException:
        child.kill()
        sampler.end()
        raise
    return sampler


def _first_line(stream: IO[bytes], timeout: float) -> bytes:
    """Read a line without its end; less of it if the time is over or the other end is closed."""
    deadline = time.monotonic() + timeout
    line = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([stream], [], [], left)[0]:
            break
        # Past the stream's buffer, a byte at a time: what follows the line stays in the pipe, and
        # ``select`` tells the truth.
        byte = os.read(stream.fileno(), 1)
        if byte in (b"", b"\n"):
            break
        line += byte
    return line


def _account(said: bytes) -> dict[str, int]:
    """Find the account in what the process said; empty if it did not get that far."""
    try:
        return json.loads(said)
    except ValueError:
        return {}
