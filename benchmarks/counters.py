"""Whether counters at boundaries are true, and what a boundary costs.

What a child says of itself (getrusage, the bytes it was told to touch and to write) is held against
what was read from outside: for a child that ended, for a process that lives on, for its child, and
in a control group. The child is a small C program, so that it has next to no memory of its own.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

import psutil

from benchmarks.table import Figure, Size, run_program
from benchyard.host.counters import Counters
from benchyard.host.counters.host import real_disks
from benchyard.process.cgroups import UNIFIED, Cgroup, own_levels
from benchyard.process.children import spawn
from benchyard.process.usage import Ended, Owned

LIMIT = 0.01
#: A limit of this project's own making: a boundary must not be felt beside a step of 20 ms.
HOST_LIMIT = 60e-6
BURN_MS, TOUCH, WRITE = 500, 300 * 10**6, 200 * 10**6

#: Program, request, metric to what was read from outside, and what the child says of itself.
Way: TypeAlias = Callable[[Path, str, str], tuple[float | None, float]]

_PRESSED = ("cpu", "memory", "io")
_HIERARCHIES = ("cpu", "cpuacct", "memory", "pids", "unified")


class Worker:
    """The C program, obeying."""

    def __init__(self, program: Path, group: Cgroup | None = None) -> None:
        inner, outer = os.pipe(), os.pipe()
        self._child = spawn(
            [str(program), str(program.with_suffix(".data"))],
            folder=program.parent,
            stdin=inner[0],
            stdout=outer[1],
        )
        os.close(inner[0])
        os.close(outer[1])
        self._requests: IO[str] = os.fdopen(inner[1], "w", encoding="utf-8")
        self._answers: IO[str] = os.fdopen(outer[0], encoding="utf-8")
        for folder in group.folders.values() if group else ():
            (folder / "cgroup.procs").write_text(str(self.pid), encoding="utf-8")

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    def do(self, request: str) -> float:
        """Let it do something; return the CPU seconds that it says it took."""
        self._requests.write(request + "\n")
        self._requests.flush()
        return int(self._answers.readline()) / 1e6

    def end(self) -> Ended:
        """Let it end."""
        self._requests.close()
        ended = self._child.wait()
        self._answers.close()
        return ended


def measure(size: Size) -> list[Figure]:
    """Measure truth and cost."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        program = compiled(Path(made))
        times = size.of(9, 1)
        figures = _truth(program, times, size) if program else []
        return figures + _cost(program, size)


def compiled(folder: Path) -> Path | None:
    """Compile the child; None if there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = folder / "worker"
    source = Path(__file__).with_name("worker.c")
    subprocess.run([compiler, "-O1", "-o", str(program), str(source)], check=True)
    return program


# -- truth


def _truth(program: Path, times: int, size: Size) -> list[Figure]:
    burn, touch, write = (f"{n}" for n in (size.of(BURN_MS, 20), TOUCH, size.of(WRITE, 10**6)))
    cpu, peak, written = "resource_cpu_s", "resource_memory_peak_bytes", "resource_disk_write_bytes"
    rss = "resource_process_peak_rss_bytes"
    wanted: list[tuple[str, Way, str, str, float | None]] = [
        ("CPU time, child that ended", _ended, f"burn {burn}", cpu, None),
        ("CPU time, grandchild, tree ended", _ended, f"+burn {burn}", cpu, None),
        ("CPU time, process that lives on", _alive, f"burn {burn}", cpu, None),
        ("CPU time, child of one that lives on (ticks)", _alive, f"+burn {burn}", cpu, None),
        ("CPU time, control group", _grouped, f"burn {burn}", cpu, None),
        ("CPU time, child in a control group", _grouped, f"+burn {burn}", cpu, None),
        ("peak, child that ended", _ended, f"touch {touch}", rss, float(touch)),
        ("peak, grandchild, tree ended", _ended, f"+touch {touch}", rss, float(touch)),
        ("peak, process that lives on", _alive, f"touch {touch}", rss, float(touch)),
        ("peak, control group", _grouped, f"touch {touch}", peak, float(touch)),
        ("peak, child in a control group", _grouped, f"+touch {touch}", peak, float(touch)),
    ]
    for what, way, sign in (
        ("child that ended", _ended, ""),
        ("grandchild, tree ended", _ended, "+"),
        ("process that lives on", _alive, ""),
        ("child of one that lives on", _alive, "+"),
    ):
        wanted.append((f"written, {what}", way, f"{sign}write {write}", written, float(write)))
    figures: list[Figure] = []
    for what, way, request, metric, true in wanted:
        each = [_off(*way(program, request, metric), true) for _ in range(times)]
        told = [off for off in each if off is not None]
        figures.append(Figure(f"{what}: off by", told, "%", LIMIT))
    return figures


def _off(told: float | None, own: float, true: float | None) -> float | None:
    expected = own if true is None else true
    return None if told is None else abs(told - expected) / expected


def _ended(program: Path, request: str, metric: str) -> tuple[float | None, float]:
    """Let a child live and end inside the window; its own account is then its whole life's."""
    counters = Counters()
    start = counters.read()
    worker = Worker(program)
    own = worker.do(request)
    ended = worker.end()
    used = counters.used(start, counters.read(Owned(ended=(ended,))))
    counters.close()
    return used[metric], own


