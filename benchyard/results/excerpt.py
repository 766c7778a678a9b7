"""Excerpts of records: what statistics of a few metrics need, read many times faster.

Most of a record is what each repetition used. An excerpt is a ``RunRecord`` too, so that whatever
takes records takes excerpts; what it leaves out is empty in it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, MsgspecError, Raw, Struct
from msgspec.json import Decoder

from benchyard.core.model import Json, Outcome
from benchyard.results.folders import RUN_FILE, run_number
from benchyard.results.record import (
    FORMAT,
    VERSION,
    Attempt,
    ErrorRecord,
    Repetition,
    RunRecord,
    StepRecord,
    read_record,
)

#: Tells whether a metric, by its name, is wanted beside the duration.
Wanted: TypeAlias = Callable[[str], bool]
_Number: TypeAlias = Annotated[float, Meta(ge=-1e100, le=1e100)]
_Length: TypeAlias = Annotated[float, Meta(ge=0, le=1e100)]
_NOTHING: Mapping[str, Any] = {}
_EMPTY = Raw(b"{}")


class _Repetition(Struct):
    kind: str
    start_s: _Number
    duration_s: _Length
    outcome: Outcome
    used: Raw = _EMPTY
    values: Raw = _EMPTY
    suspect: tuple[str, ...] = ()


class _Attempt(Struct):
    number: int
    started_at: str
    start_s: _Number
    end_s: _Number
    outcome: Outcome
    repetitions: tuple[_Repetition, ...] = ()
    error: ErrorRecord | None = None


class _Step(Struct):
    index: int
    id: str
    name: str
    resource: str
    command: str
    parameters: Raw
    measure: bool
    outcome: Outcome
    attempts: tuple[_Attempt, ...] = ()
    reason: str | None = None
    sampled: Raw = _EMPTY


class _Environment(Struct, frozen=True):
    host: str | None = None


class _Record(Struct):
    format: str
    version: int
    case: Raw
    run: int
    outcome: Outcome
    started_at: str
    ended_at: str
    duration_s: _Length
    steps: tuple[_Step, ...]
    resources: Raw = _EMPTY
    environment: _Environment = _Environment()
    warnings: tuple[str, ...] = ()
    error: ErrorRecord | None = None
    flow_run: Raw = _EMPTY
    subject: Raw = _EMPTY
    benchyard_version: str = ""


_RECORD = Decoder(_Record)
_NUMBERS = Decoder(dict[str, _Number | None])
_OBJECT = Decoder(dict[str, Any])


def read_excerpt(folder: Path, wanted: Wanted | None = None) -> RunRecord:
    """Read the outcome of a run and of its steps, their times, and the metrics that are wanted.

    Args:
        wanted: None wants no metric beside the duration.

    Raises:
        RecordError: If ``read_record`` would.
    """
    try:
        found = _RECORD.decode((folder / RUN_FILE).read_bytes())
        if (found.format, found.version) != (FORMAT, VERSION):
            return read_record(folder)
        record = _record(found, wanted)
        if run_number(folder.name) in (None, record.run) and record.began.tzinfo:
            return record
    except (OSError, MsgspecError, ValueError, TypeError, RecursionError):
        pass
    # It is odd, or of an older version: whole, it says what it lacks.
    return read_record(folder)


def _record(found: _Record, wanted: Wanted | None) -> RunRecord:
    return RunRecord(
        case=_object(bytes(found.case)),
        run=found.run,
        outcome=found.outcome,
        started_at=found.started_at,
        ended_at=found.ended_at,
        duration_s=found.duration_s,
        steps=tuple(_step(step, wanted) for step in found.steps),
        resources=_object(bytes(found.resources)),
        environment={"host": found.environment.host},
        collector=_NOTHING,
        warnings=found.warnings,
        error=found.error,
        flow_run=_object(bytes(found.flow_run)),
        benchyard_version=found.benchyard_version,
        adaptive=_NOTHING,
        subject=_object(bytes(found.subject)),
        variables=_NOTHING,
    )


@lru_cache(maxsize=512)
def _object(text: bytes) -> Mapping[str, Json]:
    """Decode what is mostly the same in all runs of a case, and is kept once then."""
    return _OBJECT.decode(text)


def _step(step: _Step, wanted: Wanted | None) -> StepRecord:
    return StepRecord(
        *(step.index, step.id, step.name, step.resource, step.command),
        parameters=_object(bytes(step.parameters)),
        measure=step.measure,
        outcome=step.outcome,
        attempts=tuple(_attempt(attempt, wanted) for attempt in step.attempts),
        reason=step.reason,
        sampled=_OBJECT.decode(step.sampled) if wanted else _NOTHING,
    )


def _attempt(attempt: _Attempt, wanted: Wanted | None) -> Attempt:
    return Attempt(
        *(attempt.number, attempt.started_at, attempt.start_s, attempt.end_s, attempt.outcome),
        repetitions=tuple(_repetition(one, wanted) for one in attempt.repetitions),
        error=attempt.error,
    )


def _repetition(one: _Repetition, wanted: Wanted | None) -> Repetition:
    used, values = _NOTHING, _NOTHING
    if wanted is not None:
        used = _chosen(_NUMBERS.decode(one.used).items(), wanted)
        values = _chosen(_OBJECT.decode(one.values).items(), wanted)
    return Repetition(
        *(one.kind, one.start_s, one.duration_s, one.outcome),
        used=used,
        values=values,
        harness=_NOTHING,
        suspect=one.suspect,
    )


def _chosen(items: Iterable[tuple[str, Any]], wanted: Wanted) -> dict[str, Any]:
    # A command may report what the lab measures too; the name then says so.
    return {name: value for name, value in items if wanted(name) or wanted(f"reported_{name}")}
