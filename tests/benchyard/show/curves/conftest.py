"""A run's folder with a record and curves."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Outcome
from benchyard.host.sampler.owned import HEADER
from benchyard.results.metrics_csv import COLUMNS
from benchyard.results.record import Attempt, PhaseRecord, RunRecord, StepRecord, write_record

BEGAN = "2026-11-20T08:00:00+00:00"
MakeRun = Callable[..., Path]


def step(index: int, start: float, end: float, name: str = "load", **more: Any) -> StepRecord:
    outcome = more.get("outcome", Outcome.COMPLETED)
    attempt = Attempt(1, BEGAN, start, end, outcome)
    return StepRecord(index, name, name, "R", "c", {}, True, outcome, (attempt,))


def host_rows(seconds: int, **rates: float) -> list[dict[str, Any]]:
    """Return ten samples a second of counters that grow steadily, and 1 GB of memory in use."""
    return [
        {
            "timestamp": n / 10,
            "memory_ram": 1e9,
            **{name: rate * n / 10 for name, rate in rates.items()},
        }
        for n in range(10 * seconds + 1)
    ]


def owned(
    at: float, name: str, cpu: float, memory: float | str = "", resource: str = "DB"
) -> dict[str, Any]:
    """Return a sample of a process that belongs to a resource."""
    who = {"resource": resource, "what": "tree", "name": name}
    return {"timestamp": at, **who, "cpu_s": cpu, "memory_bytes": memory}


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    def make(
        rows: Sequence[dict[str, Any]],
        owned: Sequence[dict[str, Any]] = (),
        steps: Sequence[StepRecord] = (),
        length: float = 10.0,
        title: str = "words",
        phases: Sequence[PhaseRecord] = (),
    ) -> Path:
        folder = tmp_path / "run_1"
        folder.mkdir()
        record = RunRecord(
            {"title": title},
            1,
            Outcome.COMPLETED,
            BEGAN,
            BEGAN,
            length,
            tuple(steps),
            phases=tuple(phases),
            collector={"interval_s": 0.1},
        )
        write_record(folder, record)
        _write(folder / "metrics.csv", COLUMNS, rows)
        if owned:
            _write(folder / "resources.csv", HEADER, owned)
        return folder

    return make


def _write(file: Path, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
