"""A metric of a case's steps through time, from the records: campaign by campaign, host by host."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.quantity import plural
from benchyard.publish.sinks.contract import Point
from benchyard.results.campaigns import Campaign
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.subject import commit_of, in_words, subject_of
from benchyard.results.summary_metrics import (
    counting,
    declared_kinds,
    levels_of,
    middle,
    name_of,
    numbers_of,
    sampled_numbers,
    unit_and_direction,
)
from benchyard.results.trust import Suspect
from benchyard.show.history.series import Series, changes_in
from benchyard.statistics import describe


@dataclass(frozen=True, slots=True)
class Value:
    """What one run yielded.

    Args:
        value: Of the metric; the median of the run's repetitions.
        suspect: Whether it counts in no figure.
        run: Its number.
    """

    began: datetime
    value: float
    suspect: bool = False
    run: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Point):
    """The runs of one subject in one campaign; its value is the median of those that count.

    Args:
        folder: Of the campaign.
        change: In what it differs from the group before it on its host, in words; may be empty.
        values: Oldest first.
    """

    folder: Path
    change: str
    values: tuple[Value, ...]

    @property
    def commit(self) -> str | None:
        """Commits of what was measured, in short."""
        return commit_of(self.subject)


@dataclass(frozen=True, slots=True)
class StepHistory:
    """One metric of one step.

    Args:
        name: The newest.
        unit: Of the metric; None if it is not known.
        groups: With at least one value each, oldest first.
    """

    id: str
    name: str
    metric: str
    unit: str | None
    groups: tuple[Group, ...]

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts, sorted."""
        return sorted({group.host for group in self.groups})

    def series(self, test: str, host: str | None = None) -> Series:
        """Return its groups as points of one series; those of one host, or of all."""
        points = tuple(one for one in self.groups if host in (None, one.host))
        return Series(
            *(test, self.name, points), metric=self.metric, unit=self.unit, of_campaigns=True
        )


def histories(
    campaigns: Sequence[Campaign], metric: str = DURATION, suspect: Suspect = Suspect.AUTO
) -> list[StepHistory]:
    """Return the history of each measured step, in the order of the newest run's steps.

    Args:
        campaigns: Their records need the metric, and no other.
        suspect: Which suspect runs count: none, all, or (auto) none, and no campaign of which they
            are more than half.
    """
    groups = sorted(_groups(campaigns), key=lambda found: found[1][0].began)
    changes = changes_in(subject_of(records[0]) for _, records in groups)
    found: dict[str, list[Group]] = {}
    newest: dict[str, StepRecord] = {}
    for (folder, records), change in zip(groups, changes, strict=True):
        for step_id, made in _values(records, metric, newest).items():
            group = _group(made, suspect, records[0], folder=folder, change=in_words(change))
            found.setdefault(step_id, []).append(group)
    order = {step_id: newest[step_id].index for step_id in found}
    return [
        StepHistory(
            step, newest[step].name, metric, _unit(newest[step], metric), tuple(found[step])
        )
        for step in sorted(found, key=lambda step: (order[step], step))
    ]


def _groups(campaigns: Iterable[Campaign]) -> Iterator[tuple[Path, list[RunRecord]]]:
    """Yield the runs of each campaign by what they measured, oldest first.

    Runs whose beginning is not known have no place in time, and are left out.
    """
    for campaign in campaigns:
        apart: dict[str, list[RunRecord]] = {}
        timed = [record for record in campaign.records.values() if record.started_at]
        for record in sorted(timed, key=lambda record: record.began):
            apart.setdefault(str(subject_of(record).get("digest")), []).append(record)
        yield from ((campaign.folder, records) for records in apart.values())


def _values(
    records: Sequence[RunRecord], metric: str, newest: dict[str, StepRecord]
) -> dict[str, list[Value]]:
    """Return the values of each step that has any; note the newest record of each step."""
    found: dict[str, list[Value]] = {}
    for record in records:
        for step in record.steps:
            value = value_of(step, metric)
            if value is not None:
                made = Value(record.began, value, bool(step.suspect), record.run)
                found.setdefault(step.id, []).append(made)
                newest[step.id] = step
    return found


def value_of(step: StepRecord, metric: str) -> float | None:
    """Return the median of a metric over the measured repetitions of one step in one run."""
    made = counting(step, include_suspect=True)
    if metric == DURATION:
        return middle(one.duration_s for one in made)
    if not made:
        return None
    sampled = sampled_numbers(levels_of(step.sampled))
    if metric in sampled:
        return sampled[metric]
    numbers = [numbers_of(one) for one in made]
    taken = {name for one in numbers for source, name in one if source != "command"}
    return middle(
        value for one in numbers for key, value in one.items() if name_of(key, taken) == metric
    )


def _group(values: Sequence[Value], rule: Suspect, record: RunRecord, **known: Any) -> Group:
    trusted = [one for one in values if not one.suspect or rule is Suspect.INCLUDE]
    doubted = len(values) - len(trusted)
    counts = bool(trusted) and (rule is not Suspect.AUTO or doubted <= len(trusted))
    told = describe([one.value for one in (trusted if counts else values)])
    return Group(
        values[0].began,
        math.nan if told.median is None else told.median,
        subject_of(record),
        "" if counts else f"{doubted} of {plural(len(values), 'run')} suspect",
        len(trusted),
        told.median_interval.low,
        told.median_interval.high,
        values=tuple(values),
        **known,
    )


def _unit(step: StepRecord, metric: str) -> str | None:
    declared = declared_kinds(step).get(metric)
    return declared[0] if declared else unit_and_direction(metric)[0]
