"""The tables of a case: steps, values, history, runs, points of the matrix, failures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from benchyard.analysis import failure_tables as tables
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import choose_metrics
from benchyard.analysis.comparison.wording import change
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry
from benchyard.catalogue.query import EntryQuery
from benchyard.core.clock import iso_utc
from benchyard.core.errors import InputError
from benchyard.core.model import plain
from benchyard.core.quantity import amount, plural
from benchyard.core.table import LONG, MOMENT, NUMBER, Cell, Column, Row
from benchyard.show.history.steps import StepHistory, histories
from benchyard.show.steps_table import CPU, MEMORY, ON_PAGE, SELDOM, Look
from benchyard.web.case_results import CaseResults, read_case
from benchyard.web.cases import address, campaign_pages, query_of, siblings_of
from benchyard.web.explorer import Current
from benchyard.web.pages.runs import RUN_COLUMNS, TOLD_OF_RUN, entry_row
from benchyard.web.tables import DataTable, Part, Ticks, add_table, pages_around

router = APIRouter()

#: Rows of an answer with values; runs on a page; sentences about damaged files.
_VALUES, _RUNS, _PROBLEMS = 10_000, 50, 20
Metric = Annotated[str, Query(description="Name of a metric, such as `duration_s`, or a glob.")]
Step = Annotated[str, Query(description="Id of a step; without it all are meant.")]
_Offset = Annotated[int, Query(ge=0, le=10**9)]


def metrics_of(metric: str) -> Sequence[str]:
    """Return what is read beside the duration; by default what the page shows of each step."""
    return (CPU, *MEMORY) if metric == DURATION else (metric,)


@dataclass(frozen=True, slots=True)
class ShownCase:
    """A case with its results.

    Args:
        entry: What the catalogue knows of it.
        results: Read with the metric.
        metric: Name or glob.
    """

    catalogue: Catalogue
    entry: CaseEntry
    results: CaseResults
    metric: str

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics that are shown.

        Raises:
            InputError: If there are none.
        """
        return sorted(choose_metrics(self.results.known_metrics, [self.metric]))

    def histories(self, step: str) -> list[StepHistory]:
        """Return the history of a step, or of each if it is empty.

        Raises:
            InputError: If there is no such step, or the metric is a glob that means several.
        """
        name, *others = self.metrics
        if others:
            raise InputError(
                f"{self.metric} means {len(others) + 1} metrics, and a history shows one"
            )
        every = histories(self.results.campaigns, name)
        chosen = [one for one in every if step in ("", one.id)]
        if step and every and not chosen:
            raise InputError(f"no step of the case is {step!r}, or it has no value of {name}")
        return chosen


def shown_case(explorer: Current, case_id: str, metric: Metric = DURATION) -> ShownCase:
    """Find a case, and read its results.

    Raises:
        InputError: If it does not know the metric.
    """
    entry = explorer.catalogue.case(case_id)
    shown = ShownCase(explorer.catalogue, entry, read_case(entry, *metrics_of(metric)), metric)
    _ = shown.metrics
    return shown


def _usual(explorer: Current, case_id: str) -> ShownCase:
    return shown_case(explorer, case_id)


#: As an argument of an endpoint: the case, with the metric of the address; with the duration.
Shown = Annotated[ShownCase, Depends(shown_case)]
Usual = Annotated[ShownCase, Depends(_usual)]


def steps_table(shown: Shown) -> DataTable:
    """Return the medians of each step."""
    case, names = shown.entry, shown.metrics

    def href(step: Mapping[str, Any], metric: str) -> str | None:
        query = query_of(step=step["id"], metric=metric)
        return address(case) + query if step["measured"] else None

    look = Look(() if names == [DURATION] else names, ON_PAGE)
    table = look.table(shown.results.summary["steps"], str, href)
    made = DataTable.of(table, address(case, "steps"), query_of(metric=shown.metric))
    return made.hiding(["unit", "advice"]).hiding_unknown(SELDOM)


# -- values

_VALUE_COLUMNS = (
    Column("step", "Step"),
    Column("metric", "Metric"),
    Column("campaign", "Campaign"),
    Column("run", "Run", NUMBER),
    Column("began", "Began (UTC)", MOMENT),
    Column("host", "Host"),
    Column("commit", "Commit"),
    Column("value", "Value", NUMBER),
    Column("unit"),
    Column("suspect", "Suspect"),
)


def values_table(shown: Shown, offset: _Offset = 0) -> DataTable:
    """Return the value of each step in each finished run of all campaigns, suspect ones too."""
    known = [one for name in shown.metrics for one in histories(shown.results.campaigns, name)]
    rows = [row for step in known for row in _value_rows(step)]
    part, case = Part(offset, _VALUES), shown.entry
    title, href = f"Values of {case.title}", address(case, "values")
    table = DataTable("values", title, _VALUE_COLUMNS, part.of(rows), href)
    query = {} if shown.metric == DURATION else {"metric": shown.metric}
    return part.told(table, len(rows), query)


def _value_rows(step: StepHistory) -> Iterator[Row]:
    for group in step.groups:
        for one in group.values:
            yield [
                Cell(step.id, step.name),
                step.metric,
                group.folder.name,
                one.run,
                iso_utc(one.began),
                group.host or None,
                group.commit,
                Cell(one.value, amount(one.value, step.unit)),
                step.unit,
                Cell(one.suspect, "yes" * one.suspect, mark="doubtful" * one.suspect),
            ]


