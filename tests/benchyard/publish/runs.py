"""Folders of runs, as executing leaves them."""

from pathlib import Path

from benchyard.core.model import JsonObject, Outcome
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record


def finished_run(results: Path, number: int = 1, *, done: bool = True) -> Path:
    """Write the folder of a run that took place."""
    folder = results / f"run_{number}"
    folder.mkdir(parents=True)
    repetition = Repetition("measured", 0.1, 0.25, Outcome.COMPLETED, {"resource_cpu_s": 0.2})
    at = f"2026-11-21T19:30:{number:02}+00:00"
    attempt = Attempt(1, at, 0.1, 0.4, Outcome.COMPLETED, (repetition,))
    step = StepRecord(1, "load", "Load", "SQLite", "load", {}, True, Outcome.COMPLETED, (attempt,))
    point: JsonObject = {}
    case: JsonObject = {"name": "words", "title": "words", "point": point, "hash": "abc"}
    record = RunRecord(
        case, number, Outcome.COMPLETED, at, at, 1.0, (step,), environment={"host": {"name": "h"}}
    )
    write_record(folder, record)
    if done:
        (folder / ".done").touch()
    return folder
