"""What sampling costs, and whether it keeps time, beside KROWN's way and the least that C needs.

Options beside those of every benchmark: ``--seconds`` of each loop (20), ``--repeat`` (5).
A pause lies between whatever is timed and what went before; loops run one after the other.
"""

import argparse
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.table import Figure, Size, run_program
from benchyard.host.collector import MeasuredRun
from benchyard.host.sampler import COLUMNS, host_files, process, start_sampler
from benchyard.host.sampler.curves import write_curves
from benchyard.host.sampler.raw import Late, Tick, read_raw
from benchyard.process.cgroups import UNIFIED, Cgroup
from benchyard.process.usage import Owned

HERE = Path(__file__).resolve().parent
KROWN = HERE / "krown_sampling.py"
LOOP_RAW = "loop.raw"

#: Length of each loop, and how often everything is measured.
SECONDS, REPEAT = 20.0, 5

#: Limits as the project set them; C's are 1.5 times what was measured beside it.
HOT_SECONDS = 30e-6
FLOORS = 1.5
START_SECONDS = 0.05
PEAK_BYTES = 15e6
DECODE_SECONDS = 40e-6
PERIOD_OFF_SECONDS, PERIOD_INTERVAL = 10e-6, 0.1
#: Interval to the share of a core that sampling may take.
SHARES = {0.1: 0.0025, 0.01: 0.012}
KILLED_AFTER_SECONDS = 5.0
#: Of the 51 samples that five seconds have, so many may not be missing.
MOST_LOST = 6
GONE_SECONDS = 1.0

_PARENT = (
    "import sys, time; from pathlib import Path\n"
    "from benchyard.host.sampler import host_files, start_sampler\n"
    "one = start_sampler(Path(sys.argv[1]), 0.1, host_files())\n"
    "print(one.pid, flush=True); time.sleep(60)\n"
)


class Loop(NamedTuple):
    """What became of a loop: CPU seconds, seconds, samples, missed, mean and largest gap (s)."""

    cpu: float
    took: float
    samples: float
    missed: float
    mean: float
    largest: float


@dataclass(frozen=True)
class Setting:
    """How much is measured, and where."""

    folder: Path
    floor: Path
    seconds: float
    repeat: int
    quick: bool

    @property
    def hot(self) -> int:
        """Samples of a hot loop."""
        return 50 if self.quick else 20_000


def measure(size: Size, seconds: float = SECONDS, repeat: int = REPEAT) -> list[Figure]:
    """Measure everything, small if so asked."""
    with tempfile.TemporaryDirectory(prefix="benchyard-sampler-") as made:
        folder = Path(made)
        seconds, repeat = (0.3, 1) if size.quick else (seconds, repeat)
        setting = Setting(folder, _compiled(folder), seconds, repeat, size.quick)
        figures = [*_hot(setting), *_decoding(setting), *_starting(setting)]
        for interval, share in SHARES.items():
            figures += _in_situ(setting, interval, share)
        return [*figures, *_killing(setting)]


def _compiled(folder: Path) -> Path:
    floor = folder / "floor"
    source = str(HERE / "floor.c")
    subprocess.run(["cc", "-O2", "-o", str(floor), source], check=True)  # noqa: S607
    return floor


# -- back to back


