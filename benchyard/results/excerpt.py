"""Excerpts of records: what statistics of a few metrics need, kept in a small part of the memory.

Most of a record is what each repetition used. An excerpt is a ``RunRecord`` too, so that whatever
takes records takes excerpts; what it leaves out is empty in it.
"""

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from benchyard.core.json_text import decoded, encoded
from benchyard.core.model import Json
from benchyard.results.record import Attempt, Repetition, RunRecord, StepRecord, read_record

T = TypeVar("T")


def read_excerpt(folder: Path, metrics: tuple[str, ...] = ()) -> RunRecord:
    """Read the outcome of a run and of its steps, their times, and the metrics that are wanted.

    Args:
        metrics: Names, or globs over them; the duration is always there.

    Raises:
        RecordError: If ``read_record`` would.
    """
    whole = read_record(folder)
    return RunRecord(
        *(_shared(whole.case), whole.run, whole.outcome, whole.started_at, whole.ended_at),
        duration_s=whole.duration_s,
        steps=tuple(_step(step, metrics) for step in whole.steps),
        resources=_shared(whole.resources),
        environment={"host": whole.environment.get("host")},
        warnings=whole.warnings,
        error=whole.error,
        flow_run=_shared(whole.flow_run),
        benchyard_version=whole.benchyard_version,
        subject=_shared(whole.subject),
        session=_shared(whole.session),
    )


def _shared(document: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what is mostly the same in all runs of a case, and is kept once then."""
    return _kept(encoded(dict(document)))


@lru_cache(maxsize=512)
def _kept(text: str) -> Mapping[str, Json]:
    return decoded(text.encode(errors="backslashreplace"))


def _step(step: StepRecord, metrics: tuple[str, ...]) -> StepRecord:
    return replace(
        step,
        parameters=_shared(step.parameters),
        attempts=tuple(_attempt(attempt, metrics) for attempt in step.attempts),
        sampled=step.sampled if _wants_samples(metrics) else {},
    )


def _attempt(attempt: Attempt, metrics: tuple[str, ...]) -> Attempt:
    repetitions = tuple(_repetition(made, metrics) for made in attempt.repetitions)
    return replace(attempt, repetitions=repetitions)


def _repetition(made: Repetition, metrics: tuple[str, ...]) -> Repetition:
    return Repetition(
        *(made.kind, made.start_s, made.duration_s, made.outcome),
        used=_wanted(made.used, metrics),
        values=_wanted(made.values, metrics),
        suspect=made.suspect,
    )


def _wanted(values: Mapping[str, T], metrics: tuple[str, ...]) -> Mapping[str, T]:
    return {n: value for n, value in values.items() if _is_wanted(n, metrics)} if metrics else {}


@lru_cache(maxsize=4096)
def _is_wanted(name: str, metrics: tuple[str, ...]) -> bool:
    # A command may report what the lab measures too; the metric's name then says so.
    wanted = {name for metric in metrics for name in (metric, metric.removeprefix("reported_"))}
    return any(fnmatchcase(name, pattern) for pattern in wanted)


def _wants_samples(metrics: tuple[str, ...]) -> bool:
    return any("_sampled_" in metric or {*"*?["} & {*metric} for metric in metrics)
