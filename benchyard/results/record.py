"""What one run yielded, as values and as ``run.json``.

Times are seconds: ``start_s`` since the run's start on the monotonic clock, ``started_at`` on the
wall clock as ISO 8601. Nothing is rounded. What is not known is null.

Versions of the format; older ones are read, and what they lack is empty:
1: the first.
2: ``started_at``, ``ended_at`` and ``harness`` of each repetition and phase, ``suspect`` of each
   repetition, ``sampled`` of each step, ``preflight`` and ``adaptive`` of the run.
3: ``tries`` of the run.
4: ``subject`` of the run.
5: ``variables`` of the run.
6: ``session`` of the run.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast, get_type_hints

import msgspec
from msgspec import Meta, MsgspecError, Struct, convert, defstruct
from msgspec.json import Decoder

from benchyard.core.errors import RecordError
from benchyard.core.files import content, write_json
from benchyard.core.json_text import decoded, is_moment, read_as
from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.results.folders import RUN_FILE, run_number

#: No size or length is larger: beyond it, sums and squares would leave the floats. Integers stay
#: integers, for a counter is written as one.
Number: TypeAlias = (
    Annotated[float, Meta(ge=-1e100, le=1e100)] | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
)
Length: TypeAlias = Annotated[float, Meta(ge=0, le=1e100)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]

FORMAT = "benchyard-run"
VERSION = 6


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """Why something failed: class of the error and its text, secrets removed."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class Repetition:
    """One execution of a command inside an attempt.

    Args:
        kind: ``measured`` or ``warmup``.
        duration_s: Monotonic time around the command alone.
        used: Metric name to what was used from start to end, by the host and by the resource.
        values: What the command reported, such as ``rows``.
        started_at: Wall clock; with ``ended_at`` it shows whether that clock was set meanwhile.
        harness: What the lab itself used in that time: CPU seconds, and memory at the end.
        suspect: Why the numbers are not to be trusted; empty is right.
    """

    kind: str
    start_s: Number
    duration_s: Length
    outcome: Outcome
    used: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])
    error: ErrorRecord | None = None
    started_at: str | None = None
    ended_at: str | None = None
    harness: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    suspect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a step's command."""

    number: int
    started_at: str
    start_s: Number
    end_s: Number
    outcome: Outcome
    repetitions: tuple[Repetition, ...] = ()
    error: ErrorRecord | None = None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """How one step went.

    Args:
        reason: Why it never began.
        sampled: What the samples of its last attempt show: ``samples`` (their number) and
            ``levels``, KROWN's names to ``min`` and ``max`` (B).
    """

    index: int
    id: str
    name: str
    resource: str
    command: str
    parameters: Mapping[str, Json]
    measure: bool
    outcome: Outcome
    attempts: tuple[Attempt, ...] = ()
    reason: str | None = None
    sampled: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def measured(self) -> list[Repetition]:
        """The measured repetitions of the attempt that succeeded; else empty."""
        if self.outcome is not Outcome.COMPLETED or not self.attempts:
            return []
        return [made for made in self.attempts[-1].repetitions if made.kind == "measured"]

    @property
    def durations_s(self) -> list[float]:
        """Durations of the measured repetitions of the attempt that succeeded; else empty."""
        return [made.duration_s for made in self.measured]

    @property
    def suspect(self) -> tuple[str, ...]:
        """Why this step's numbers are not to be trusted, each reason once; empty is right."""
        measured = self.measured if self.measure else []
        return tuple(dict.fromkeys(reason for made in measured for reason in made.suspect))


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """A timed part that is not a command: initialize, start, ready or stop of a resource.

    Args:
        step: Index of the step that needed it; None for initialize and stop.
    """

    phase: str
    resource: str
    step: int | None
    start_s: Number
    duration_s: Length
    outcome: Outcome
    used: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])
    error: ErrorRecord | None = None
    started_at: str | None = None
    ended_at: str | None = None
    harness: Mapping[str, Number | None] = field(default_factory=dict[str, float | None])


@dataclass(frozen=True, slots=True)
class RunRecord:
    """All of one run.

    Args:
        case: ``name``, ``title``, ``id``, ``point``, ``hash``, ``folder``.
        resources: Class name to version and settings.
        collector: The collector's account: interval, samples, missed ones, files, and what could
            not be told, with the reason.
        outputs: Kept files below the run's folder, with size and digest.
        changed_inputs: Inputs that the run altered; empty is right.
        warnings: What a reader of the numbers should know.
        flow_run: Prefect's id and name of the flow run, empty without Prefect.
        preflight: What was found of the testbed's fitness just before the run.
        adaptive: The rule by which the number of runs was chosen, declared before the first one;
            empty if it was fixed.
        tries: Earlier tries of this run, oldest first; empty for most.
        subject: What was measured, as ``benchyard.results.subject`` tells; empty in older records.
        variables: The environment that measured programs inherit: name to value, or to None where
            the value may be a secret.
        session: The execution of a command that it belongs to: ``id``, and ``order`` of the runs of
            its cases (``case``, ``round-robin`` or ``random``); empty in older records.
    """

    case: Mapping[str, Json]
    run: int
    outcome: Outcome
    started_at: str
    ended_at: str
    duration_s: Length
    steps: tuple[StepRecord, ...]
    phases: tuple[PhaseRecord, ...] = ()
    resources: Mapping[str, Json] = field(default_factory=dict[str, Json])
    environment: Mapping[str, Json] = field(default_factory=dict[str, Json])
    collector: Mapping[str, Json] = field(default_factory=dict[str, Json])
    outputs: tuple[Mapping[str, Json], ...] = ()
    changed_inputs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: ErrorRecord | None = None
    flow_run: Mapping[str, Json] = field(default_factory=dict[str, Json])
    benchyard_version: str = ""
    preflight: tuple[Mapping[str, Json], ...] = ()
    adaptive: Mapping[str, Json] = field(default_factory=dict[str, Json])
    tries: tuple[Mapping[str, Json], ...] = ()
    subject: Mapping[str, Json] = field(default_factory=dict[str, Json])
    variables: Mapping[str, Json] = field(default_factory=dict[str, Json])
    session: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def began(self) -> datetime:
        """When it started, for ordering: texts with offsets do not order by time.

        The earliest of all times where that is not known.
        """
        if not self.started_at:
            return datetime.min.replace(tzinfo=UTC)
        return datetime.fromisoformat(self.started_at)

    @property
    def ended(self) -> datetime:
        """When it ended; when it started where that is not known."""
        return datetime.fromisoformat(self.ended_at) if self.ended_at else self.began

    def fact(self, *path: str) -> Json:
        """Return what the environment tells at a path of names; None if it does not."""
        value: Json = dict(self.environment)
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    @property
    def commit(self) -> tuple[str, str | None] | None:
        """Commit of what was measured, and the digest of what was not committed, if anything.

        Of the first repository that has one; all of them are in ``subject``.
        """
        return next(commits(self.subject), None)

    def to_json(self) -> JsonObject:
        """Return the document that ``run.json`` holds."""
        body = cast("JsonObject", json.loads(json.dumps(asdict(self), default=str)))
        return {"format": FORMAT, "version": VERSION, **body}