def _alive(program: Path, request: str, metric: str) -> tuple[float | None, float]:
    worker = Worker(program)
    told, own = _within(Owned(pids=(worker.pid,)), worker, request, metric)
    worker.end()
    return told, own


def _grouped(program: Path, request: str, metric: str) -> tuple[float | None, float]:
    with cgroups(1) as made:
        if not made:
            return None, 0.0
        worker = Worker(program, made[0])
        told, own = _within(Owned(cgroups=made), worker, request, metric)
        worker.end()
    return told, own


def _within(owned: Owned, worker: Worker, request: str, metric: str) -> tuple[float | None, float]:
    worker.do("burn 0")
    counters = Counters()
    start = counters.read(owned)
    own = worker.do(request)
    used = counters.used(start, counters.read(owned))
    counters.close()
    return used[metric], own


@contextmanager
def cgroups(count: int) -> Generator[list[Cgroup]]:
    """Make control groups of version 1, and remove them; none where that is not possible."""
    made: list[Path] = []
    found: list[Cgroup] = []
    try:
        with suppress(OSError):
            for number in range(count):
                name = f"benchyard-benchmark-{os.getpid()}-{number}"
                for hierarchy in _HIERARCHIES:
                    folder = Path("/sys/fs/cgroup") / hierarchy / name
                    folder.mkdir()
                    made.append(folder)
                controllers = (*_HIERARCHIES[:-1], UNIFIED)
                folders = made[-len(controllers) :]
                found.append(Cgroup(f"/{name}", dict(zip(controllers, folders, strict=True))))
        yield found if len(found) == count else []
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


# -- cost


def _cost(program: Path | None, size: Size) -> list[Figure]:
    counters, rounds = Counters(), size.of(9, 1)
    with cgroups(2) as groups, bare_files() as files:
        workers = [Worker(program, group) for group in groups] if program else []
        tree = Worker(program) if program else None
        owned = Owned(pids=(tree.pid,)) if tree else Owned()
        both = Owned(cgroups=groups)
        start, end = counters.read(both), counters.read(both)
        ways: list[tuple[str, Callable[[], object], float | None]] = [
            ("a boundary, host only", counters.read, HOST_LIMIT),
            ("floor: the same files, bare preads", lambda: _bare(files), None),
            ("a boundary, one tree of one process", lambda: counters.read(owned), None),
            ("a boundary, two control groups", lambda: counters.read(both), None),
            ("decoding afterwards, two control groups", lambda: counters.used(start, end), None),
            ("psutil, KROWN's columns", _psutil_host, None),
            ("psutil, one tree of one process", lambda: _psutil_tree(owned), None),
        ]
        costs: dict[str, list[float]] = {what: [] for what, _, _ in ways}
        for _ in range(rounds):
            for what, call, _ in ways:
                costs[what].append(_each(call, size.of(300, 3)))
        for worker in (*workers, *([tree] if tree else [])):
            worker.end()
    counters.close()
    return [Figure(what, costs[what], "µs", limit) for what, _, limit in ways]


def _each(call: Callable[[], object], times: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(times):
        call()
    return (time.perf_counter_ns() - start) / 1e9 / times


@contextmanager
def bare_files() -> Generator[list[int]]:
    """Open the files that a boundary reads of the host."""
    names = ("stat", "meminfo", "vmstat", "net/dev", *(f"pressure/{k}" for k in _PRESSED))
    paths = [Path("/proc", name) for name in names]
    paths += [Path("/sys/block", disk, "stat") for disk in real_disks()]
    paths += [level / "cpu.stat" for level in own_levels("cpu")]
    opened = [os.open(path, os.O_RDONLY) for path in paths if path.exists()]
    try:
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _bare(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.pread(descriptor, 8192, 0)


def _psutil_host() -> None:
    """Read what KROWN's collector reads at each sample, the same way."""
    psutil.cpu_times()
    psutil.virtual_memory()
    psutil.swap_memory()
    psutil.disk_io_counters()
    psutil.net_io_counters()


def _psutil_tree(owned: Owned) -> None:
    for pid in owned.pids:
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with process.oneshot():
                process.cpu_times()
                process.memory_info()
                process.io_counters()


if __name__ == "__main__":
    run_program(__doc__, measure)
