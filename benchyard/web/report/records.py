"""The records of a report's runs, and their digests."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from benchyard.analysis.compacting import compact_json
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.files import sha256
from benchyard.core.model import JsonObject
from benchyard.results.folders import RUN_FILE, run_folder
from benchyard.results.layout import case_place
from benchyard.results.record import RunRecord
from benchyard.results.report_data import ReportSide, Run, data_document
from benchyard.web.report.wish import Wish


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
        texts = (compact_json(record, kept) for record in self.records)
        return data_document(self.sides, self.runs, texts)


def records_of(shown: Sequence[tuple[str, RunSet]], wish: Wish) -> Records:
    """Collect the runs of all sides; one that is on two sides counts once."""
    places: dict[tuple[str, int], int] = {}
    runs: list[Run] = []
    records: list[RunRecord] = []
    sides: dict[tuple[str, str | None], list[int]] = {}
    for side, one in shown:
        own = sides.setdefault((wish.label(side), _step(one)), [])
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
    return hashlib.sha256(compact_json(record).encode(errors="backslashreplace")).hexdigest()
