"""Runs on disk, made from the few things that a test is about."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Json, Outcome, point_suffix
from benchyard.results.layout import point_slug
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, write_record
from benchyard.show.export.sources import CaseFolder, sources_at

WHEN = "2026-01-01T01:00:00+01:00"
DONE, FAILED = Outcome.COMPLETED, Outcome.FAILED
WriteRun = Callable[..., Path]


def repetition(
    seconds: float, kind: str = "measured", *, suspect: Sequence[str] = (), **facts: Any
) -> Repetition:
    return replace(Repetition(kind, 0.0, seconds, DONE, suspect=tuple(suspect)), **facts)


def attempt(*made: Repetition, number: int = 1, outcome: Outcome = DONE) -> Attempt:
    return Attempt(number, WHEN, 0.0, 1.0, outcome, made)


def step(*attempts: Attempt, name: str = "sort", index: int = 1, **facts: Any) -> StepRecord:
    made = StepRecord(index, f"s{index}", name, "Process", "execute", {}, True, DONE, attempts)
    return replace(made, **facts)


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
        about = {"name": name, "title": name + point_suffix(point or {}), "hash": content}
        record = RunRecord(
            *({**about, "point": dict(point or {})}, number, DONE if done else FAILED),
            *(WHEN, WHEN, 9.0, steps),
            environment={"host": "bench-1"},
            resources={"Process": {"version": "1.2"}},
            benchyard_version="0.1.0",
        )
        write_record(folder, record)
        if done:
            (folder / ".done").touch()
        return results

    return write


def sources(results: Path) -> list[CaseFolder]:
    return sources_at(results)
