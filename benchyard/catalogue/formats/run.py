"""Runs of cases: those that Benchyard made, by the head of their record, and those of KROWN."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchyard.catalogue.entry import KROWN_RUN, RUN, Entry, StepEntry, digest
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.core.errors import BenchyardError, RecordError
from benchyard.core.files import content
from benchyard.core.json_text import is_moment
from benchyard.core.model import Json, Outcome, object_in
from benchyard.results.attempts import read_tries
from benchyard.results.folders import DONE, MARK, METRICS_FILE, RUN_FILE, RunFolder, run_number
from benchyard.results.krown import has_only_samples, is_krowns, read_run
from benchyard.results.record import FORMAT, VERSION, RunRecord, StepRecord, read_record
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
    imported: bool = False


class Environment(msgspec.Struct):
    """Where it was executed."""

    host: str | None = None


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
    collector: dict[str, Any] = {}
    identity: str = ""

    @property
    def host_quality(self) -> HostQuality:
        """How far the host spoke against the numbers."""
        if self.case.imported:
            return HostQuality.UNKNOWN
        suspect = any(step.entry.suspect for step in self.steps)
        return quality_of(self.preflight, {"notes": self.collector.get("notes")}, suspect=suspect)

    @property
    def started_s(self) -> float | None:
        """When it began, in seconds since the epoch."""
        return datetime.fromisoformat(self.started_at).timestamp() if self.started_at else None

    @property
    def commit(self) -> str:
        """Commit of what was measured; empty if it is not known."""
        repositories = self.subject.repositories
        for name in repositories:
            commit = object_in(repositories, name).get("commit")
            if isinstance(commit, str) and commit != "none":
                return commit
        return ""

    @property
    def versions(self) -> dict[str, str]:
        """Resource to version, where it is known."""
        told = {name: object_in(self.resources, name).get("version") for name in self.resources}
        return {name: str(version) for name, version in told.items() if version is not None}

    def parameters(self) -> Iterator[tuple[str, Json]]:
        """Yield the point of the matrix, then the parameters of steps as ``STEP.NAME``."""
        yield from self.case.point.items()
        for step in self.steps:
            for name, value in step.parameters.items():
                yield f"{step.id}.{name}", value


_DECODER = msgspec.json.Decoder(Record)


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


_SIGNS = {RUN_FILE, DONE, MARK, METRICS_FILE}


class RunFormat:
    """Runs that Benchyard made: finished, failed, under way, killed."""

    name = RUN

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the folder if it is a run's."""
        return (".",) if run_number(listing.folder.name) and listing.files & _SIGNS else ()

    def describe(self, found: Candidate) -> Entry | None:
        """Read its record, or tell why there is none."""
        run = RunFolder(found.place)
        try:
            status = run.record.stat()
            return _recorded(found, read_facts(run.path), status.st_mtime)
        except FileNotFoundError:
            return None if has_only_samples(run) and is_krowns(run.path) else _unrecorded(found)
        except (RecordError, OSError) as error:
            return _broken(found, str(error))

    def load(self, entry: Entry) -> RunRecord:
        """Read its record.

        Raises:
            RecordError: If it cannot be read.
        """
        return read_record(entry.place)


def _recorded(found: Candidate, record: Record, mtime_s: float) -> Entry:
    steps = tuple(step.entry for step in record.steps)
    started_s = record.started_s
    return found.entry(
        *(RUN, started_s or mtime_s, mtime_s),
        title=record.case.title or record.case.name,
        case=record.case.name,
        point=record.case.point,
        run=record.run,
        outcome=record.outcome.value,
        started_s=started_s,
        duration_s=record.duration_s,
        host=record.environment.host or "",
        host_quality=record.host_quality.value,
        commit=record.commit,
        versions=record.versions,
        tags=tuple(record.case.tags),
        counts={
            "steps": len(steps),
            "attempts": sum(step.attempts for step in steps),
            "suspect": sum(step.suspect for step in steps),
        },
        parameters=dict(record.parameters()),
        steps=steps,
        identity=record.identity,
    )


def _unrecorded(found: Candidate) -> Entry:
    run = RunFolder(found.place)
    if run.is_marked:
        return _broken(found, f"{run.record} is missing, although the run was finished")
    tries, _ = read_tries(run.path.parent, run.number)
    newest = tries[-1] if tries else None
    if newest is None or not newest.under_way:
        return _broken(found, "it has no record: its process was killed, or its host went down")
    began_s = newest.began.timestamp()
    return found.entry(
        *(RUN, began_s, began_s),
        title=newest.case,
        case=newest.case.partition("[")[0],
        run=run.number,
        started_s=began_s,
        host=newest.host,
        tags=newest.tags,
        under_way=True,
    )


def _broken(found: Candidate, why: str, kind: str = RUN) -> Entry:
    return found.entry(
        *(kind, found.changed_s, found.changed_s),
        title=_named_after(found.place),
        case=_named_after(found.place),
        run=run_number(found.place.name),
        broken=why,
    )


def _named_after(run: Path) -> str:
    """Return what tells the case of a run that has no record: the name of its folder."""
    results = run.parent
    return results.parent.name if results.name == "results" else results.name


class KrownRunFormat:
    """Runs that KROWN made: samples, and no record."""

    name = KROWN_RUN

    def detect(self, listing: FolderListing) -> Iterable[str]:
        """Return the folder if it may be that of a run of KROWN's."""
        is_one = METRICS_FILE in listing.files and RUN_FILE not in listing.files
        return (".",) if is_one and run_number(listing.folder.name) else ()

    def describe(self, found: Candidate) -> Entry | None:
        """Read its samples."""
        run = RunFolder(found.place)
        if not (has_only_samples(run) and is_krowns(run.path)):
            return None
        try:
            record = self._read(run.path)
            return _of_krown(found, record, run.metrics.stat().st_mtime)
        except (BenchyardError, OSError) as error:
            return _broken(found, str(error), KROWN_RUN)

    def load(self, entry: Entry) -> RunRecord:
        """Read its samples as a record.

        Raises:
            RecordError: If they cannot be read.
        """
        return self._read(entry.place)

    def _read(self, run: Path) -> RunRecord:
        return read_run(_named_after(run), run)


def _of_krown(found: Candidate, record: RunRecord, mtime_s: float) -> Entry:
    done = RunFolder(found.place).is_marked
    host = record.environment.get("host")
    return found.entry(
        *(KROWN_RUN, _moment(record.started_at) or mtime_s, mtime_s),
        title=str(record.case["title"]),
        case=str(record.case["name"]),
        run=record.run,
        outcome=record.outcome.value if done else None,
        broken="" if done else "KROWN did not finish it: there is no .done",
        started_s=_moment(record.started_at),
        duration_s=record.duration_s,
        host=host if isinstance(host, str) else "",
        counts={"steps": len(record.steps)},
        steps=tuple(_step_of_krown(step) for step in record.steps),
        identity=digest(repr(record).encode("utf-8", "backslashreplace")),
    )


def _moment(text: str) -> float | None:
    """Return seconds since the epoch; without a time zone, this host's is assumed."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _step_of_krown(step: StepRecord) -> StepEntry:
    lengths = step.durations_s
    median_s = median(lengths) if lengths else None
    named = (step.index, step.id, step.name, step.measure, step.outcome.value)
    return StepEntry(*named, median_s, len(step.attempts), suspect=False)
