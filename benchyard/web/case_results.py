"""What the results of a case tell: its campaigns, read as excerpts and kept for who asks next."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from cachetools import LRUCache, cached

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import DURATION
from benchyard.catalogue.entry import CaseEntry
from benchyard.core.errors import RecordError
from benchyard.core.model import Outcome
from benchyard.results.campaigns import Campaign, read_campaign, with_earlier
from benchyard.results.excerpt import read_excerpt
from benchyard.results.folders import RUN_FILE, Results
from benchyard.results.krown_reading import read_results
from benchyard.results.record import RunRecord
from benchyard.results.subject import differences, subject_of
from benchyard.results.summary import summarize
from benchyard.show.results_plot.sides import Side, tell_apart

#: Steps of the excerpts that are kept; each takes half a kilobyte.
_STEPS_KEPT = 40_000
Reader: TypeAlias = Callable[[Path], RunRecord]


def reader(*metrics: str) -> Reader:
    """Return what reads excerpts with some metrics, each once until its file changes.

    Args:
        metrics: Names or globs; the duration is always there.
    """
    wanted = tuple(sorted({metric for metric in metrics if metric != DURATION}))
    return partial(_read, wanted)


def _read(metrics: tuple[str, ...], folder: Path) -> RunRecord:
    try:
        status = (folder / RUN_FILE).stat()
    except OSError:
        return read_excerpt(folder, metrics)
    return _kept(folder, metrics, (status.st_mtime_ns, status.st_size, status.st_ino))


@cached(LRUCache[Any, RunRecord](_STEPS_KEPT, lambda record: len(record.steps) + 1), lock=Lock())
def _kept(folder: Path, metrics: tuple[str, ...], signature: tuple[int, ...]) -> RunRecord:
    del signature  # it tells one state of the file from another
    return read_excerpt(folder, metrics)


@dataclass(frozen=True, slots=True)
class CaseResults:
    """The runs of one case, in all campaigns.

    Args:
        campaigns: Newest first; at least the newest, which may be without runs.
        failed: Records of the runs of the newest campaign that failed.
        notes: What was left out, and why.
    """

    title: str
    campaigns: tuple[Campaign, ...]
    failed: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def newest(self) -> RunRecord | None:
        """The record of the newest run that was finished, or else that failed."""
        found = [*self.campaigns[0].records.values()] or [*self.failed]
        return max(found, key=lambda record: record.began, default=None)

    @property
    def run_set(self) -> RunSet:
        """The runs of the newest subject, and those beside them."""
        campaign = self.campaigns[0]
        alike = sorted(campaign.alike(), key=lambda record: record.run)
        known = {record.run for record in alike}
        others = [record for run, record in campaign.records.items() if run not in known]
        return RunSet(self.title, campaign.folder, tuple(alike), self.failed, others=tuple(others))

    def side(self, *, include_suspect: bool = False) -> Side:
        """Return what is drawn of it."""
        return tell_apart([("", self.run_set)], include_suspect=include_suspect)[0]

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` tells of the newest subject, for the metrics read."""
        found = self.run_set
        return summarize(self.title, found.records, unfinished=found.failed)


def read_case(case: CaseEntry, *metrics: str) -> CaseResults:
    """Read the runs of a case, with some metrics; what cannot be read is told in the notes."""
    read = reader(*metrics)
    folders = with_earlier(case.results)
    campaigns = [read_campaign(folder, read) for folder in folders]
    if not campaigns[0].records and campaigns[0].krown:
        return _krowns(case, campaigns)
    found = [campaigns[0], *(one for one in campaigns[1:] if one.records)]
    failed, unreadable = _failed(case.results, read)
    subject = found[0].subject
    return CaseResults(
        case.title,
        tuple(found),
        tuple(one for one in failed if not subject or not differences(subject_of(one), subject)),
        (*_unreadable(campaigns), *unreadable),
    )


def _failed(results: Path, read: Reader) -> tuple[list[RunRecord], list[str]]:
    """Return the records of the runs that failed, and why others cannot be read."""
    records: list[RunRecord] = []
    notes: list[str] = []
    for number, run in Results(results).failed().items():
        try:
            record = read(run.path)
        except RecordError as error:
            notes.append(f"run {number} is left out: {error}")
        else:
            if record.outcome is not Outcome.CANCELLED:
                records.append(record)
    return records, notes


def _unreadable(campaigns: list[Campaign]) -> list[str]:
    newest, *earlier = campaigns
    told = [f"run {n} is left out: {why}" for n, why in newest.unreadable.items()]
    told += [
        f"run {n} of the campaign {one.folder.name} is left out: {why}"
        for one in earlier
        for n, why in one.unreadable.items()
    ]
    if newest.krown:
        told.append(f"{len(newest.krown)} runs that KROWN made are left out")
    return told


def _krowns(case: CaseEntry, campaigns: list[Campaign]) -> CaseResults:
    """Read runs that KROWN made, as ``benchyard stats`` does."""
    made = read_results(case.title, case.results)
    newest = replace(campaigns[0], records={record.run: record for _, record in made.runs})
    unread = [f"run {n} is left out: {why}" for n, why in made.unreadable.items()]
    earlier = (one for one in campaigns[1:] if one.records)
    notes = (*unread, *made.warnings)
    return CaseResults(case.title, (newest, *earlier), made.unfinished, notes)
