"""A metric of a case's steps through time, from the records: campaign by campaign, host by host."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice, pairwise
from pathlib import Path

from benchyard.analysis.comparison.levels import home_of
from benchyard.analysis.comparison.moves import StepMove
from benchyard.analysis.comparison.run_sets import Reader, RunSet, host_of
from benchyard.analysis.comparison.samples import DURATION, sample
from benchyard.analysis.comparison.sessions import OWN_CAMPAIGNS
from benchyard.analysis.comparison.states import ChangeItem, items_of
from benchyard.analysis.comparison.verdicts import choose_metrics
from benchyard.core.errors import InputError
from benchyard.core.quantity import plural
from benchyard.core.wording import quote, some
from benchyard.publish.sinks.contract import Point
from benchyard.results.campaigns import Campaign, read_campaign, with_earlier
from benchyard.results.excerpt import read_excerpt
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.subject import commit_of, subject_of
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
from benchyard.show.history.report import told_levels
from benchyard.show.history.series import (
    Series,
    TestSummary,
    Window,
    near,
    refuse_host,
)
from benchyard.statistics import median
from benchyard.statistics.intervals import median_interval


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
        values: Oldest first.
    """

    folder: Path
    values: tuple[Value, ...]

    @property
    def last_began(self) -> datetime:
        """When the last of its runs began."""
        return self.values[-1].began

    @property
    def commit(self) -> str | None:
        """Commits of what was measured, in short."""
        return commit_of(self.subject)


def groups_of(series: Series) -> list[Group]:
    """Return the points of a series that are campaigns."""
    return [one for one in series.points if isinstance(one, Group)]


def histories(
    campaigns: Sequence[Campaign], metric: str = DURATION, test: str = ""
) -> list[Series]:
    """Return a series for each measured step, of all hosts, in the order of the newest run's steps.

    Suspect runs do not count, nor campaigns of which they are more than half.

    Args:
        campaigns: Their records need the metric, and no other.
        test: Title of the case.
    """
    found: dict[str, list[Group]] = {}
    newest: dict[str, StepRecord] = {}
    every = (one for campaign in campaigns for one in _groups(campaign, metric))
    for step, group in sorted(every, key=lambda one: one[1].began):
        found.setdefault(step.id, []).append(group)
        newest[step.id] = step
    return [
        Series(
            *(test, newest[step].name, tuple(found[step])),
            metric=metric,
            unit=_unit(newest[step], metric),
            of_campaigns=True,
            step=step,
        )
        for step in sorted(found, key=lambda step: (newest[step].index, step))
    ]


def _groups(campaign: Campaign, metric: str) -> list[tuple[StepRecord, Group]]:
    """Return the runs of each step by what they measured, with its newest record.

    Runs whose beginning is not known have no place in time, and are left out.
    """
    if (Group, metric) not in campaign.computed:
        apart: dict[str, list[RunRecord]] = {}
        timed = [record for record in campaign.records.values() if record.started_at]
        for record in sorted(timed, key=lambda record: record.began):
            apart.setdefault(str(subject_of(record).get("digest")), []).append(record)
        campaign.computed[Group, metric] = [
            (newest, _group(campaign.folder, made, records[0]))
            for records in apart.values()
            for newest, made in _values(records, metric).values()
        ]
    return campaign.computed[Group, metric]


def _values(records: Sequence[RunRecord], metric: str) -> dict[str, tuple[StepRecord, list[Value]]]:
    """Return of each step that has values its newest record and them."""
    found: dict[str, tuple[StepRecord, list[Value]]] = {}
    for record in records:
        for step in record.steps:
            value = value_of(step, metric)
            if value is not None:
                before = found.get(step.id, (step, []))[1]
                made = Value(record.began, value, bool(step.suspect), record.run)
                found[step.id] = step, [*before, made]
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


def _group(folder: Path, values: Sequence[Value], record: RunRecord) -> Group:
    trusted = [one for one in values if not one.suspect]
    doubted = len(values) - len(trusted)
    counts = doubted <= len(trusted)
    counted = [one.value for one in (trusted if counts else values)]
    ends = median_interval(counted)
    return Group(
        values[0].began,
        median(counted),
        subject_of(record),
        "" if counts else f"{doubted} of {plural(len(values), 'run')} suspect",
        len(trusted),
        ends.low,
        ends.high,
        folder=folder,
        values=tuple(values),
    )


