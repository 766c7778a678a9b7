"""What the done runs of a case say together: ``summary.json`` and KROWN's three CSV files.

The document, format ``benchyard-summary``:

case: title. runs: number, outcome and dates of each run, in order. median_run: number of the run
whose measured steps took the median of all totals (the lower one of an even number), or null.
warnings: what a reader should know before comparing.
steps: in the order of the case, each with
  outcomes: how often it ended how, over all runs; attempts: the same for its single attempts.
  runs: numbers of the runs in which it succeeded, the only ones that count below.
  repetitions: how many measured executions these have.
  metrics: name to unit, direction ("smaller is better", "larger is better" or null), source
    (clock, counters or command), statistics over the runs, the runs' values in their order (of a
    run with several repetitions their median; null is unknown), and the repetitions' own values.
A step with ``measure: false`` is listed without metrics.

Versions of the format:
1: the first.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import cast

from benchyard.files import write_atomically, write_json
from benchyard.krown_csv import (
    Row,
    StepOfRun,
    aggregated_csv,
    read_metrics,
    stats_csv,
    summary_csv,
)
from benchyard.model import Json, JsonObject, Outcome
from benchyard.record import Attempt, Repetition, RunRecord, StepRecord
from benchyard.statistics import describe, median

FORMAT = "benchyard-summary"
VERSION = 1
SMALLER, LARGER = "smaller is better", "larger is better"
METRICS_FILE = "metrics.csv"

#: End of a metric's name to its unit and direction; the first that fits counts.
_UNITS: tuple[tuple[str, str, str | None], ...] = (
    ("idle_s", "s", None),
    ("_bytes_per_s", "B/s", LARGER),
    ("_per_s", "1/s", LARGER),
    ("_s", "s", SMALLER),
    ("_bytes", "B", SMALLER),
    ("_hz", "Hz", None),
    ("_ratio", "1", None),
    ("error_count", "1", SMALLER),
    ("drop_count", "1", SMALLER),
    ("_count", "1", None),
)


def unit_and_direction(metric: str) -> tuple[str | None, str | None]:
    """Read a metric's unit and direction off the end of its name; None where it tells none."""
    for ending, unit, direction in _UNITS:
        if metric.endswith(ending):
            return unit, direction
    return None, None


def write_summary(
    results: Path,
    title: str,
    runs: Sequence[tuple[Path, RunRecord]],
    *,
    left_out: Sequence[int] = (),
) -> None:
    """Write ``summary.json``, and with at least one run the three CSV files.

    All of them are made anew each time, so that none is older than the last run.

    Args:
        results: Folder with the runs of the case.
        runs: Folder and record of each done run.
        left_out: Numbers of done runs of another version of the case.

    Raises:
        OSError: If the disk is full or not writable.
    """
    document = summarize(title, runs)
    if left_out:
        numbers = ", ".join(map(str, left_out))
        text = (
            f"run {numbers} is of another version of the case and left out; --force does it again"
        )
        document["warnings"] = [*cast("list[Json]", document["warnings"]), text]
    files: dict[str, str] = {}
    if runs:
        steps, metrics = _steps_of_runs(title, runs)
        shown = document["median_run"]
        files["stats.csv"] = stats_csv(steps)
        files["summary.csv"] = summary_csv(step for step in steps if step.run == shown)
        files["aggregated.csv"] = aggregated_csv(metrics.get(shown, []))
    results.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomically(results / name, content)
    write_json(results / "summary.json", document)


def summarize(title: str, runs: Sequence[tuple[Path, RunRecord]]) -> JsonObject:
    """Return the document of ``summary.json``.

    Args:
        title: Title of the case.
        runs: Folder and record of each done run, in any order; none at all is fine.
    """
    records = _in_order(record for _, record in runs)
    by_index: dict[int, dict[int, StepRecord]] = {}
    for record in records:
        for step in record.steps:
            by_index.setdefault(step.index, {})[record.run] = step
    return {
        "format": FORMAT,
        "version": VERSION,
        "case": title,
        "n_runs": len(records),
        "runs": [_about(record) for record in records],
        "median_run": median_run(records),
        "warnings": list[Json](_warnings(records)),
        "steps": [_step(by_index[index]) for index in sorted(by_index)],
    }


def _in_order(records: Iterable[RunRecord]) -> list[RunRecord]:
    return sorted(records, key=lambda record: record.run)


def _about(record: RunRecord) -> JsonObject:
    return {
        "run": record.run,
        "outcome": record.outcome.value,
        "started_at": record.started_at,
        "duration_s": record.duration_s,
    }


def _warnings(records: Sequence[RunRecord]) -> list[str]:
    found: list[str] = []
    facts = {
        "versions of the case": {r.run: r.case.get("hash") for r in records},
        "hosts": {r.run: r.environment.get("host") for r in records},
    }
    for what, by_run in facts.items():
        if len({str(value) for value in by_run.values()}) > 1:
            listed = ", ".join(f"run {run}: {value}" for run, value in by_run.items())
            found.append(f"the runs are of different {what} ({listed}); do them again to compare")
    return found