def commits(subject: Mapping[str, Json]) -> Iterator[tuple[str, str | None]]:
    """Yield each commit that a subject names, and what was changed since; None if nothing was."""
    states = subject.get("repositories")
    for state in states.values() if isinstance(states, dict) else ():
        commit = state.get("commit") if isinstance(state, dict) else None
        if isinstance(state, dict) and isinstance(commit, str) and commit != "none":
            changes = state.get("changes")
            yield commit, changes if isinstance(changes, str) and changes != "none" else None


class _Versioned(Struct, kw_only=True):
    format: Literal["benchyard-run"]
    version: Annotated[int, Meta(ge=1, le=VERSION)]


def lean(kind: type[Any], *dropped: str, **types: Any) -> type[Struct]:
    """Return the fields of a dataclass as a type to decode, without some, some of other types."""
    hints = get_type_hints(kind, include_extras=True) | types
    members = [
        (one.name, hints[one.name], *_default(one))
        for one in fields(kind)
        if one.name not in dropped
    ]
    bases = (_Versioned,) if kind is RunRecord else ()
    return defstruct(kind.__name__, members, bases=bases, kw_only=True, gc=False)


def _default(one: Field[Any]) -> tuple[Any, ...]:
    if one.default_factory is not MISSING:
        return (msgspec.field(default_factory=one.default_factory),)
    return () if one.default is MISSING else (one.default,)


_RECORD = Decoder(lean(RunRecord))


def write_record(folder: Path, record: RunRecord) -> Path:
    """Write ``run.json`` into a run's folder and return its path."""
    path = folder / RUN_FILE
    write_json(path, record.to_json())
    return path


def read_record(folder: Path, decoder: Decoder[Struct] = _RECORD) -> RunRecord:
    """Read ``run.json`` from a run's folder; see ``parse_record``.

    Raises:
        RecordError: If it is missing, damaged or of a later version.
    """
    return parse_record(record_text(folder), folder / RUN_FILE, decoder)


def record_text(folder: Path) -> bytes:
    """Return what ``run.json`` in a run's folder holds.

    Raises:
        RecordError: If it is missing, or cannot be read.
    """
    path = folder / RUN_FILE
    try:
        if not path.is_file():
            raise FileNotFoundError("there is no such file")
        return content(path)
    except OSError as error:
        why = error.strerror or error
        raise RecordError(f"{path}: not a readable record: {why}") from error


def parse_record(content: bytes, path: Path, decoder: Decoder[Struct] = _RECORD) -> RunRecord:
    """Read the document of a record.

    Args:
        content: What ``run.json`` holds.
        path: Where it comes from; its folder must not be that of another run.
        decoder: Of what is read of it, a ``lean`` record.

    Raises:
        RecordError: If it is damaged or of a later version.
    """
    try:
        record = convert(_decoded(content, decoder), RunRecord, from_attributes=True)
        _check_place(path.parent, record)
    except (ValueError, TypeError, RecursionError) as error:
        why = str(error).replace("`", "'")
        if "$.format" in why or "$.version" in why:
            why += "; read it with the Benchyard that wrote it"
        raise RecordError(f"{path}: not a readable record: {why}") from error
    return record


def _decoded(content: bytes, decoder: Decoder[Struct]) -> Struct:
    try:
        return decoder.decode(content)
    except MsgspecError:
        # Half surrogates, which stand for bytes in names of files, are Python's business.
        return read_as(cast("type[Struct]", decoder.type), decoded(content))


def _check_place(folder: Path, record: RunRecord) -> None:
    """Refuse a record that was moved here from another run: its number would name the wrong one."""
    if run_number(folder.name) not in (None, record.run):
        raise ValueError(f"it is of run {record.run}")
    for name, text in (("started_at", record.started_at), ("ended_at", record.ended_at)):
        if text and not is_moment(text):
            raise ValueError(f"'{name}' has no time zone, or is of no year that is measured in")


def interval_of(record: RunRecord | None) -> float:
    """Return the seconds between two samples; Benchyard's default where the record tells none."""
    told = record.collector.get("interval_s") if record else None
    return float(told) if isinstance(told, int | float) and 0 < told < 1e6 else 0.1
