"""What the statistics of finished runs cost: from our records, and from KROWN's metrics.csv.

From records the number of samples must not matter, since they are not read. From KROWN's own
results they are, once. Beside it polars, where it is installed, computing the same figures of each
step, and the floor: reading the bytes. Peaks are of the largest process, resident.

Everything is measured in processes of their own, from the call to the files on disk; start-up of
Python and imports are not in it, except where "whole command" says so.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.lab import benchyard, wall_seconds
from benchmarks.table import Figure, Size, run_program
from benchyard.core.files import write_json
from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.results.metrics_csv import COLUMNS, COUNTERS, LEVELS
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record

OWN_SECONDS = 0.1
KROWN_SECONDS = 3.0
KROWN_MEGABYTES = 50.0
RUNS, STEPS = 5, 20
#: Samples of a run to rounds of measuring.
SAMPLES = {36_000: 7, 360_000: 5}
#: Metrics of a resource and of the host beside KROWN's: those that move, those that stay zero.
_MOVING, _STILL = 20, 22
_FREE_BYTES = 3e9
_WHEN = "2026-01-01T00:00:00+00:00"
_KROWN = "KROWN's Stats, other machine"
_LITERATURE = {36_000: (6.87, 590.0), 360_000: (69.4, 5675.0)}

#: Runs one measured call and prints its time.
_MEASURED = """
import sys, time
from pathlib import Path
results = Path(sys.argv[1])
{imports}
start = time.perf_counter()
{call}
print(time.perf_counter() - start)
"""
_OURS = {
    "imports": "from benchyard.run.summarize import summarize",
    "call": "summarize('case', results)",
}
_BYTES = {
    "imports": "",
    "call": """
for path in results.glob("run_*/metrics.csv"):
    with path.open("rb", buffering=0) as stream:
        while stream.read(1 << 18):
            pass
""",
}
#: Differences between the last and the first row of each step, and the extremes of the levels.
_POLARS = {
    "imports": "import polars as pl",
    "call": """
for path in sorted(results.glob("run_*/metrics.csv")):
    table = pl.scan_csv(path).filter(pl.col("index") > 1)
    levels = [c for c in LEVELS]
    counters = ["timestamp", *COUNTERS]
    table.group_by("step").agg(
        pl.len().alias("samples"),
        *((pl.col(c).last() - pl.col(c).first()).alias(c) for c in counters),
        *(pl.col(c).min().alias(c + "_min") for c in levels),
        *(pl.col(c).max().alias(c + "_max") for c in levels),
    ).sort("step").collect()
""".replace("COUNTERS", repr(tuple(COUNTERS))).replace("LEVELS", repr(LEVELS)),
}


def measure(size: Size) -> list[Figure]:
    """Measure both paths at two numbers of samples, on files made once."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        if shutil.disk_usage(made).free < _FREE_BYTES:
            raise RuntimeError(f"{made}: less than 3 GB are free; set TMPDIR to a larger place")
        for samples, rounds in SAMPLES.items():
            folder = Path(made, str(samples))
            few = size.of(samples, 200)
            own, krown = _write_results(folder, few)
            title = f"{RUNS} runs x {STEPS} steps x {few:,} samples"
            figures += _own(own, title, size.of(rounds))
            figures += _krown(krown, title, size.of(rounds))
            figures += _literature(samples)
            shutil.rmtree(folder)
    return figures


def _own(results: Path, title: str, rounds: int) -> list[Figure]:
    whole = [wall_seconds(_command(results), results) for _ in range(rounds)]
    took = [_seconds(_OURS, results) for _ in range(rounds)]
    return [
        Figure(f"own records, {title}", took, limit=OWN_SECONDS),
        Figure("  its peak memory, MB", [_peak(_OURS, results)], ""),
        Figure("  whole command benchyard stats", whole),
    ]


def _krown(results: Path, title: str, rounds: int) -> list[Figure]:
    others = {"bytes read, nothing done": _BYTES}
    if find_spec("polars"):
        others["polars, the same figures"] = _POLARS
    ours: list[float] = []
    whole: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in others}
    for _ in range(rounds):
        ours.append(_seconds(_OURS, results))
        for name, program in others.items():
            theirs[name].append(_seconds(program, results))
        _forget(results)
        whole.append(wall_seconds(_command(results), results))
    figures = [
        Figure(f"KROWN's CSV, {title}", ours, limit=KROWN_SECONDS),
        Figure("  its peak memory, MB", [_peak(_OURS, results)], "", KROWN_MEGABYTES),
        Figure("  whole command benchyard stats", whole),
    ]
    for name, took in theirs.items():
        ratios = [other / own for other, own in zip(took, ours, strict=True)]
        figures.append(Figure(f"{name}, the same", took))
        figures.append(Figure("  its peak memory, MB", [_peak(others[name], results)], ""))
        figures.append(Figure("  its time / ours", ratios, ""))
    return figures


def _literature(samples: int) -> list[Figure]:
    seconds, peak = _LITERATURE[samples]
    return [
        Figure("KROWN's Stats, the same", [seconds], literature=_KROWN),
        Figure("  its peak memory, MB", [peak], "", literature=_KROWN),
    ]