def _hot(setting: Setting) -> Iterable[Figure]:
    found: dict[str, list[float]] = {name: [] for name in ("ours", "raw", "parse", "krown")}
    for _ in range(setting.repeat):
        for mode in ("raw", "parse"):
            found[mode] += _numbers([setting.floor, "hot", setting.hot, mode])
        found["ours"].append(_hot_sampler(setting))
        krown = max(1, setting.hot // 5)
        found["krown"] += _numbers([sys.executable, KROWN, "hot", krown])
    # Ours decodes after the run: what it must be held against is reading alone.
    ratios = [ours / c for ours, c in zip(found["ours"], found["raw"], strict=True)]
    others = [krown / c for krown, c in zip(found["krown"], found["parse"], strict=True)]
    yield Figure("hot sample, ours", found["ours"], "µs", HOT_SECONDS)
    yield Figure("the same over C's pread alone", ratios, "", FLOORS)
    yield Figure("C floor: pread and parse", found["parse"], "µs")
    yield Figure("C floor: pread alone", found["raw"], "µs")
    yield Figure("KROWN's way (psutil, csv)", found["krown"], "µs")
    yield Figure("KROWN's way over C's pread and parse", others, "")


def _hot_sampler(setting: Setting) -> float:
    """Run the sampling process's own code here, flushing as often as at 0.01 s."""
    with _recorder(setting.folder / "hot") as recorder:
        start = time.monotonic_ns()
        for at in range(setting.hot):
            recorder.sample(time.monotonic_ns())
            if at % 50 == 0:
                recorder.flush()
        return (time.monotonic_ns() - start) / 1e9 / setting.hot


@contextlib.contextmanager
def _recorder(raw: Path) -> Generator[process.Recorder]:
    descriptor = os.open(raw, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    recorder = process.Recorder(descriptor)
    try:
        for one in host_files():
            file = process.File((b"host", one.what.encode()), one.size, os.fsencode(one.path))
            recorder.open(recorder.steady, file, one.name.encode())
        yield recorder
    finally:
        recorder.forget((b"host", COLUMNS.encode()))
        os.close(descriptor)


def _decoding(setting: Setting) -> Iterable[Figure]:
    """Decode samples in which every file changed, which is more than a real run has."""
    costs: list[float] = []
    for _ in range(setting.repeat):
        raw = setting.folder / "decode"
        with _recorder(raw) as recorder:
            for at in range(setting.hot):
                for file in recorder.steady:
                    file.last = None
                recorder.sample(at * 100_000_000)
            recorder.flush()
        costs.append(_decoded(setting, raw))
    yield Figure("decoding a sample in which every file changed", costs, "µs")


def _decoded(setting: Setting, raw: Path) -> float:
    """Write the curves, and return the CPU seconds of one sample."""
    before = time.process_time()
    account = write_curves(raw, MeasuredRun(setting.folder, "case", 1, 0.1, 0), [], {})
    return (time.process_time() - before) / account.samples


# -- from the start on


def _starting(setting: Setting) -> Iterable[Figure]:
    took: list[float] = []
    peaks: list[float] = []
    for _ in range(setting.repeat + 1):
        start = time.monotonic()
        sampler = start_sampler(setting.folder / "start", 0.1, host_files())
        took.append(time.monotonic() - start)
        peaks.append(sampler.end().peak_rss_bytes or 0)
    # The first one also starts the lab's guard, once for all children.
    yield Figure("from start to first sample", took[1:], "ms", START_SECONDS)
    yield Figure("largest resident set (B)", peaks[1:], "", PEAK_BYTES)


# -- asleep in between


def _in_situ(setting: Setting, interval: float, share: float) -> Iterable[Figure]:
    title = f"{interval:g} s"
    found: dict[str, list[Loop]] = {}
    decoding: list[float] = []
    with _owned() as (what, owned):
        for _ in range(setting.repeat):
            each = {
                f"ours, host and {what}": _our_loop(setting, interval, owned),
                "ours, host alone": _our_loop(setting, interval, Owned()),
                "empty loop in C": _c_loop(setting, interval, "empty"),
                "C floor: pread and parse": _c_loop(setting, interval, "parse"),
                "KROWN's way": _loop([sys.executable, KROWN, "loop", interval, setting.seconds]),
            }
            for name, loop in each.items():
                found.setdefault(name, []).append(loop)
            decoding.append(_decoded(setting, setting.folder / LOOP_RAW))
    yield Figure(f"{title}, host alone: decoding a sample", decoding, "µs", DECODE_SECONDS)
    first = next(iter(found))
    for name, loops in found.items():
        limit = share if name == first else None
        yield Figure(
            f"{title}, {name}: of a core", [one.cpu / one.took for one in loops], "%", limit
        )
    for name, loops in found.items():
        off = [abs(one.mean - interval) for one in loops]
        limit = PERIOD_OFF_SECONDS if name == first and interval == PERIOD_INTERVAL else None
        yield Figure(f"{title}, {name}: mean period off by", off, "µs", limit)
    for name, loops in found.items():
        yield Figure(f"{title}, {name}: missed", [one.missed for one in loops], "")
        yield Figure(f"{title}, {name}: largest gap", [one.largest for one in loops], "ms")


def _our_loop(setting: Setting, interval: float, owned: Owned) -> Loop:
    raw = setting.folder / LOOP_RAW
    sampler = start_sampler(raw, interval, host_files())
    sampler.watch("benchmark", owned)
    cpu, start = _cpu_ns(sampler.pid), time.monotonic_ns()
    time.sleep(setting.seconds)
    used, took = _cpu_ns(sampler.pid) - cpu, time.monotonic_ns() - start
    sampler.end()
    records = list(read_raw(raw))
    # The last sample is no deadline's: it was taken when the input ended.
    instants = [record.at_ns for record in records if isinstance(record, Tick)][:-1]
    missed = sum(record.missed for record in records if isinstance(record, Late))
    gaps = [later - earlier for earlier, later in itertools.pairwise(instants)] or [0]
    mean = sum(gaps) / len(gaps)
    return Loop(used / 1e9, took / 1e9, len(instants), missed, mean / 1e9, max(gaps) / 1e9)


def _cpu_ns(pid: int) -> int:
    """Return the CPU time of another process. Source: clock_getcpuclockid(3), its kernel form."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def _c_loop(setting: Setting, interval: float, mode: str) -> Loop:
    return _loop([setting.floor, "loop", interval, setting.seconds, mode])


def _loop(arguments: Sequence[object]) -> Loop:
    return Loop(*_numbers(arguments))


def _numbers(arguments: Sequence[object]) -> list[float]:
    told = subprocess.run(
        [str(a) for a in arguments], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return [float(word) for word in told.stdout.split()]


@contextlib.contextmanager
def _owned() -> Generator[tuple[str, Owned]]:
    """Give two control groups with a process each, or the two processes where none can be made."""
    with contextlib.ExitStack() as stack:
        sleepers = [subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) for _ in "12"]
        for sleeper in sleepers:
            stack.callback(sleeper.communicate, b"\n")
        try:
            groups = [_group(stack, sleeper.pid) for sleeper in sleepers]
        except OSError:
            yield "2 process trees", Owned(pids=[sleeper.pid for sleeper in sleepers])
        else:
            yield "2 cgroups", Owned(cgroups=groups)


def _group(stack: contextlib.ExitStack, pid: int) -> Cgroup:
    root = Path("/sys/fs/cgroup")
    names = [UNIFIED] if (root / "cgroup.procs").exists() else ["cpuacct", "memory", "pids"]
    folders: dict[str, Path] = {}
    for name in names:
        folder = root / name / f"benchyard-benchmark-{pid}"
        folder.mkdir()
        stack.callback(folder.rmdir)
        stack.callback(_move, folder.parent, pid)
        (folder / "cgroup.procs").write_text(str(pid), encoding="utf-8")
        folders[name] = folder
    return Cgroup(f"/benchyard-benchmark-{pid}", folders)


def _move(folder: Path, pid: int) -> None:
    with contextlib.suppress(OSError):
        (folder / "cgroup.procs").write_text(str(pid), encoding="utf-8")


# -- killed


def _killing(setting: Setting) -> Iterable[Figure]:
    lost: list[float] = []
    gone: list[float] = []
    length = 0.3 if setting.quick else KILLED_AFTER_SECONDS
    for _ in range(setting.repeat):
        raw = setting.folder / "killed"
        arguments = [sys.executable, "-c", _PARENT, str(raw)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=HERE.parent) as parent:
            pid = int(parent.stdout.readline() if parent.stdout else b"0")
            time.sleep(length)
            start = time.monotonic()
            parent.send_signal(signal.SIGKILL)
            while Path(f"/proc/{pid}").exists() and not _is_zombie(pid):
                time.sleep(0.001)
            gone.append(time.monotonic() - start)
        there = sum(isinstance(record, Tick) for record in read_raw(raw))
        lost.append(max(0.0, length / 0.1 + 1 - there))
    yield Figure(
        "SIGKILL of the parent after 5 s at 0.1 s: samples lost of 51", lost, "", MOST_LOST
    )
    yield Figure("the same: sampler gone after", gone, "ms", GONE_SECONDS)


def _is_zombie(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            in "ZX"
        )
    except OSError:
        return True


def _options() -> argparse.Namespace:
    """Take this program's own options off the command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--repeat", type=int, default=REPEAT)
    found, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    return found


if __name__ == "__main__":
    run_program(__doc__, partial(measure, **vars(_options())))
