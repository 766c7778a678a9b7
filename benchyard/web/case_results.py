"""What the results of a case tell: its campaigns, read as excerpts and kept for who asks next."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from benchyard.analysis.comparison.run_sets import Reader, RunSet
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.executions import StepTry, collect, executions
from benchyard.analysis.failure_rates import Fragile, by_fragility
from benchyard.catalogue.entry import CaseEntry
from benchyard.core.errors import RecordError
from benchyard.core.model import Outcome
from benchyard.core.quantity import plural
from benchyard.results.campaigns import Campaign, campaigns_before, read_campaign
from benchyard.results.excerpt import read_excerpt
from benchyard.results.folders import RUN_FILE, Results, run_folder, run_number
from benchyard.results.krown import read_results
from benchyard.results.record import RunRecord
from benchyard.results.subject import differences, subject_of
from benchyard.results.summary import summarize

#: Executions of steps that are kept, each takes one kilobyte; runs of earlier campaigns.
_STEPS_KEPT, _RUNS_KEPT = 40_000, 10_000


def reader(*metrics: str) -> Reader:
    """Return what reads excerpts with some metrics, each once until its file changes.

    Args:
        metrics: Names or globs; the duration is always there.
    """
    return partial(_read, _wanted(metrics))


def _wanted(metrics: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({metric for metric in metrics if metric != DURATION}))


def _read(metrics: tuple[str, ...], folder: Path) -> RunRecord:
    return _kept(folder, metrics, _signature(f"{folder}/{RUN_FILE}"))


def _signature(path: str) -> tuple[int, ...]:
    """Return what differs once a file was changed; empty if it is not there."""
    with suppress(OSError):
        status = os.stat(path)  # noqa: PTH116 - of thousands of files, where a Path costs most
        return status.st_mtime_ns, status.st_size, status.st_ino
    return ()


@cached(LRUCache[Any, RunRecord](_STEPS_KEPT, lambda record: len(record.steps) + 1), lock=Lock())
def _kept(folder: Path, metrics: tuple[str, ...], _signature: object) -> RunRecord:
    return read_excerpt(folder, metrics)


@dataclass(frozen=True)
class CampaignResults:
    """The runs in the folder of one campaign.

    Args:
        read: Reads the record of a run that was not finished.
    """

    campaign: Campaign
    read: Reader

    @cached_property
    def executions(self) -> tuple[Sequence[StepTry], Sequence[str]]:
        """What was executed, oldest first, and what cannot be read."""
        collected = collect([self.campaign.folder], self._record)
        return [*executions(collected.tries)], collected.problems

    def _record(self, run: Path) -> RunRecord:
        return self.campaign.records.get(run_number(run.name) or 0) or self.read(run)


def _earlier(folder: Path, metrics: tuple[str, ...]) -> CampaignResults:
    """Read a campaign that was set aside, once until one of its files changes."""
    with suppress(OSError), os.scandir(folder) as entries:
        files = [(one.path, f"{one.path}/{RUN_FILE}") for one in entries]
        state = sorted((path, _signature(path), _signature(record)) for path, record in files)
        return _kept_campaign(folder, metrics, tuple(state))
    return CampaignResults(Campaign(folder), read_excerpt)


@cached(LRUCache[Any, Any](_RUNS_KEPT, lambda one: len(one.campaign.records) + 1), lock=Lock())
def _kept_campaign(folder: Path, metrics: tuple[str, ...], _state: object) -> CampaignResults:
    read = partial(read_excerpt, metrics=metrics)
    return CampaignResults(read_campaign(folder, read), read)


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
        every: Its campaigns, newest first; at least the newest, which may be without runs.
        failed: Records of the runs of the newest campaign that failed.
        notes: What was left out, and why.
    """

    title: str
    every: tuple[CampaignResults, ...]
    failed: tuple[RunRecord, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def campaigns(self) -> list[Campaign]:
        """The newest, and the earlier ones that have records, newest first."""
        newest, *earlier = (one.campaign for one in self.every)
        return [newest, *(one for one in earlier if one.records)]

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
        found = [one.executions for one in reversed(self.every)]
        executed = by_fragility(one for tried, _ in found for one in tried)
        return executed, [problem for _, problems in reversed(found) for problem in problems]


def read_case(case: CaseEntry, *metrics: str) -> CaseResults:
    """Read the runs of a case, with some metrics; what cannot be read is told in the notes."""
    read = reader(*metrics)
    newest = read_campaign(case.results, read)
    before = (_earlier(one, _wanted(metrics)) for one in campaigns_before(case.results))
    every = (CampaignResults(newest, read), *before)
    if not newest.records and newest.krown:
        return _krowns(case, every)
    failed, unreadable = _failed(case.results, read)
    subject = newest.subject
    alike = (one for one in failed if not subject or not differences(subject_of(one), subject))
    left_out = (*_unreadable(one.campaign for one in every), *unreadable)
    return CaseResults(case.title, every, tuple(alike), left_out)


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


def _unreadable(campaigns: Iterable[Campaign]) -> list[str]:
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


def _krowns(case: CaseEntry, every: Sequence[CampaignResults]) -> CaseResults:
    """Read runs that KROWN made, as ``benchyard stats`` does."""
    made = read_results(case.title, case.results)
    newest = replace(every[0].campaign, records={record.run: record for _, record in made.runs})
    unread = [f"run {n} is left out: {why}" for n, why in made.unreadable.items()]
    whole = (replace(every[0], campaign=newest), *every[1:])
    return CaseResults(case.title, whole, made.unfinished, (*unread, *made.warnings))