def _unit(step: StepRecord, metric: str) -> str | None:
    declared = declared_kinds(step).get(metric)
    return declared[0] if declared else unit_and_direction(metric)[0]


# -- reading


def read_steps(
    cases: Mapping[str, RunSet], step: str | None, metrics: Sequence[str], window: Window
) -> list[Series]:
    """Read each metric of the steps of some cases, campaign by campaign and host by host.

    Args:
        cases: By title, each with the runs of one campaign.
        step: Id or name of the only step that is meant; None means all.
        metrics: Names or globs.

    Raises:
        InputError: If there is no such step or metric, or the host never measured the cases.
    """
    newest = (sample(runs, include_suspect=True) for runs in cases.values())
    known = sorted({name for steps in newest for one in steps.values() for name in one.values})
    chosen = sorted(choose_metrics(known, metrics)) or metrics
    every = [one for title, runs in cases.items() for one in _read(title, runs, chosen, window)]
    names = dict.fromkeys(name for one in every for name in (one.step, one.entry))
    about = some(cases)
    if step is not None and every and step not in names:
        raise InputError(f"no step of '{quote(about)}' is '{quote(step)}'{near(step, [*names])}")
    hosts = [str(host_of(runs) or "") for runs in cases.values()]
    refuse_host(about, window.host, hosts + [host for one in every for host in one.hosts])
    meant = [one for one in every if step in (None, one.step, one.entry)]
    found = meant if window.pooled else [of for one in meant for of in one.by_host]
    return [one for one in found if window.host in (None, *one.hosts)]


def _read(title: str, runs: RunSet, metrics: Sequence[str], window: Window) -> Iterator[Series]:
    found = _campaigns(home_of(runs.folder), partial(read_excerpt, metrics=tuple(metrics)), window)
    campaigns = list(islice(found, window.limit))
    for one in (one for metric in metrics for one in histories(campaigns, metric, title)):
        if runs.compared_as is None or one.step in runs.compared_as:
            yield replace(one, whole=len(campaigns) != window.limit)


def _campaigns(home: Path, read: Reader, window: Window) -> Iterator[Campaign]:
    for folder in with_earlier(home):
        campaign = read_campaign(folder, read)
        if (newest := campaign.newest) is None:
            continue
        if window.since is not None and newest.began < window.since:
            return
        if window.host in (None, subject_of(newest).get("host")):
            yield campaign


# -- what changed


def level_changes(found: Sequence[Series]) -> list[ChangeItem]:
    """Return what ``benchyard check`` lists of series: the changes in the newest campaigns."""
    return items_of(_moves(found), len({one.test for one in found}))


def _moves(found: Iterable[Series]) -> Iterator[StepMove]:
    for one in found:
        recent = replace(one.levels, levels=one.levels.levels[-OWN_CAMPAIGNS - 1 :])
        for move in recent.moves:
            home = home_of(groups_of(one)[-1].folder)
            yield StepMove(one.test, one.step, one.entry, one.metric, home, one.hosts[0], move)


def case_summaries(
    cases: Iterable[str], found: Sequence[Series], items: Sequence[ChangeItem]
) -> Iterator[TestSummary]:
    """Yield of each case how many campaigns there are, and the state of its levels."""
    for case in cases:
        mine = [one for one in found if one.test == case]
        groups = {group.folder: group.began for one in mine for group in groups_of(one)}
        began, whole = sorted(groups.values()), all(one.whole for one in mine)
        first, last = (began[0], began[-1]) if began else (None, None)
        told = [item for item in items if item.case == case]
        state, opened = _state(told, mine) + _overdue(began), sum(item.is_open for item in told)
        yield TestSummary(case, len(began), whole, first, last, state, opened)


def _overdue(began: Sequence[datetime]) -> str:
    """Say for how long nothing was measured, if that is three times the usual, and three days."""
    apart = [(after - before).days for before, after in pairwise(began)]
    nights = (datetime.now(UTC) - began[-1]).days if apart else 0
    long = nights > 3 * max(1, median(apart or [0]))
    return f", not measured for {plural(nights, 'night')}" if long else ""


def _state(items: Sequence[ChangeItem], found: Sequence[Series]) -> str:
    if not items:
        return next(iter(told_levels(found)), "no campaign counts")
    more = f", and {plural(len(items) - 1, 'more change')}" if items[1:] else ""
    return max(items, key=lambda one: (one.is_open, one.since)).in_short + more
