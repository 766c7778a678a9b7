"""What is known of a run, its steps and their executions beside their times."""

from collections.abc import Iterable, Mapping
from math import isfinite

from benchyard.core.model import Json, Outcome
from benchyard.results.record import ErrorRecord, Repetition, RunRecord, StepRecord
from benchyard.traces.model import Details

#: What a repetition used that is worth a look beside its length.
_USED = (
    "resource_cpu_s",
    "resource_memory_peak_bytes",
    "resource_disk_read_bytes",
    "resource_disk_write_bytes",
)


def ended(outcome: Outcome, error: ErrorRecord | None) -> dict[str, Json]:
    """Return how something ended, and why."""
    told: dict[str, Json] = {"outcome": outcome.value}
    return told if error is None else {**told, "error": error.message, "error_type": error.type}


def about_run(record: RunRecord) -> Details:
    """Return what a viewer shows of a run."""
    commit, changes = record.commit or (None, None)
    told: dict[str, Json] = {
        "case": record.case.get("title") or record.case.get("name"),
        "run": record.run,
        **ended(record.outcome, record.error),
        "started_at": record.started_at or None,
        "commit": commit,
        "changes": changes,
        "benchyard": record.benchyard_version or None,
        "warnings": list(record.warnings),
    }
    return {name: value for name, value in told.items() if value not in (None, [])}


def about_step(step: StepRecord) -> Details:
    """Return what a viewer shows of a step."""
    told: dict[str, Json] = {
        "index": step.index,
        "id": step.id,
        "resource": step.resource,
        "command": step.command,
        "parameters": dict(step.parameters),
        "outcome": step.outcome.value,
        "measured": step.measure,
    }
    if step.suspect:
        told["suspect"] = list(step.suspect)
    return told


def about_repetition(made: Repetition, number: int) -> Details:
    """Return what a viewer shows of one execution of a command.

    Args:
        made: The execution.
        number: Its place among those of its kind, from 1.
    """
    told: dict[str, Json] = {"number": number, **ended(made.outcome, made.error)}
    if made.values:
        told["values"] = dict(made.values)
    told.update(_known(made.used, _USED))
    if made.suspect:
        told["suspect"] = list(made.suspect)
    return told


def _known(used: Mapping[str, float | None], names: Iterable[str]) -> dict[str, Json]:
    found = {name: used.get(name) for name in names}
    return {name: value for name, value in found.items() if value is not None and isfinite(value)}
