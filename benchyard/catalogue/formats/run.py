"""Runs of cases: those that Benchyard made, by the head of their record, and those of KROWN."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import median

from benchyard.catalogue.entry import KROWN_RUN, RUN, Entry, StepEntry, digest
from benchyard.catalogue.formats.contract import Candidate, FolderListing
from benchyard.core.errors import BenchyardError, RecordError
from benchyard.core.model import Json, object_in
from benchyard.results.attempts import read_tries
from benchyard.results.excerpt import parse_outline
from benchyard.results.folders import DONE, MARK, METRICS_FILE, RUN_FILE, RunFolder, run_number
from benchyard.results.krown import has_only_samples, is_krowns, read_run
from benchyard.results.record import RunRecord, StepRecord, read_record, record_text
from benchyard.results.subject import told_versions
from benchyard.results.trust import host_quality

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
            mtime_s, text = run.record.stat().st_mtime, record_text(run.path)
            record = parse_outline(text, run.record)
            return _recorded(RUN, found, record, mtime_s, text)
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


def _recorded(
    kind: str, found: Candidate, record: RunRecord, mtime_s: float, content: bytes
) -> Entry:
    """Return the entry of a run; the digest of ``content`` identifies its record."""
    case, started_s, tags = record.case, _moment(record.started_at), record.case.get("tags")
    steps = tuple(map(_step, record.steps))
    return found.entry(
        *(kind, started_s or mtime_s, mtime_s),
        title=str(case.get("title") or case.get("name") or ""),
        case=str(case.get("name") or ""),
        point=object_in(case, "point"),
        run=record.run,
        outcome=record.outcome.value,
        started_s=started_s,
        duration_s=record.duration_s,
        host=str(record.environment.get("host") or ""),
        host_quality=host_quality(record).value,
        commit=record.commit[0] if record.commit else "",
        versions=dict(told_versions(dict(record.resources))),
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        counts={
            "steps": len(steps),
            "attempts": sum(step.attempts for step in steps),
            "suspect": sum(step.suspect for step in steps),
        },
        parameters=_parameters(record),
        steps=steps,
        identity=digest(content),
    )


def _parameters(record: RunRecord) -> dict[str, Json]:
    """Return the point of the matrix, then the parameters of steps as ``STEP.NAME``."""
    steps = {
        f"{step.id}.{n}": value for step in record.steps for n, value in step.parameters.items()
    }
    return object_in(record.case, "point") | steps


def _step(step: StepRecord) -> StepEntry:
    return StepEntry(
        *(step.index, step.id, step.name, step.measure, step.outcome.value),
        median_s=median(lengths) if (lengths := step.durations_s) else None,
        attempts=len(step.attempts),
        suspect=bool(step.suspect),
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
    text = repr(record).encode("utf-8", "backslashreplace")
    made = _recorded(KROWN_RUN, found, record, mtime_s, text)
    # KROWN says nothing of its host's fitness, nor of attempts.
    made = replace(made, host_quality="", counts={"steps": len(made.steps)})
    if RunFolder(found.place).is_marked:
        return made
    return replace(made, outcome=None, broken="KROWN did not finish it: there is no .done")


def _moment(text: str) -> float | None:
    """Return seconds since the epoch; without a time zone, this host's is assumed."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None