def _seconds(program: Mapping[str, str], results: Path) -> float:
    """Return the time of a call in a fresh process (s); its files are made anew."""
    _forget(results)
    with _started(program, results) as child:
        said, _ = child.communicate()
    return float(said)


def _peak(program: Mapping[str, str], results: Path) -> float:
    """Return the most memory that a call and its children had together (MB)."""
    _forget(results)
    most = 0
    with _started(program, results) as child:
        while child.poll() is None:
            most = max(most, _proportional_bytes(child.pid))
            time.sleep(0.01)
    return most / 1e6


def _started(program: Mapping[str, str], results: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", _MEASURED.format(**program), str(results)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def _proportional_bytes(pid: int) -> int:
    """Return the memory of a process and of all below it; what has just ended has none."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
        own = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = " ".join(
            (task / "children").read_text(encoding="utf-8") for task in tasks
        ).split()
    except OSError:
        return 0
    return own * 1024 + sum(map(_proportional_bytes, map(int, children)))


def _forget(results: Path) -> None:
    for name in ("stats.csv", "summary.csv", "aggregated.csv", "summary.json"):
        (results / name).unlink(missing_ok=True)


def _command(results: Path) -> Sequence[str]:
    return benchyard("stats", results.parent)


def _write_results(folder: Path, samples: int) -> tuple[Path, Path]:
    """Write the same runs as ours and as KROWN's; the large files are shared between both."""
    own, krown = folder / "own" / "results", folder / "krown" / "results"
    for case in (own.parent, krown.parent):
        _write_case(case)
    for run in range(1, RUNS + 1):
        for results in (own, krown):
            (results / f"run_{run}").mkdir(parents=True)
        source = krown / f"run_{run}" / "metrics.csv"
        with source.open("w", newline="", encoding="utf-8") as stream:
            stream.writelines(_lines(run, samples))
        (own / f"run_{run}" / "metrics.csv").hardlink_to(source)
        write_record(own / f"run_{run}", _record(run, samples))
        for results in (own, krown):
            (results / f"run_{run}" / ".done").touch()
    return own, krown


def _write_case(folder: Path) -> None:
    step: JsonObject = {
        "resource": "Process",
        "command": "execute",
        "parameters": {"arguments": ["true"]},
    }
    steps: list[Json] = [{**step, "@id": f"s{n}", "name": f"s{n}"} for n in range(1, STEPS + 1)]
    (folder / "data" / "shared").mkdir(parents=True)
    document: JsonObject = {"@id": f"urn:{folder.name}", "name": folder.name, "steps": steps}
    write_json(folder / "metadata.json", document)


def _lines(run: int, samples: int) -> Iterator[str]:
    """Yield the lines of KROWN's metrics.csv, cells as long as real ones are."""
    yield ",".join(COLUMNS) + "\r\n"
    yield f"case,{run},1,1,0.0,3,0.0,0.0,0.0,0.0,0.0" + ",0" * 18 + "\r\n"
    for n in range(1, samples + 1):
        step = min((n - 1) * STEPS // samples + 1, STEPS)
        at, user, system = round(0.1 * n, 4), round(0.05 * n, 4), round(0.01 * n, 4)
        ram = 6_270_803_968 + (n * 7919 + run) % 100_000 * 4096
        swap = 1_695_547_392
        devices = ",".join(str(start + n * by) for start, by in _DEVICES)
        yield (
            f"case,{run},{n + 1},{step},{at},3,{user},{system},{user + system},{at},0.8,"
            f"{ram},{swap},{ram + swap},{devices},0,0,0,0\r\n"
        )


#: Value at the start and growth with each sample of the devices' counters that move.
_DEVICES = (
    *((3384, 1), (12140, 1), (214_179_840, 4096), (252_477_440, 8192), (2171, 1), (5232, 2)),
    *((5925, 1), (420, 1), (669, 1), (67984, 100), (112_549, 90)),
)


def _record(run: int, samples: int) -> RunRecord:
    steps = tuple(_step(run, index, samples) for index in range(1, STEPS + 1))
    case: JsonObject = {"title": "case", "hash": "0"}
    length = samples / 10
    return RunRecord(case, run, Outcome.COMPLETED, _WHEN, _WHEN, length, steps)


def _step(run: int, index: int, samples: int) -> StepRecord:
    length = samples / 10 / STEPS * (1 + run / 1000 + index / 10_000)
    counted = [name for names, _ in COUNTERS.values() if len(names) == 1 for name in names]
    counted += [f"resource_{n}_count" for n in range(_MOVING)]
    used = {name: length * (n + run % 3 / 100) / 3 for n, name in enumerate(counted)}
    used |= {f"resource_still_{n}_count": 0.0 for n in range(_STILL)}
    made = Repetition("measured", index * length, length, Outcome.COMPLETED, used)
    attempt = Attempt(1, _WHEN, index * length, (index + 1) * length, made.outcome, (made,))
    levels: dict[str, Json] = {name: {"min": 5_000_000_000 + run, "max": 6e9} for name in LEVELS}
    return StepRecord(
        index,
        f"s{index}",
        f"s{index}",
        "Process",
        "execute",
        {},
        measure=True,
        outcome=Outcome.COMPLETED,
        attempts=(attempt,),
        sampled={"samples": samples // STEPS, "levels": levels},
    )


if __name__ == "__main__":
    run_program(__doc__, measure)
