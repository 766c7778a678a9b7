"""What was tried, and when: ``tries.jsonl`` beside the runs of a case.

A run that failed is done again in a fresh folder, so its own record tells only of the last try.
This file tells of all of them. Each line is a ``RunAttempt``, with a ``version``: one is added when
a try begins (its ``outcome`` is null) and one when it ends, which counts from then on. A try whose
end is missing was killed, or its host went down. Nothing is written while anything is measured.
Every line that can be read is read; for each other one there is a sentence.
"""

import logging
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from benchyard.core.model import Json, JsonObject, Outcome, slug
from benchyard.core.quantity import shorten
from benchyard.process.labels import owner_is_alive, this_owner
from benchyard.results.folders import Results
from benchyard.results.lines import append_line, check_moments, parse_line, read_lines
from benchyard.results.reasons import BROKEN
from benchyard.results.record import (
    Attempt,
    Count,
    ErrorRecord,
    Length,
    RunRecord,
    StepRecord,
)

logger = logging.getLogger(__name__)

VERSION = 1
#: Longest text of an error in a try; run.json has the whole.
_LONGEST_TEXT = 1000
_STARTED = re.compile(rb'"started_at":"([^"\\]{1,40})"')


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """One attempt that failed.

    Args:
        number: Which attempt it was, from 1.
        duration_s: Its whole length, warm-ups and checks included.
        outcome: ``failed`` or ``timed_out``.
        error: Its text may be shortened; secrets were taken out when it was recorded.
    """

    number: Count
    started_at: str
    duration_s: Length
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

    index: Count
    id: str
    name: str
    outcome: Outcome
    attempts: Count = 0
    duration_s: Length = 0.0
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
    run: Count
    host: str
    started_at: str
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])
    owner: str = ""
    ended_at: str | None = None
    duration_s: Length | None = None
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
        failed=tuple(_failed(attempt) for attempt in attempts if attempt.outcome in BROKEN),
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


# -- the file


def note_began(
    results: Path, case: str, run: int, started_at: str, flow_run: Mapping[str, Json]
) -> None:
    """Write down that a try begins; a file that cannot be written ends no run.

    Args:
        results: Folder with the runs of the case.
        case: Its title.
    """
    _note(results, RunAttempt(case, run, platform.node(), started_at, flow_run, this_owner()))


def note_ended(results: Path, record: RunRecord) -> None:
    """Write down how a try ended; a file that cannot be written ends no run."""
    _note(results, try_of(record))


def _note(results: Path, made: RunAttempt) -> None:
    file = Results(results).tries
    try:
        append_line(file, VERSION, made)
    except OSError as error:
        logger.warning("%s: what was tried could not be noted: %s", file, error.strerror or error)


def read_tries(
    results: Path, run: int | None = None, since: datetime | None = None
) -> tuple[list[RunAttempt], list[str]]:
    """Read what was tried of a case, in the order of the beginnings.

    Args:
        results: Folder with the runs of the case.
        run: Only of this one; the lines of the others are not looked into.
        since: Only what began at or after it, likewise.

    Returns:
        The tries, and a sentence for each line that cannot be read.
    """
    found: dict[tuple[str, int, str], RunAttempt] = {}
    mark = b"" if run is None else f'"run":{run},'.encode()

    def take(line: bytes) -> None:
        if mark in line and not (since and _began_before(line, since)):
            _take(found, line)

    problems = read_lines(Results(results).tries, take)
    tries = [one for one in found.values() if run in (None, one.run)]
    return sorted(tries, key=lambda one: one.began), problems


def _began_before(line: bytes, moment: datetime) -> bool:
    """Tell whether a try began before a moment; a line that does not tell is looked into.

    The first member of this name is the try's own, and in no text, where quotes are escaped.
    """
    told = _STARTED.search(line)
    try:
        return told is not None and datetime.fromisoformat(told[1].decode()) < moment
    except (ValueError, TypeError):
        return False


def _take(found: dict[tuple[str, int, str], RunAttempt], line: bytes) -> None:
    made = parse_line(line, VERSION, RunAttempt)
    failed = (attempt.started_at for step in made.steps for attempt in step.failed)
    check_moments(made.started_at, made.ended_at, *failed)
    key = (made.case, made.run, made.started_at)
    if key not in found or made.outcome is not None:
        found[key] = made
