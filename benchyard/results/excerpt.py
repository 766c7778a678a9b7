"""Excerpts of records: what statistics of a few metrics need, read many times faster.

Most of a record is what each repetition used. An excerpt is a ``RunRecord`` too, so that whatever
takes records takes excerpts; what it leaves out is empty in it.
"""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, MsgspecError, Raw, Struct, UnsetType, defstruct
from msgspec.json import Decoder
from msgspec.structs import astuple

from benchyard.core.files import content
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
from benchyard.results.typed import is_moment

#: Reads from an object the members that are wanted.
_Pick: TypeAlias = Callable[[Raw], Mapping[str, Any]]
_GLOB = frozenset("*?[")
_Number: TypeAlias = Annotated[float, Meta(ge=-1e100, le=1e100)]
_Used: TypeAlias = _Number | None
_Length: TypeAlias = Annotated[float, Meta(ge=0, le=1e100)]
_NOTHING: Mapping[str, Any] = {}
_EMPTY = Raw(b"{}")


class _Repetition(Struct, gc=False):
    kind: str
    start_s: _Number
    duration_s: _Length
    outcome: Outcome
    used: Raw = _EMPTY
    values: Raw = _EMPTY
    suspect: tuple[str, ...] = ()


class _Attempt(Struct, gc=False):
    number: int
    started_at: str
    start_s: _Number
    end_s: _Number
    outcome: Outcome
    repetitions: tuple[_Repetition, ...] = ()
    error: ErrorRecord | None = None


class _Step(Struct, gc=False):
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


class _Record(Struct, gc=False):
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
    session: Raw = _EMPTY
    benchyard_version: str = ""


_RECORD = Decoder(_Record)
_OBJECT = Decoder(dict[str, Any])


def read_excerpt(folder: Path, metrics: tuple[str, ...] = ()) -> RunRecord:
    """Read the outcome of a run and of its steps, their times, and the metrics that are wanted.

    Args:
        metrics: Names, or globs over them, which take longer; the duration is always there.

    Raises:
        RecordError: If ``read_record`` would.
    """
    try:
        found = _RECORD.decode(content(folder / RUN_FILE))
        if (found.format, found.version) != (FORMAT, VERSION):
            return read_record(folder)
        record = _record(found, metrics)
        if run_number(folder.name) in (None, record.run) and (
            not record.started_at or is_moment(record.started_at)
        ):
            return record
    except (OSError, MsgspecError, ValueError, TypeError, RecursionError):
        pass
    # It is odd, or of an older version: whole, it says what it lacks.
    return read_record(folder)


def _record(found: _Record, metrics: tuple[str, ...]) -> RunRecord:
    return RunRecord(
        case=_object(bytes(found.case)),
        run=found.run,
        outcome=found.outcome,
        started_at=found.started_at,
        ended_at=found.ended_at,
        duration_s=found.duration_s,
        steps=tuple(_step(step, metrics) for step in found.steps),
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
        session=_object(bytes(found.session)),
    )


@lru_cache(maxsize=512)
def _object(text: bytes) -> Mapping[str, Json]:
    """Decode what is mostly the same in all runs of a case, and is kept once then."""
    return _OBJECT.decode(text)


def _step(step: _Step, metrics: tuple[str, ...]) -> StepRecord:
    return StepRecord(
        *(step.index, step.id, step.name, step.resource, step.command),
        parameters=_object(bytes(step.parameters)),
        measure=step.measure,
        outcome=step.outcome,
        attempts=tuple(_attempt(attempt, metrics) for attempt in step.attempts),
        reason=step.reason,
        sampled=_OBJECT.decode(step.sampled) if _wants_samples(metrics) else _NOTHING,
    )


def _attempt(attempt: _Attempt, metrics: tuple[str, ...]) -> Attempt:
    return Attempt(
        *(attempt.number, attempt.started_at, attempt.start_s, attempt.end_s, attempt.outcome),
        repetitions=tuple(_repetition(one, metrics) for one in attempt.repetitions),
        error=attempt.error,
    )


def _repetition(one: _Repetition, metrics: tuple[str, ...]) -> Repetition:
    return Repetition(
        *(one.kind, one.start_s, one.duration_s, one.outcome),
        used=_picker(metrics, _Used)(one.used) if metrics else _NOTHING,
        values=_picker(metrics, Any)(one.values) if metrics else _NOTHING,
        harness=_NOTHING,
        suspect=one.suspect,
    )


@lru_cache(maxsize=64)
def _wants_samples(metrics: tuple[str, ...]) -> bool:
    return any("_sampled_" in metric or _GLOB & set(metric) for metric in metrics)


@lru_cache(maxsize=64)
def _picker(metrics: tuple[str, ...], kind: Any) -> _Pick:
    # A command may report what the lab measures too; the metric's name then says so.
    wanted = tuple(dict.fromkeys(n for m in metrics for n in (m, m.removeprefix("reported_"))))
    if any(_GLOB & set(name) for name in wanted):
        every = Decoder(dict[str, kind])
        return lambda text: {
            name: value
            for name, value in every.decode(text).items()
            if any(fnmatchcase(name, one) for one in wanted)
        }
    named = {f"m{place}": name for place, name in enumerate(wanted)}
    fields = [(field, kind | UnsetType, UNSET) for field in named]
    chosen = Decoder(defstruct("_Chosen", fields, rename=named))

    def pick(text: Raw) -> Mapping[str, Any]:
        values = zip(wanted, astuple(chosen.decode(text)), strict=True)
        return {name: value for name, value in values if value is not UNSET}

    return pick
