"""``benchyard report``: how long a report takes, as a whole process, and how large it is.

The runs are those of a case of eleven steps with some sixty counters each, whose numbers are drawn
anew for every run: they compress worse than real ones do.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.table import Figure, Size, run_program
from benchyard.core.model import Outcome
from benchyard.results.folders import DONE, METRICS_FILE, run_folder
from benchyard.results.metrics_csv import COLUMNS
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record

#: What a report may take of a reader's time, and of a mail.
SECONDS, BYTES = 1.0, 500_000
STEPS, COUNTERS, SAMPLES = 11, 60, 200
_BEGAN = "2026-01-01T00:00:00+00:00"


def measure(size: Size) -> list[Figure]:
    """Measure a case, a comparison, many runs and a suite."""
    rounds = size.of(7, 2)
    many, cases = size.of(100, 12), size.of(20, 3)
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as made:
        place = Path(made)
        _make(place / "case", 6)
        _make(place / "many", many)
        for number in range(cases):
            _make(place / "suite" / f"case{number}", 6, f"case{number}")
        half = many // 2
        return [
            *_of("a case, 6 runs x 11 steps", rounds, SECONDS, [place / "case"]),
            *_of(f"a case, {many} runs x 11 steps", rounds, None, [place / "many"]),
            *_of(
                f"a comparison, {half} and {half} runs",
                rounds,
                None,
                ["--compare", f"{place / 'many'}@1-{half}", f"{place / 'many'}@{half + 1}-{many}"],
            ),
            *_of(f"a suite, {cases} cases x 6 runs", rounds, None, [place / "suite"]),
        ]


def _of(
    what: str, rounds: int, limit: float | None, arguments: list[str | Path]
) -> Iterator[Figure]:
    """Yield the times of whole processes, the size of the file, and how many pictures it lacks."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as folder:
        program = Path(sys.executable).with_name("benchyard")
        file = Path(folder, "report.html")
        command = [program, "report", *arguments, "-o", file, "--json"]
        seconds, used, told = list[float](), list[float](), ""
        for _ in range(rounds):
            start, before = time.perf_counter(), _children()
            told = subprocess.run(
                command, check=False, capture_output=True, encoding="utf-8"
            ).stdout
            seconds.append(time.perf_counter() - start)
            used.append(_children() - before)
        about = json.loads(told)
    yield Figure(f"{what}: whole process", seconds, "s", limit)
    yield Figure(f"{what}: its CPU time", used, "s", limit)
    yield Figure(f"{what}: bytes", [about["bytes"]], "", BYTES)
    yield Figure(f"{what}: pictures left out", [about["pictures_left_out"]], "")


def _children() -> float:
    """Return the CPU time of the processes that ended (s): busy neighbours take no part in it."""
    times = os.times()
    return times.children_user + times.children_system


def _make(results: Path, count: int, name: str = "case") -> None:
    """Write the results of a case."""
    drawn = random.Random(name)  # noqa: S311 - no secret
    for number in range(1, count + 1):
        folder = run_folder(results, number)
        folder.mkdir(parents=True)
        write_record(folder, _record(name, number, drawn))
        (folder / METRICS_FILE).write_text(_curves(), encoding="utf-8")
        (folder / DONE).write_text(_BEGAN, encoding="utf-8")


def _record(name: str, number: int, drawn: random.Random) -> RunRecord:
    return RunRecord(
        case={"name": name, "title": name, "hash": f"sha256:{len(name):064x}", "point": {}},
        run=number,
        outcome=Outcome.COMPLETED,
        started_at=f"2026-01-01T{number // 60:02d}:{number % 60:02d}:00+00:00",
        ended_at=_BEGAN,
        duration_s=float(STEPS),
        steps=tuple(_step(index, drawn) for index in range(1, STEPS + 1)),
        environment={"host": "bench", "kernel": "Linux-6.12", "cpu": {"model": "some CPU"}},
        collector={"interval_s": 0.1},
        benchyard_version="0.1.0",
    )


def _step(index: int, drawn: random.Random) -> StepRecord:
    """Make a step: two thirds of its counters are zero or small, as real ones are."""
    used: dict[str, float | None] = {
        f"counter_{place}_count": 0 if place % 3 else drawn.randrange(10**6)
        for place in range(COUNTERS)
    }
    made = Repetition(
        "measured", 0.0, round(drawn.uniform(0.9, 1.1), 9), Outcome.COMPLETED, used=used
    )
    attempt = Attempt(1, _BEGAN, index - 1.0, float(index), Outcome.COMPLETED, (made,))
    about = (index, f"q{index:02d}", f"q{index:02d}", "SQLite", "execute", {"query": index}, True)
    return StepRecord(*about, Outcome.COMPLETED, (attempt,))


def _curves() -> str:
    """Write samples in which nothing but the time and the CPU grows."""
    rows = [",".join(COLUMNS)]
    for place in range(SAMPLES):
        values = {"timestamp": place * STEPS / SAMPLES, "cpu_user_system": place / 20}
        rows.append(",".join(str(values.get(column, 0)) for column in COLUMNS))
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    run_program(__doc__, measure)
