"""Results folders for tests of the catalogue."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchyard.core.files import write_atomically
from benchyard.core.model import Json, Outcome, point_suffix
from benchyard.results.folders import DONE, RUN_FILE
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record

#: When run 0 of a case would begin.
FIRST_S = 1_700_000_000
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def step(
    number: int = 1,
    *lengths: float,
    outcome: Outcome = Outcome.COMPLETED,
    parameters: Mapping[str, Json] | None = None,
    suspect: tuple[str, ...] = (),
) -> StepRecord:
    """Return a step whose command was executed for each length, and once before as a warm-up."""
    warm_up = Repetition("warmup", 0.0, 99.0, Outcome.COMPLETED)
    measured = [Repetition("measured", 0.0, s, outcome, suspect=suspect) for s in lengths or (0.5,)]
    attempt = Attempt(1, "", 0.0, 1.0, outcome, (warm_up, *measured))
    told = (number, f"step{number}", f"Step {number}", "Process", "execute", parameters or {})
    return StepRecord(*told, measure=True, outcome=outcome, attempts=(attempt,))


def record(run: int = 1, name: str = "tpch", **changes: Any) -> RunRecord:
    """Return a record; what is named like a member of its parts goes there."""
    point = changes.pop("point", {})
    began = datetime.fromtimestamp(changes.pop("started_s", FIRST_S + 60 * run), UTC)
    case = {"name": name, "title": name + point_suffix(point), "point": point}
    commit = changes.pop("commit", None)
    told: dict[str, Any] = {
        "case": case | {"tags": list(changes.pop("tags", ()))},
        "run": run,
        "outcome": Outcome.COMPLETED,
        "started_at": began.isoformat(),
        "ended_at": began.isoformat(),
        "duration_s": 1.5,
        "steps": (step(),),
        "environment": {"host": changes.pop("host", "bench-01")},
        "resources": {n: {"version": v} for n, v in changes.pop("versions", {}).items()},
        "subject": {"repositories": {"program x": {"commit": commit}}} if commit else {},
    }
    return RunRecord(**(told | changes))


def put_run(results: Path, run: int = 1, *, done: bool = True, **told: Any) -> Path:
    """Write a run, and return its folder; its case is named as the folder that results are in."""
    folder = results / f"run_{run}"
    folder.mkdir(parents=True, exist_ok=True)
    name = told.pop("name", results.parent.name if results.name == "results" else results.name)
    write_record(folder, record(run, name, **told))
    if done:
        write_atomically(folder / DONE, "2026-11-25T08:00:00+00:00\n")
    return folder


def put_many(results: Path, runs: Iterable[int], **told: Any) -> None:
    """Write many runs as fast as a copy does, not one by one to disk."""
    for run in runs:
        folder = results / f"run_{run}"
        folder.mkdir(parents=True)
        document = record(run, results.parent.name, **told).to_json()
        (folder / RUN_FILE).write_text(json.dumps(document))
        (folder / DONE).touch()
