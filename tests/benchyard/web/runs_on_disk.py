"""Runs on disk, as records tell them, and an explorer that shows them."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchyard.catalogue.query import EntryQuery
from benchyard.core.model import Outcome
from benchyard.results.folders import METRICS_FILE, run_folder
from benchyard.results.metrics_csv import COLUMNS
from benchyard.results.record import (
    Attempt,
    ErrorRecord,
    PhaseRecord,
    Repetition,
    RunRecord,
    StepRecord,
    write_record,
)
from tests.benchyard.web.site import Site

BEGAN = "2026-11-20T08:00:00+00:00"


def make_step(
    index: int, name: str, outcome: Outcome = Outcome.COMPLETED, **more: Any
) -> StepRecord:
    """Return a step of one attempt with two measured repetitions, a second each."""
    good = outcome is Outcome.COMPLETED
    error = None if good else ErrorRecord("ProgramFailedError", f"'{name}' failed: exit code 3")
    used = {
        "resource_cpu_s": 0.5,
        "host_disk_read_bytes": 4096.0,
        "resource_memory_peak_bytes": 1e6,
    }
    suspect = tuple(more.pop("suspect", ()))
    made = tuple(
        Repetition("measured", index + at, 1.0, outcome, used, error=error, suspect=tuple(suspect))
        for at in (0.0, 1.0)
    )
    attempt = Attempt(1, BEGAN, float(index), index + 2.0, outcome, made, error)
    return StepRecord(
        index, name, name, "Process", "execute", {}, True, outcome, (attempt,), **more
    )


def make_run(
    results: Path, number: int, steps: Sequence[StepRecord] = (), seconds: int = 3, **more: Any
) -> Path:
    """Write a run with its record and curves; return its folder."""
    folder = run_folder(results, number)
    folder.mkdir(parents=True)
    facts: dict[str, Any] = {
        "case": {"title": "words", "name": "words"},
        "run": number,
        "outcome": Outcome.COMPLETED,
        "started_at": BEGAN,
        "ended_at": BEGAN,
        "duration_s": float(seconds),
        "steps": tuple(steps or [make_step(1, "load")]),
        "phases": (PhaseRecord("start", "Process", 1, 0.1, 0.2, Outcome.COMPLETED),),
        "environment": {"host": "bench1"},
        "collector": {"interval_s": 0.1},
    }
    write_record(folder, RunRecord(**{**facts, **more}))
    write_metrics(folder, seconds * 10)
    return folder


def write_metrics(folder: Path, samples: int, **columns: float) -> None:
    """Write ten samples a second of half a core in use, and 1 GB of memory."""
    rates = {"cpu_user_system": 0.5, "disk_read_bytes": 1000.0, **columns}
    with (folder / METRICS_FILE).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, restval="")
        writer.writeheader()
        for n in range(samples):
            grown = {name: rate * n / 10 for name, rate in rates.items()}
            writer.writerow({"name": "a,b", "timestamp": n / 10, "memory_ram": 1e9, **grown})


def client_of(folder: Path, **settings: Any) -> tuple[Any, str]:
    """Return an explorer of the results that a run lies in, and the run's id."""
    site = Site(folder.parent.parent, **settings)
    found = site.catalogue.page(EntryQuery(limit=None)).entries
    return site.client, next(entry.id for entry in found if entry.place == folder)