# -- history

_HISTORY_COLUMNS = (
    Column("step", "Step"),
    Column("began", "Began (UTC)", MOMENT),
    Column("host", "Testbed"),
    Column("runs", "Runs", NUMBER),
    Column("suspect", "Suspect", NUMBER),
    Column("median", "Median", NUMBER),
    Column("low", "Low (95 %)", NUMBER),
    Column("high", "High (95 %)", NUMBER),
    Column("change", "Against before", NUMBER),
    Column("commit", "Commit"),
    Column("changed", "What changed", LONG),
    Column("campaign", "Campaign"),
)


def history_table(shown: Shown, step: Step = "") -> DataTable:
    """Return the medians of each step, campaign by campaign and host by host, newest first."""
    pages = campaign_pages(shown.catalogue, shown.entry)
    rows = [row for one in shown.histories(step) for row in _history_rows(shown, one, pages)]
    return DataTable(
        *("history", "History", _HISTORY_COLUMNS),
        sorted(rows, key=lambda row: str(row[1]), reverse=True),
        address(shown.entry, "history"),
        empty="No run has a value of it.",
        query=query_of(step=step, metric=shown.metric),
    )


def _history_rows(shown: ShownCase, step: StepHistory, pages: Mapping[str, str]) -> Iterator[Row]:
    before: dict[str, float] = {}
    for group in step.groups:
        usual, median = before.get(group.host), group.median
        ratio = median / usual if usual and median is not None else None
        if median is not None:
            before[group.host] = median
        suspect = len(group.values) - group.counted
        campaign = "" if group.folder == shown.entry.results else group.folder.name
        amounts = (median, group.interval.low, group.interval.high)
        yield [
            Cell(step.id, step.name),
            iso_utc(group.began),
            group.host,
            group.counted,
            Cell(suspect, mark="doubtful" if suspect else ""),
            *(Cell(value, amount(value, step.unit)) for value in amounts),
            Cell(ratio, change(ratio)),
            group.commit,
            group.change or None,
            Cell(campaign, campaign or "newest", pages.get(campaign)),
        ]


# -- runs, points, failures

_RUN_COLUMNS = (
    *RUN_COLUMNS[TOLD_OF_RUN],
    Column("suspect_steps", "Suspect steps", NUMBER),
    Column("id"),
)


def runs_table(shown: Usual, offset: _Offset = 0) -> DataTable:
    """Return the runs of the case, the newest first."""
    query = EntryQuery(results=(shown.entry.id,), offset=offset, limit=_RUNS)
    page, suspect = shown.catalogue.page(query), shown.results.suspect
    rows = [
        [
            *entry_row(entry)[TOLD_OF_RUN],
            Cell(found := suspect.get(entry.run or 0), mark="doubtful" if found else ""),
            entry.id,
        ]
        for entry in page.entries
    ]
    href = address(shown.entry, "runs")
    return DataTable(
        *("runs", plural(page.total, "run"), _RUN_COLUMNS, rows, href),
        query=f"?offset={offset}" if offset else "",
        pages=pages_around(offset, _RUNS, page.total, lambda at: f"{href}?offset={at}"),
        ticks=Ticks.of_runs([entry.id for entry in page.entries]),
    )


def points_table(explorer: Current, case_id: str) -> DataTable:
    """Return the points of the case's matrix that have runs beside it."""
    case = explorer.catalogue.case(case_id)
    siblings = siblings_of(explorer.catalogue, case)
    names = list(dict.fromkeys(name for one in siblings for name in one.point))
    columns = [
        Column("case", "Point"),
        *(Column(f"point.{name}", name) for name in names),
        Column("runs", "Runs", NUMBER),
        Column("failed", "Failed", NUMBER),
        Column("newest_s", "Newest (UTC)", MOMENT),
        Column("id"),
    ]
    rows = [
        [
            Cell(one.title, href=None if one.id == case.id else address(one)),
            *(Cell(x := one.point.get(name), None if x is None else plain(x)) for name in names),
            one.runs,
            Cell(one.failed, mark="bad" if one.failed else ""),
            one.newest_s,
            one.id,
        ]
        for one in siblings
    ]
    return DataTable(
        *("points", "Points of the matrix", columns, rows, address(case, "points")),
        empty="The case has no matrix, or no other point has runs here.",
        ticks=Ticks([one.id for one in siblings]),
    )


def failures_table(shown: Usual) -> DataTable:
    """Return the steps that failed or were retried, over all campaigns, the most fragile first."""
    steps, problems = shown.results.fragile
    found = tables.steps_table(steps, tables.ON_PAGE).without(("case",))
    return replace(
        DataTable.of(found, address(shown.entry, "failures")),
        name="failures",
        title="Failures",
        notes=[*found.notes, *(f"Left out: {one}" for one in problems[:_PROBLEMS])],
        empty="Nothing failed, and nothing was retried.",
    )


add_table(router, "/case/{case_id}/steps", steps_table)
add_table(router, "/case/{case_id}/values", values_table)
add_table(router, "/case/{case_id}/history", history_table)
add_table(router, "/case/{case_id}/runs", runs_table)
add_table(router, "/case/{case_id}/points", points_table)
add_table(router, "/case/{case_id}/failures", failures_table)