def median_run(records: Iterable[RunRecord]) -> int | None:
    """Return the number of the run that stands for all, or None if nothing was measured.

    Runs in which fewer measured steps succeeded than in others took less time for less work, and
    are left out. Of an even number of runs it is the lower one of the two in the middle, so that
    the run is always one that took place.
    """
    totals: list[tuple[int, float, int]] = []
    for record in records:
        values = [v for step in record.steps if (v := _duration(step)) is not None]
        if values:
            totals.append((len(values), sum(values), record.run))
    most = max((steps for steps, _, _ in totals), default=0)
    ordered = sorted((total, run) for steps, total, run in totals if steps == most)
    return ordered[(len(ordered) - 1) // 2][1] if ordered else None


def _duration(step: StepRecord) -> float | None:
    """Return a measured step's time in one run (s), the median of its repetitions."""
    durations = step.durations_s if step.measure else []
    return median(durations) if durations else None


def _step(by_run: Mapping[int, StepRecord]) -> JsonObject:
    """Sum up one step over the runs, given in order."""
    last = list(by_run.values())[-1]
    attempts = [attempt for step in by_run.values() for attempt in step.attempts]
    document: JsonObject = {
        "index": last.index,
        "id": last.id,
        "name": last.name,
        "resource": last.resource,
        "command": last.command,
        "measured": last.measure,
        "outcomes": _counted(step.outcome for step in by_run.values()),
        "attempts": _counted(attempt.outcome for attempt in attempts),
    }
    if last.measure:
        repetitions = {run: found for run, step in by_run.items() if (found := _measured(step))}
        document["runs"] = list[Json](repetitions)
        document["repetitions"] = sum(len(found) for found in repetitions.values())
        document["metrics"] = _metrics(list(repetitions.values()))
    return document


def _counted(outcomes: Iterable[Outcome]) -> JsonObject:
    counts = Counter(outcomes)
    return {outcome.value: counts[outcome] for outcome in Outcome if counts[outcome]}


def _measured(step: StepRecord) -> list[Repetition]:
    """Return the repetitions that count: measured ones of the attempt that succeeded."""
    if step.outcome is not Outcome.COMPLETED or not step.measure:
        return []
    last: tuple[Attempt, ...] = step.attempts[-1:]
    return [r for attempt in last for r in attempt.repetitions if r.kind == "measured"]


def _metrics(runs: Sequence[Sequence[Repetition]]) -> JsonObject:
    """Describe every metric of a step; shape of ``runs``: (runs, repetitions of each)."""
    table = [[_numbers(repetition) for repetition in run] for run in runs]
    sources = {key: None for run in table for one in run for key in one}
    taken = {name for source, name in sources if source != "command"}
    made: JsonObject = {}
    for source, name in sources:
        # A command may report what the lab measures too; neither may hide the other.
        known_as = f"reported_{name}" if source == "command" and name in taken else name
        values = [[one.get((source, name)) for one in run] for run in table]
        made[known_as] = _metric(known_as, source, values)
    return made


def _numbers(repetition: Repetition) -> dict[tuple[str, str], float | None]:
    """Return what one repetition says in numbers, by source and name."""
    found: dict[tuple[str, str], float | None] = {("clock", "duration_s"): repetition.duration_s}
    found |= {("counters", name): value for name, value in repetition.used.items()}
    for name, value in repetition.values.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            found["command", name] = value
    return found


def _metric(name: str, source: str, runs: Sequence[Sequence[float | None]]) -> JsonObject:
    values = [_middle(run) for run in runs]
    unit, direction = unit_and_direction(name)
    known = [value for value in values if value is not None]
    repetitions = [value for run in runs for value in run if value is not None]
    return {
        "unit": unit,
        "direction": direction,
        "source": source,
        "n_runs": len(known),
        "n_repetitions": len(repetitions),
        "statistics": asdict(describe(known)),
        "values": list[Json](values),
        "repetitions": [list[Json](run) for run in runs],
    }


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _steps_of_runs(
    title: str, runs: Sequence[tuple[Path, RunRecord]]
) -> tuple[list[StepOfRun], dict[Json, list[Row]]]:
    """Return the measured steps as the CSV files need them, and each run's metrics.csv."""
    metrics: dict[Json, list[Row]] = {}
    steps: list[StepOfRun] = []
    for folder, record in sorted(runs, key=lambda one: one[1].run):
        rows = metrics[record.run] = read_metrics(folder / METRICS_FILE)
        for step in record.steps:
            if step.measure:
                used = _used(_measured(step))
                during = [row for row in rows if _during(step, row)]
                about = (title, record.run, step.index, _duration(step))
                steps.append(StepOfRun(*about, used, during))
    return steps, metrics


def _during(step: StepRecord, row: Row) -> bool:
    """Tell whether a row of metrics.csv lies in a step's last attempt, which decided it."""
    at = row.get("timestamp")
    if row.get("step") != step.index or not step.attempts or not isinstance(at, int | float):
        return False
    return step.attempts[-1].start_s <= at <= step.attempts[-1].end_s


def _used(repetitions: Sequence[Repetition]) -> dict[str, float | None]:
    names = {name: None for repetition in repetitions for name in repetition.used}
    return {name: _middle([r.used.get(name) for r in repetitions]) for name in names}
