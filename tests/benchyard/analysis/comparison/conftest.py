"""Records made by hand, and results folders that hold them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchyard.analysis.comparison.request import pair
from benchyard.analysis.comparison.rows import Pairs
from benchyard.analysis.comparison.run_sets import RunSet, parse_selection, read_run_sets
from benchyard.analysis.comparison.verdicts import Comparison, Rule, compare
from benchyard.core.model import Json, Outcome
from benchyard.results.layout import run_folder
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record

WHEN = "2026-01-01T00:00:00+00:00"
ENVIRONMENT: Mapping[str, Json] = {
    "host": "bench1",
    "kernel": "Linux-6.12",
    "os": {"name": "Debian", "version": "13"},
    "cpu": {"model": "Zen", "logical_cores": 8, "governor": "performance", "turbo": False},
    "memory_bytes": 2**34,
    "swap_bytes": 0,
    "git": {"commit": "a" * 40, "dirty": False},
}


def repetition(duration_s: float, kind: str = "measured", **more: Any) -> Repetition:
    return Repetition(kind, 0.0, duration_s, Outcome.COMPLETED, **more)


def step(
    *durations: float,
    name: str = "load",
    index: int = 1,
    outcome: Outcome = Outcome.COMPLETED,
    warmups: int = 0,
    used: Mapping[str, float | None] | None = None,
    values: Mapping[str, Json] | None = None,
    suspect: Sequence[str] = (),
    **facts: Any,
) -> StepRecord:
    """Make a step of one attempt with a measured repetition for each duration."""
    about: dict[str, Any] = {"used": used or {}, "values": values or {}, "suspect": tuple(suspect)}
    made = [repetition(9.0, "warmup") for _ in range(warmups)]
    made += [repetition(duration, **about) for duration in durations]
    attempts = (
        () if outcome is Outcome.SKIPPED else (Attempt(1, WHEN, 0.0, 1.0, outcome, tuple(made)),)
    )
    record = StepRecord(
        index, name, name.title(), "SQLite", "execute", {"query": name}, True, outcome, attempts
    )
    return replace(record, **facts)


def failed(name: str = "load", outcome: Outcome = Outcome.FAILED, **facts: Any) -> StepRecord:
    return step(name=name, outcome=outcome, **facts)


def run(number: int, *steps: StepRecord, **facts: Any) -> RunRecord:
    """Make a run; it failed if a step did that may not."""
    bad = {Outcome.FAILED, Outcome.TIMED_OUT, Outcome.SKIPPED} & {one.outcome for one in steps}
    record = RunRecord(
        case={"name": "tpch", "title": "tpch", "hash": "b" * 64, "point": {}},
        run=number,
        outcome=Outcome.FAILED if bad else Outcome.COMPLETED,
        started_at=f"2026-01-01T00:{number:02d}:00+00:00",
        ended_at=WHEN,
        duration_s=9.0,
        steps=steps,
        resources={"SQLite": {"version": "3.46", "settings": {"cache": 100}}},
        environment=ENVIRONMENT,
        collector={"interval_s": 0.1},
        benchyard_version="0.1.0",
    )
    return replace(record, **facts)


def titled(title: str, **more: Any) -> dict[str, Any]:
    return {"case": {"name": title, "title": title, "hash": "b" * 64, "point": {}, **more}}


def runs(*durations: float, first: int = 1, name: str = "load", **facts: Any) -> list[RunRecord]:
    """Make a run of one step for each duration."""
    return [run(n, step(d, name=name), **facts) for n, d in enumerate(durations, first)]


def place(results: Path, records: Sequence[RunRecord]) -> Path:
    """Write runs into a results folder; those that completed are done."""
    for record in records:
        folder = run_folder(results, record.run)
        folder.mkdir(parents=True)
        write_record(folder, record)
        if record.outcome is Outcome.COMPLETED:
            (folder / ".done").touch()
    return results


def run_set(records: Sequence[RunRecord], folder: str = "somewhere") -> RunSet:
    return RunSet(
        title=str(records[0].case["title"]),
        folder=Path(folder),
        records=tuple(one for one in records if one.outcome is Outcome.COMPLETED),
        failed=tuple(one for one in records if one.outcome is Outcome.FAILED),
    )


def pairs(baseline: Sequence[RunRecord], candidate: Sequence[RunRecord]) -> Pairs:
    return Pairs(((run_set(baseline, "old"), run_set(candidate, "new")),))


def select(baseline: object, candidate: object) -> Pairs:
    """Read and pair two sides as the command does."""
    one, other = (read_run_sets(parse_selection(str(side))) for side in (baseline, candidate))
    return pair(one, other)


# -- comparisons

BASE = [1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.004]


def compared(one: Sequence[RunRecord], other: Sequence[RunRecord], **rule: Any) -> Comparison:
    rule.setdefault("in_turns", True)
    return compare(pairs(one, other), Rule(**rule))


def scaled(factor: float) -> list[RunRecord]:
    return runs(*[factor * value for value in BASE])


def queries(durations: Mapping[str, Sequence[float]]) -> list[RunRecord]:
    """Make runs of several steps, from the durations of each."""
    columns = zip(*durations.values(), strict=True)
    return [
        run(n, *(step(d, name=name) for name, d in zip(durations, column, strict=True)))
        for n, column in enumerate(columns, 1)
    ]
