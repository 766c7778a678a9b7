"""Traces: Scanner's profiles, Chrome's traces, differences, the trace of a long run.

Floors are the least that any reader does: a bare ``np.frombuffer`` of the records, a bare decode of
the same bytes. The plain writer makes one dictionary an event, as Scanner's own does. Memory is the
peak of a process of its own.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.scanner_profiles import synthetic_job
from benchmarks.table import Figure, Size, run_program
from benchyard.traces.chrome.writing import write_chrome
from benchyard.traces.difference import Measure, Profiled, differences, profiled
from benchyard.traces.model import Counter, Slices, Trace, Track
from benchyard.traces.scanner import Profile
from benchyard.traces.scanner.blocks import INTERVAL

_NAMES = 200
_SIDE = 30

#: Prints the time and the peak memory of one way to read or write; $1 says which, $2 of what.
_PROGRAM = """
import sys
from pathlib import Path
from time import process_time
way, source = sys.argv[1], Path(sys.argv[2])
import msgspec
from benchyard.traces.chrome.reading import read_chrome
from benchyard.traces.scanner import Profile
from benchyard.traces.statistics import statistics_of
begun = process_time()
if way == "statistics":
    statistics_of(read_chrome(source))
elif way == "trace":
    Profile(source).write_trace(source / "out.trace")
else:
    with source.open("rb") as file:
        file.readline()
        rest = b""
        while more := file.read(1 << 20):
            rest += more
            end = rest.rfind(b"},\\n{") + 1
            msgspec.json.decode(b"[" + rest[:end].strip(b",\\n") + b"]")
            rest = rest[end:]
took = process_time() - begun
[peak] = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
print(took, int(peak.split()[1]) * 1024)
"""


def measure(size: Size) -> list[Figure]:
    """Measure all; times are CPU times, as the host may be busy."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        base = Path(made)
        return [
            *_scanner(base / "job", size.of(2_000_000, 5_000), size.of(9)),
            *_chrome(base / "trace.json", size.of(1_000, 1)),
            *_detection(size.of(100, 1)),
            *_large_differences(size.of(100_000, 1_000)),
            *_hour(base, size.of(36_000, 100)),
        ]


def _timed(action: Callable[[], object], count: int) -> list[float]:
    times: list[float] = []
    for _ in range(count):
        begun = process_time()
        action()
        times.append(process_time() - begun)
    return times


def _apart(way: str, source: Path) -> tuple[float, float]:
    command = (sys.executable, "-c", _PROGRAM, way, str(source))
    ended = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    took, peak = map(float, ended.stdout.split())
    return took, peak


def _scanner(job: Path, intervals: int, count: int) -> list[Figure]:
    job.mkdir()
    for name, content in synthetic_job(4, 4, intervals, counters={"rows": 5}).items():
        (job / name).write_bytes(content)
    profile = Profile(job)
    records = job / "records"
    records.write_bytes(b"".join(one.intervals.tobytes() for _, one in profile.workers()))
    floor = _timed(lambda: np.frombuffer(records.read_bytes(), INTERVAL), count)
    least = float(np.median(floor))
    written, peak = _apart("trace", job)
    plain = _timed(lambda: _plain_trace(profile, job / "plain.trace"), 1)
    return [
        Figure("records by np.frombuffer", floor, "ms"),
        Figure("a Scanner job is read", _timed(lambda: Profile(job), count), "ms", 1.7 * least),
        Figure("  and counted", _timed(profile.statistics, count), "ms", 3 * least),
        Figure("  its trace, an event a dictionary", plain),
        Figure("  its trace, ours", [written], "s", plain[0] / 12),
        Figure("    peak memory, MB", [peak / 1e6], "", 150),
    ]


def _plain_trace(profile: Profile, file: Path) -> None:
    with file.open("w", encoding="utf-8") as out:
        for node, worker in profile.workers():
            columns = (worker.intervals[name].tolist() for name in ("key", "start", "end"))
            for key, start, end in zip(*columns, strict=True):
                event = {"name": worker.names[key], "cat": worker.kind, "ph": "X", "pid": node}
                event |= {"ts": start / 1000, "dur": (end - start) / 1000, "tid": 0, "args": {}}
                out.write(json.dumps(event) + ",\n")


