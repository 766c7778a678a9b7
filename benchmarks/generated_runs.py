"""Folders full of results: runs that vary a real one, and summary folders as MindSpore names them.

The real run is executed now, by ``benchyard run``. Of each made one, names, times, values, host,
point and 150 parameters are its own; the runs of a point share their parameters, as real ones do.
"""

import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from benchyard.results.folders import DONE, LOG_FILE, MARK, METRICS_FILE, RUN_FILE

#: Runs of each point, points of each case.
RUNS, POINTS = 50, 4
PARAMETERS = 150
_EXAMPLE = Path(__file__).parents[1] / "cases" / "examples" / "measuring"
_FIRST = datetime(2024, 1, 1, tzinfo=UTC)
_WORDS = ("join", "scan", "sort", "load", "index", "merge", "hash", "aggregate", "window", "filter")
_COMPLETE = ".complete"


def real_run(folder: Path) -> Path:
    """Execute a real case in ``folder``, and return its run's folder."""
    case = folder / "measuring"
    shutil.copytree(_EXAMPLE, case, ignore=shutil.ignore_patterns("results"))
    command = [sys.executable, "-m", "benchyard.cli", "run", str(case)]
    options = ["--direct", "--cooldown", "0", "--runs", "1"]
    environment = {**os.environ, "BENCHYARD_HOME": str(folder / "lab")}
    subprocess.run([*command, *options], check=True, capture_output=True, env=environment)
    return case / "results" / "run_1"


def _real() -> tuple[dict[str, Any], dict[str, bytes]]:
    """Execute the real case; return its record and its other files."""
    with tempfile.TemporaryDirectory(prefix="benchyard-benchmark-") as working:
        real = real_run(Path(working))
        others = {name: (real / name).read_bytes() for name in (MARK, LOG_FILE, METRICS_FILE, DONE)}
        return orjson.loads((real / RUN_FILE).read_bytes()), others


def make_runs(folder: Path, count: int) -> Path:
    """Return a folder with so many runs; one that is there already, and whole, is taken."""
    root = folder / f"runs-{count}"
    if (root / _COMPLETE).exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    record, others = _real()
    for place, made in _varied(record, count):
        put_run(root / place, made, others)
    (root / _COMPLETE).touch()
    return root


def put_run(folder: Path, record: dict[str, Any], others: dict[str, bytes]) -> None:
    """Write a run's folder, the checkpoint last."""
    folder.mkdir(parents=True)
    (folder / RUN_FILE).write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2))
    for name, content in others.items():
        (folder / name).write_bytes(content)


def _varied(record: dict[str, Any], count: int) -> Iterator[tuple[Path, dict[str, Any]]]:
    chance = random.Random(18)  # noqa: S311 - not a secret
    for number in range(count):
        point, run = divmod(number, RUNS)
        if run == 0:
            record = _of_point(copy.deepcopy(record), point, chance)
        _vary(record, run + 1, number, chance)
        name = f"{record['case']['name']}"
        yield Path(name, "results", f"scale={2 ** (point % POINTS)}", f"run_{run + 1}"), record


def _of_point(record: dict[str, Any], point: int, chance: random.Random) -> dict[str, Any]:
    scale, case = 2 ** (point % POINTS), point // POINTS
    name = f"{_WORDS[case % 10]}-{_WORDS[case // 10 % 10]}-{case:04d}"
    known = {"name": name, "title": f"{name}[scale={scale}]", "point": {"scale": scale}}
    record["case"] |= known | {"tags": ["generated", _WORDS[case % 10]]}
    values = {f"p{one:03d}": round(chance.uniform(0, 1000), 3) for one in range(PARAMETERS - 1)}
    record["steps"][1]["parameters"] = values
    record["environment"]["host"] = f"bench-{case % 12:02d}"
    return record


def _vary(record: dict[str, Any], run: int, number: int, chance: random.Random) -> None:
    began = _FIRST + timedelta(minutes=9 * number, seconds=chance.uniform(0, 60))
    length = chance.lognormvariate(1, 0.3)
    record["run"], record["duration_s"] = run, length
    record["outcome"] = "failed" if chance.random() < 0.02 else "completed"
    record["started_at"] = began.isoformat()
    record["ended_at"] = (began + timedelta(seconds=length)).isoformat()
    for step in record["steps"]:
        for attempt in step["attempts"]:
            for repetition in attempt["repetitions"]:
                repetition["duration_s"] = chance.lognormvariate(-3, 0.2)


def make_campaigns(folder: Path, count: int) -> Path:
    """Return a folder with a case of so many campaigns, each of six runs, two of each commit."""
    record, others = _real()
    chance = random.Random(38)  # noqa: S311 - not a secret
    results = folder / "measuring" / "results"
    for number in range(count):
        began, level = _FIRST + timedelta(hours=12 * number), chance.gauss(0, 0.01)
        name = f"{began:%Y%m%dT%H%M%SZ}-{number:012x}"
        place = results if number == count - 1 else results / "earlier" / name
        for repository in record["subject"].get("repositories", {}).values():
            repository["commit"] = f"{number // 2:040x}"
        record["subject"]["digest"] = f"sha256:{number // 2:064x}"
        for run in range(1, 7):
            record["run"] = run
            record["started_at"] = (began + timedelta(minutes=run)).isoformat()
            for step in record["steps"]:
                for repetition in step["attempts"][-1]["repetitions"]:
                    repetition["duration_s"] = chance.lognormvariate(level - 3, 0.02)
            put_run(place / f"run_{run}", record, others)
    return folder


def make_summaries(folder: Path, count: int) -> Path:
    """Return a folder with so many folders with one summary file each."""
    root = folder / f"summaries-{count}"
    if (root / _COMPLETE).exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    for number in range(count):
        place = root / f"job-{number:06d}"
        place.mkdir(parents=True)
        created_s = 1_700_000_000 + number
        summary = place / f"events.summary.{created_s}.bench-01_MS"
        summary.write_bytes(b"")
        for one in (summary, place):
            os.utime(one, (created_s, created_s))
    (root / _COMPLETE).touch()
    return root
