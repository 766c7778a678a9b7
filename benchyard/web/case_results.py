"""What the results of a case tell: its campaigns, read as excerpts and kept for who asks next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from benchyard.analysis.comparison.run_sets import Reader, RunSet
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.executions import collect, executions
from benchyard.analysis.failure_rates import Fragile, by_fragility
from benchyard.catalogue.entry import CaseEntry
from benchyard.core.errors import RecordError
from benchyard.core.model import Outcome
from benchyard.core.quantity import plural
from benchyard.results.campaigns import Campaign, campaigns_before, read_campaign
from benchyard.results.excerpt import read_excerpt
from benchyard.results.folders import RUN_FILE, Results, run_folder
from benchyard.results.krown import read_results
from benchyard.results.record import RunRecord
from benchyard.results.subject import differences, subject_of
from benchyard.results.summary import summarize

#: Executions of steps that are kept; each takes one kilobyte.
_STEPS_KEPT = 40_000


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
def _kept(folder: Path, metrics: tuple[str, ...], _signature: object) -> RunRecord:
    return read_excerpt(folder, metrics)


def known_metrics(campaign: Path, record: RunRecord) -> list[str]:
    """Return the names of the metrics of a run, read or not, sorted."""
    # Only of an excerpt is the collector's account empty; KROWN's runs are read whole.
    whole = record if record.collector else reader("*")(run_folder(campaign, record.run))
    document: dict[str, Any] = summarize("", [whole])
    names = {name for step in document["steps"] for name in step.get("metrics") or ()}
    return sorted(names | {DURATION})


@dataclass(frozen=True)
class CaseResults:
    """The runs of one case, in all campaigns.

    Args:
        campaigns: Newest first; at least the newest, which may be without runs.
        failed: Records of the runs of the newest campaign that failed.
        notes: What was left out, and why.
        folders: Of all campaigns, also of those without a record.
        metrics: Those that were read beside the duration.
    """

    title: str
    campaigns: tuple[Campaign, ...]
    failed: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    metrics: tuple[str, ...] = ()

    @cached_property
    def newest(self) -> RunRecord | None:
        """The record of the newest run that was finished, or else that failed."""
        found = [*self.campaigns[0].records.values()] or [*self.failed]
        return max(found, key=lambda record: record.began, default=None)

    @property
    def is_krowns(self) -> bool:
        """Whether KROWN made the runs of the newest campaign."""
        return self.newest is not None and self.newest.collector.get("made_by") == "KROWN"

    @cached_property
    def run_set(self) -> RunSet:
        """The runs of the newest subject, and those beside them."""
        campaign = self.campaigns[0]
        alike = sorted(campaign.alike(), key=lambda record: record.run)
        known = {record.run for record in alike}
        others = [record for run, record in campaign.records.items() if run not in known]
        return RunSet(self.title, campaign.folder, tuple(alike), self.failed, others=tuple(others))

    @property
    def left_out(self) -> list[str]:
        """Sentences about runs that are in no figure, and why."""
        told, others = list(self.notes), len(self.run_set.others)
        if others:
            verb = "stands" if others == 1 else "stand"
            told.append(
                f"{plural(others, 'run')} measured something else than the newest, and {verb} in "
                "the history alone."
            )
        if self.failed:
            verb = "counts" if len(self.failed) == 1 else "count"
            told.append(f"{plural(len(self.failed), 'run')} failed and {verb} in no figure.")
        return told

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What ``summary.json`` says of the newest subject, for the metrics that were read."""
        found = self.run_set
        return summarize(self.title, found.records, unfinished=found.failed)

    @cached_property
    def known_metrics(self) -> list[str]:
        """Names of the metrics that the newest run knows, read or not, sorted."""
        newest = self.newest
        return known_metrics(self.campaigns[0].folder, newest) if newest else [DURATION]

    @cached_property
    def suspect(self) -> dict[int, int]:
        """Number of each run of the newest campaign to how many of its steps are suspect."""
        records = (*self.campaigns[0].records.values(), *self.failed)
        return {one.run: sum(bool(step.suspect) for step in one.steps) for one in records}

    @cached_property
    def fragile(self) -> tuple[list[Fragile], Sequence[str]]:
        """Each step with what failed of it, in all campaigns, and what could not be read."""
        collected = collect(self.folders, reader(*self.metrics))
        return by_fragility(executions(collected.tries)), collected.problems


def read_case(case: CaseEntry, *metrics: str) -> CaseResults:
    """Read the runs of a case, with some metrics; what cannot be read is told in the notes."""
    read = reader(*metrics)
    folders = [case.results, *campaigns_before(case.results)]
    campaigns = [read_campaign(folder, read) for folder in folders]
    if not campaigns[0].records and campaigns[0].krown:
        return replace(_krowns(case, campaigns), folders=tuple(folders))
    found = [campaigns[0], *(one for one in campaigns[1:] if one.records)]
    failed, unreadable = _failed(case.results, read)
    subject = found[0].subject
    return CaseResults(
        case.title,
        tuple(found),
        tuple(one for one in failed if not subject or not differences(subject_of(one), subject)),
        (*_unreadable(campaigns), *unreadable),
        tuple(folders),
        metrics,
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
