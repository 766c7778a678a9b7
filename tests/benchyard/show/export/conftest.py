"""Runs on disk, made from the few things that a test is about."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from benchyard.core.model import Json, Outcome, point_suffix
from benchyard.results.layout import point_slug
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record
from benchyard.show.export.sources import CaseFolder, sources_at

WHEN = "2026-01-01T01:00:00+01:00"
DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED
WriteRun = Callable[..., Path]


def repetition(
    seconds: float,
    kind: str = "measured",
    *,
    outcome: Outcome = DONE,
    suspect: Sequence[str] = (),
    used: Mapping[str, float | None] | None = None,
    values: Mapping[str, Json] | None = None,
) -> Repetition:
    return Repetition(kind, 0.0, seconds, outcome, used or {}, values or {}, suspect=tuple(suspect))


def attempt(*made: Repetition, number: int = 1, outcome: Outcome = DONE) -> Attempt:
    return Attempt(number, WHEN, 0.0, 1.0, outcome, made)


def step(
    *attempts: Attempt,
    name: str = "sort",
    index: int = 1,
    outcome: Outcome = DONE,
    measure: bool = True,
    sampled: Mapping[str, Json] | None = None,
    parameters: Mapping[str, Json] | None = None,
) -> StepRecord:
    return StepRecord(
        index=index,
        id=f"s{index}",
        name=name,
        resource="Process",
        command="execute",
        parameters=parameters or {},
        measure=measure,
        outcome=outcome,
        attempts=attempts,
        sampled=sampled or {},
    )


def took(seconds: float, *, name: str = "sort", suspect: Sequence[str] = ()) -> StepRecord:
    return step(attempt(repetition(seconds, suspect=suspect)), name=name)


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """Write a run into ``results/``, or below it where it has a point, and return ``results/``."""

    def write(
        number: int,
        *steps: StepRecord,
        name: str = "case",
        point: Mapping[str, Json] | None = None,
        done: bool = True,
        content: str = "0",
    ) -> Path:
        results = tmp_path / name / "results"
        folder = (results / point_slug(point) if point else results) / f"run_{number}"
        folder.mkdir(parents=True)
        title = name + point_suffix(point or {})
        case: dict[str, Json] = {
            "name": name,
            "title": title,
            "point": dict(point or {}),
            "hash": content,
        }
        outcome = DONE if done else FAILED
        environment: dict[str, Json] = {"host": "bench-1"}
        resources: dict[str, Json] = {"Process": {"version": "1.2"}}
        write_record(
            folder,
            RunRecord(
                *(case, number, outcome, WHEN, WHEN, 9.0, steps),
                environment=environment,
                resources=resources,
                benchyard_version="0.1.0",
            ),
        )
        if done:
            (folder / ".done").touch()
        return results

    return write


def sources(results: Path) -> list[CaseFolder]:
    return sources_at(results)