def _chrome(file: Path, megabytes: int) -> list[Figure]:
    _write_nested(file, megabytes * 1_000_000)
    bare, _ = _apart("bare", file)
    took, peak = _apart("statistics", file)
    return [
        Figure(f"Chrome, {megabytes:,} MB, a bare decode", [bare]),
        Figure("  statistics of it", [took], "s", 2.5 * bare),
        Figure("    peak memory, MB", [peak / 1e6], "", 600),
    ]


def _write_nested(file: Path, size: int) -> None:
    rng = np.random.default_rng(1)
    written = now = 0
    with file.open("w", encoding="utf-8") as out:
        out.write('{"traceEvents":[\n')
        between = ""
        while written < size:
            lines: list[str] = []
            for tid, root in enumerate(rng.integers(0, 20, 8).tolist()):
                for depth, turn in enumerate(rng.integers(0, 2, 6).tolist()):
                    name = f"function {(root * 10 + depth * 37 + turn) % _NAMES} of a module"
                    lines.append(
                        f'{{"ph":"X","cat":"python","name":"{name}","pid":1,"tid":{tid},"ts":'
                        f'{now + 10.5 * depth},"dur":{900 - 30.25 * depth},"args":{{"a":{depth}}}}}'
                    )
            text = between + ",\n".join(lines)
            written += out.write(text)
            between = ",\n"
            now += 1_000
        out.write("\n]}\n")


def _detection(trials: int) -> list[Figure]:
    rng = np.random.default_rng(3)
    base = rng.uniform(1e5, 1e7, _NAMES)
    missed, false = 0, 0
    for _ in range(trials):
        slower = int(rng.integers(_NAMES))
        factors = np.where(np.arange(_NAMES) == slower, 1.02, 1.0)
        sides = [[_noisy(rng, base * by) for _ in range(_SIDE)] for by in (1.0, factors)]
        found = differences(*sides)
        names = {one.names for one in found if one.is_shown and one.measure is Measure.SELF}
        missed += found[0].names != (str(slower),)
        false += bool(names - {(str(slower),)})
    return [
        Figure("of 200 names one 2 % slower: not named first", [missed / trials], "%", 0.05),
        Figure("  any other named", [false / trials], "%", 0.01),
    ]


def _noisy(
    rng: np.random.Generator, times: "np.ndarray[tuple[int], np.dtype[np.float64]]"
) -> Profiled:
    took = np.rint(times * rng.lognormal(0, 0.01, _NAMES)).astype(np.int64)
    starts = np.cumsum(took) - took
    which = np.arange(_NAMES, dtype=np.int32)
    slices = Slices(np.zeros(_NAMES, np.int32), which, starts, took)
    return profiled(Trace([Track("p", "t")], [str(one) for one in range(_NAMES)], slices))


def _large_differences(count: int) -> list[Figure]:
    traces = [_large(count, seed) for seed in range(2 * _SIDE)]

    def compare() -> object:
        sums = [profiled(trace) for trace in traces]
        return differences(sums[:_SIDE], sums[_SIDE:])

    return [Figure(f"60 traces of {count:,} slices compared", _timed(compare, 1), "s", 6)]


def _large(count: int, seed: int) -> Trace:
    rng = np.random.default_rng(seed)
    depth = np.tile(np.arange(10), count // 10)
    root = np.repeat(np.arange(count // 10), 10)
    starts = root * 10_000 + depth * 10
    took = 9_000 - depth * 500 + rng.integers(0, 99, count)
    names = ((root % 20) * 10 + depth).astype(np.int32)
    slices = Slices(np.zeros(count, np.int32), names, starts, took)
    return Trace([Track("p", "t")], [str(one) for one in range(_NAMES)], slices)


def _hour(base: Path, samples: int) -> list[Figure]:
    rng = np.random.default_rng(5)
    times = np.arange(samples, dtype=np.int64) * 100_000_000
    counters = [Counter("host", f"c{one}", times, rng.random(samples), "B") for one in range(18)]
    slices = _large(1_000, 1)
    trace = Trace(slices.tracks, slices.names, slices.slices, counters)

    def write() -> Sequence[object]:
        return [write_chrome(trace, base / "hour.json")]

    return [Figure("18 counters of an hour at 0.1 s written", _timed(write, 3), "s", 1)]


if __name__ == "__main__":
    run_program(__doc__, measure)
