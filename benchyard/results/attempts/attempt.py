"""One try of a run, as a value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from benchyard.core.model import Json, JsonObject, Outcome, slug
from benchyard.core.wording import shorten
from benchyard.process.labels import owner_is_alive
from benchyard.results.record import Attempt, ErrorRecord, RunRecord, StepRecord

#: Longest text of an error in a try; run.json has the whole.
_LONGEST_TEXT = 1000
_BROKEN = (Outcome.FAILED, Outcome.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """One attempt that failed.

    Args:
        number: Which attempt it was, from 1.
        duration_s: Its whole length, warm-ups and checks included.
        outcome: ``failed`` or ``timed_out``.
        error: Its text may be shortened; secrets were taken out when it was recorded.
    """

    number: int
    started_at: str
    duration_s: float
    outcome: Outcome
    error: ErrorRecord


@dataclass(frozen=True, slots=True)
class TriedStep:
    """How one step went in one try of a run.

    Args:
        index: Its position in the case, from 1.
        attempts: How often its command was tried; 0 if it never began.
        duration_s: From the start of the first attempt to the end of the last, delays included.
        failed: The attempts that failed, in order.
        reason: Why it never began.
    """

    index: int
    id: str
    name: str
    outcome: Outcome
    attempts: int = 0
    duration_s: float = 0.0
    failed: tuple[FailedAttempt, ...] = ()
    reason: str | None = None

    @property
    def label(self) -> str:
        """Its name in files and task runs, such as ``03-load``."""
        return f"{self.index:02d}-{slug(self.name)}"


@dataclass(frozen=True, slots=True)
class RunAttempt:
    """One try of a run.

    Args:
        case: Title of the case.
        flow_run: Prefect's ``id`` and ``name`` of the flow run, and which ``attempt`` of it;
            empty without Prefect.
        owner: Label of the process that executes it; empty where that is not known.
        ended_at: None if its end was not recorded; so are the next two.
        error: Why it broke off outside of its steps.
    """

    case: str
    run: int
    host: str
    started_at: str
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])
    owner: str = ""
    ended_at: str | None = None
    duration_s: float | None = None
    outcome: Outcome | None = None
    error: ErrorRecord | None = None
    tags: tuple[str, ...] = ()
    steps: tuple[TriedStep, ...] = ()

    @property
    def began(self) -> datetime:
        """When it began, for ordering."""
        return datetime.fromisoformat(self.started_at)

    @property
    def under_way(self) -> bool:
        """Whether it goes on now, as far as can be seen from this host."""
        return self.outcome is None and bool(self.owner) and owner_is_alive(self.owner)


def try_of(record: RunRecord) -> RunAttempt:
    """Return what the record of a run tells of its try."""
    tags = record.case.get("tags")
    return RunAttempt(
        case=str(record.case.get("title")),
        run=record.run,
        host=str(record.environment.get("host") or ""),
        started_at=record.started_at,
        flow_run=record.flow_run,
        ended_at=record.ended_at,
        duration_s=record.duration_s,
        outcome=record.outcome,
        error=_shortened(record.error) if record.error else None,
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        steps=tuple(_tried(step) for step in record.steps),
    )


def _tried(step: StepRecord) -> TriedStep:
    attempts = step.attempts
    return TriedStep(
        index=step.index,
        id=step.id,
        name=step.name,
        outcome=step.outcome,
        attempts=len(attempts),
        duration_s=attempts[-1].end_s - attempts[0].start_s if attempts else 0.0,
        failed=tuple(_failed(attempt) for attempt in attempts if attempt.outcome in _BROKEN),
        reason=shorten(step.reason, _LONGEST_TEXT) if step.reason else None,
    )


def _failed(attempt: Attempt) -> FailedAttempt:
    return FailedAttempt(
        number=attempt.number,
        started_at=attempt.started_at,
        duration_s=attempt.end_s - attempt.start_s,
        outcome=attempt.outcome,
        error=_shortened(attempt.error or ErrorRecord(attempt.outcome.value, "")),
    )


def _shortened(error: ErrorRecord) -> ErrorRecord:
    return ErrorRecord(error.type, shorten(error.message, _LONGEST_TEXT))


def earlier(tries: Iterable[RunAttempt], run: int, started_at: str) -> tuple[JsonObject, ...]:
    """Return what a record says of the tries of its run before it."""
    return tuple(
        {
            "started_at": one.started_at,
            "ended_at": one.ended_at,
            "host": one.host,
            "outcome": None if one.outcome is None else one.outcome.value,
            "flow_run": dict(one.flow_run),
        }
        for one in tries
        if one.run == run and one.started_at != started_at
    )
