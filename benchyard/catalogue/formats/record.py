"""The record of a run as a list needs it: decoded in one go, without what no list shows."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any, cast

import msgspec

from benchyard.catalogue.entry import StepEntry, digest
from benchyard.core.errors import RecordError
from benchyard.core.files import content
from benchyard.core.json_text import is_moment
from benchyard.core.model import Json, Outcome
from benchyard.results.folders import RunFolder, run_number
from benchyard.results.record import FORMAT, VERSION, read_record
from benchyard.results.trust import HostQuality, quality_of


class RepetitionHead(msgspec.Struct):
    """One execution of a command."""

    kind: str
    duration_s: float
    suspect: tuple[str, ...] = ()


class AttemptHead(msgspec.Struct):
    """One try of a step."""

    repetitions: tuple[RepetitionHead, ...] = ()


class StepHead(msgspec.Struct):
    """How a step went."""

    index: int
    id: str
    name: str
    outcome: Outcome
    measure: bool
    parameters: dict[str, Any]
    attempts: tuple[AttemptHead, ...] = ()

    @property
    def entry(self) -> StepEntry:
        """What the index keeps of it."""
        done = self.attempts[-1:] if self.outcome is Outcome.COMPLETED else ()
        measured = [r for attempt in done for r in attempt.repetitions if r.kind == "measured"]
        return StepEntry(
            index=self.index,
            step=self.id,
            name=self.name,
            measure=self.measure,
            outcome=self.outcome.value,
            median_s=median(one.duration_s for one in measured) if measured else None,
            attempts=len(self.attempts),
            suspect=self.measure and any(one.suspect for one in measured),
        )


class CaseFacts(msgspec.Struct):
    """Which case was executed."""

    name: str = ""
    title: str = ""
    tags: list[str] = []
    point: dict[str, Any] = {}


class Environment(msgspec.Struct):
    """Where it was executed."""

    host: str | None = None


class CollectorHead(msgspec.Struct):
    """What the collector noted."""

    notes: Any = None


class SubjectHead(msgspec.Struct):
    """What was measured."""

    repositories: dict[str, Any] = {}


class Record(msgspec.Struct):
    """A record, without what lists do not need; ``identity`` is the digest of its file."""

    format: str
    version: int
    case: CaseFacts
    run: int
    outcome: Outcome
    started_at: str
    duration_s: float
    steps: tuple[StepHead, ...]
    resources: dict[str, Any] = {}
    environment: Environment = msgspec.field(default_factory=Environment)
    subject: SubjectHead = msgspec.field(default_factory=SubjectHead)
    preflight: tuple[dict[str, Any], ...] = ()
    collector: CollectorHead = msgspec.field(default_factory=CollectorHead)
    identity: str = ""

    @property
    def host_quality(self) -> HostQuality:
        """How far the host spoke against the numbers."""
        suspect = any(step.entry.suspect for step in self.steps)
        return quality_of(self.preflight, {"notes": self.collector.notes}, suspect=suspect)

    @property
    def started_s(self) -> float | None:
        """When it began, in seconds since the epoch."""
        return datetime.fromisoformat(self.started_at).timestamp() if self.started_at else None

    @property
    def commit(self) -> str:
        """Commit of what was measured; empty if it is not known."""
        for state in self.subject.repositories.values():
            commit = cast("Mapping[str, Json]", state).get("commit") if _is_object(state) else None
            if isinstance(commit, str) and commit != "none":
                return commit
        return ""

    @property
    def versions(self) -> dict[str, str]:
        """Resource to version, where it is known."""
        told = {
            name: cast("Mapping[str, Json]", about).get("version")
            for name, about in self.resources.items()
            if _is_object(about)
        }
        return {name: str(version) for name, version in told.items() if version is not None}

    def parameters(self) -> Iterator[tuple[str, Json]]:
        """Yield the point of the matrix, then the parameters of steps as ``STEP.NAME``."""
        yield from self.case.point.items()
        for step in self.steps:
            for name, value in step.parameters.items():
                yield f"{step.id}.{name}", value


_DECODER = msgspec.json.Decoder(Record)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def read_facts(folder: Path) -> Record:
    """Read what lists need of a run's record.

    Raises:
        RecordError: If it cannot be read.
    """
    path = RunFolder(folder).record
    try:
        text = content(path)
        record = _DECODER.decode(text)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return _read_strictly(folder)
    odd = record.format != FORMAT or not 1 <= record.version <= VERSION
    if odd or run_number(folder.name) not in (None, record.run) or _has_no_zone(record):
        record = _read_strictly(folder)
    record.identity = digest(text)
    return record


def _has_no_zone(record: Record) -> bool:
    try:
        return bool(record.started_at) and not is_moment(record.started_at)
    except ValueError:
        return True


def _read_strictly(folder: Path) -> Record:
    """Read it as everybody else does, who tells what is wrong with it."""
    document = read_record(folder).to_json()
    try:
        return msgspec.convert(document, Record, strict=False)
    except msgspec.ValidationError as error:
        path = RunFolder(folder).record
        raise RecordError(f"{path}: not a readable record: {error}") from error
