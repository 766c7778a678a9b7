"""The records of a report's runs, and their digests."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.verdicts import ALL_METRICS
from benchyard.core.files import sha256
from benchyard.core.json_text import encoded
from benchyard.core.model import JsonObject
from benchyard.results.excerpt import ReportSide, Run, data_document
from benchyard.results.folders import RUN_FILE, run_folder
from benchyard.results.layout import case_place
from benchyard.results.record import Repetition, RunRecord, StepRecord
from benchyard.web.report.comparisons import ReportRequest


@dataclass(frozen=True, slots=True)
class Records:
    """Every run of a report, once.

    Args:
        listed: Digest and place of each, on lines as ``sha256sum`` writes them.
    """

    sides: tuple[ReportSide, ...]
    runs: tuple[Run, ...]
    records: tuple[RunRecord, ...]
    listed: str

    @property
    def digest(self) -> str:
        """Over the digests of all, ``sha256:`` before it."""
        return f"sha256:{hashlib.sha256(self.listed.encode()).hexdigest()}"

    def document(self, kept: Sequence[str]) -> JsonObject:
        """Return the data of the report.

        Args:
            kept: Metrics beside the durations: names, globs, or ``all``.
        """
        texts = (_document(record, kept) for record in self.records)
        return data_document(self.sides, self.runs, texts)


def records_of(shown: Sequence[tuple[str, RunSet]], request: ReportRequest) -> Records:
    """Collect the runs of all sides; one that is on two sides counts once."""
    places: dict[tuple[str, int], int] = {}
    runs: list[Run] = []
    records: list[RunRecord] = []
    sides: dict[tuple[str, str | None], list[int]] = {}
    for side, one in shown:
        own = sides.setdefault((request.label(side), _step(one)), [])
        done = set(map(id, one.records))
        for record in one.everything:
            key = str(one.folder.resolve()), record.run
            if key not in places:
                places[key] = len(runs)
                runs.append(Run(record.run, id(record) in done, _sha256(one, record)))
                records.append(record)
            own.append(places[key])
    named = tuple(ReportSide(name, tuple(own), step) for (name, step), own in sides.items())
    return Records(named, tuple(runs), tuple(records), "".join(map(_line, runs, records)))


def _step(runs: RunSet) -> str | None:
    """Return the step that a side is about; steps that were paired by hand are all taken in."""
    chosen = runs.compared_as or {}
    return next(iter(chosen)) if list(chosen.values()) == [""] else None


def _line(run: Run, record: RunRecord) -> str:
    place = run_folder(case_place(record), record.run) / RUN_FILE
    return f"{run.sha256}  {place.as_posix()}\n"


def _sha256(runs: RunSet, record: RunRecord) -> str:
    """Return the digest of a run's file; of one that was read from a report that of its record."""
    file = run_folder(runs.folder, record.run) / RUN_FILE
    if file.is_file():
        return sha256(file)
    return hashlib.sha256(_document(record).encode(errors="backslashreplace")).hexdigest()


# -- records, reduced to what comparisons read

#: Of a record, what stays as it is.
_WHOLE = (
    *("run", "outcome", "started_at", "ended_at", "duration_s", "resources", "environment"),
    *("benchyard_version", "subject", "session"),
)


def _document(record: RunRecord, metrics: Sequence[str] = (ALL_METRICS,)) -> str:
    """Return the document of a record, reduced, on one line; the same record gives the same text.

    Args:
        metrics: Those that are kept beside the durations: names, globs, or ``all``.
    """
    return encoded(_reduced(record, metrics).to_json()) + "\n"


def _reduced(record: RunRecord, metrics: Sequence[str]) -> RunRecord:
    """Return a record without what no comparison reads.

    Paths of this host, texts of errors and the environment's variables are among what goes.
    """
    told = {"description", "folder"}
    interval = ("interval_s", "made_by")
    whole: dict[str, Any] = {name: getattr(record, name) for name in _WHOLE}
    return RunRecord(
        **whole,
        case={name: value for name, value in record.case.items() if name not in told},
        steps=tuple(_reduced_step(step, metrics) for step in record.steps),
        collector={n: record.collector[n] for n in interval if n in record.collector},
        preflight=tuple(
            {name: found[name] for name in ("check", "status") if name in found}
            for found in record.preflight
        ),
    )


def _reduced_step(step: StepRecord, metrics: Sequence[str]) -> StepRecord:
    attempts = tuple(
        replace(one, repetitions=tuple(_values(r, metrics) for r in one.repetitions), error=None)
        for one in step.attempts[-1:]
    )
    return replace(step, attempts=attempts, sampled={}, reason=None)


def _values(made: Repetition, metrics: Sequence[str]) -> Repetition:
    plain = Repetition(made.kind, made.start_s, made.duration_s, made.outcome)
    if made.kind != "measured":
        return plain
    values = {
        name: value
        for name, value in made.values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and _kept(name, metrics)
    }
    # A counter that is not known has a name all the same: a reported value of that name yields.
    used = {
        name: value
        for name, value in made.used.items()
        if name in values or (value is not None and _kept(name, metrics))
    }
    return replace(plain, used=used, values=values, suspect=made.suspect)


def _kept(name: str, metrics: Sequence[str]) -> bool:
    names = (name, f"reported_{name}")
    return any(one == ALL_METRICS or any(fnmatchcase(n, one) for n in names) for one in metrics)
