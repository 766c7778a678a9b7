"""The tables of a case: steps, values, history, runs, points of the matrix, failures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
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
from benchyard.core.quantity import plural
from benchyard.core.table import LONG, MOMENT, NUMBER, TEXT, Cell, Field
from benchyard.show.history.series import Series
from benchyard.show.history.steps import groups_of, histories
from benchyard.show.summary_tables import CPU, MEMORY, ON_PAGE, SELDOM, Look
from benchyard.web.case_results import CaseResults, read_case
from benchyard.web.cases import address, campaign_pages, query_of, siblings_of
from benchyard.web.explorer import Current
from benchyard.web.pages.runs import RUN_FIELDS
from benchyard.web.tables import DataTable, Part, Ticks, add_table, pages_around, table_of

router = APIRouter()

#: Rows of an answer with values; runs on a page; sentences about damaged files.
_VALUES, _RUNS, _PROBLEMS = 10_000, 50, 20
Metric = Annotated[str, Query(description="Name of a metric, such as `duration_s`, or a glob.")]
Step = Annotated[str, Query(description="Id of a step; without it all are meant.")]
_Offset = Annotated[int, Query(ge=0, le=10**9)]


def metrics_of(metric: str) -> Sequence[str]:
    """Return what is read beside the duration; by default what the page shows of each step."""
    return (CPU, *MEMORY) if metric == DURATION else (metric,)


@dataclass(frozen=True)
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

    def histories(self, step: str) -> list[Series]:
        """Return the series of a step on each host, or those of each step if it is empty.

        Raises:
            InputError: If there is no such step, or the metric is a glob that means several.
        """
        chosen = [one for one in self._series if step in ("", one.step)]
        if step and self._series and not chosen:
            raise InputError(f"no step of the case is {step!r}, or has no value of {self.metric}")
        return chosen

    @cached_property
    def _series(self) -> list[Series]:
        name, *others = self.metrics
        if others:
            raise InputError(
                f"{self.metric} means {len(others) + 1} metrics, and a history shows one"
            )
        return [of for one in histories(self.results.campaigns, name) for of in one.by_host]


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

#: Of a step, the group of its runs, and a value of it.
_VALUE_FIELDS: Sequence[Field] = (
    ("step", "Step", TEXT, lambda one: Cell(one[0].step, one[0].entry)),
    ("metric", "Metric", TEXT, lambda one: one[0].metric),
    ("campaign", "Campaign", TEXT, lambda one: one[1].folder.name),
    ("run", "Run", NUMBER, lambda one: one[2].run),
    ("began", "Began (UTC)", MOMENT, lambda one: iso_utc(one[2].began)),
    ("host", "Host", TEXT, lambda one: one[1].host or None),
    ("commit", "Commit", TEXT, lambda one: one[1].commit),
    ("value", "Value", NUMBER, lambda one: Cell.measured(one[2].value, one[0].unit)),
    ("unit", None, TEXT, lambda one: one[0].unit),
    ("suspect", "Suspect", TEXT, lambda one: _suspect(suspect=one[2].suspect)),
)


def _suspect(*, suspect: bool) -> Cell:
    return Cell(suspect, "yes" * suspect, mark="doubtful" * suspect)


def values_table(shown: Shown, offset: _Offset = 0) -> DataTable:
    """Return the value of each step in each finished run of all campaigns, suspect ones too."""
    known = [one for name in shown.metrics for one in histories(shown.results.campaigns, name)]
    values = [(step, of, one) for step in known for of in groups_of(step) for one in of.values]
    part, title = Part(offset, _VALUES), f"Values of {shown.entry.title}"
    href = address(shown.entry, "values")
    table = table_of("values", title, _VALUE_FIELDS, part.of(values), href)
    query = {} if shown.metric == DURATION else {"metric": shown.metric}
    return part.told(table, len(values), query)


# -- history

#: Of a step, a group of its runs, the ratio to its group before, a link to its campaign, and its
#: place in the series.
_HISTORY: Sequence[Field] = (
    ("step", "Step", TEXT, lambda one: Cell(one[0].step, one[0].entry)),
    ("began", "Began (UTC)", MOMENT, lambda one: iso_utc(one[1].began)),
    ("host", "Testbed", TEXT, lambda one: one[1].host),
    ("runs", "Runs", NUMBER, lambda one: one[1].runs),
    ("suspect", "Suspect", NUMBER, lambda one: _doubtful(len(one[1].values) - one[1].runs)),
    ("median", "Median", NUMBER, lambda one: Cell.measured(one[1].value, one[0].unit)),
    ("low", "Low (95 %)", NUMBER, lambda one: Cell.measured(one[1].low, one[0].unit)),
    ("high", "High (95 %)", NUMBER, lambda one: Cell.measured(one[1].high, one[0].unit)),
    ("change", "Against before", NUMBER, lambda one: Cell(one[2], change(one[2]))),
    ("commit", "Commit", TEXT, lambda one: one[1].commit),
    ("changed", "What changed", LONG, lambda one: one[0].change_at(one[4])),
    ("campaign", "Campaign", TEXT, lambda one: one[3]),
)


def _doubtful(count: int | None) -> Cell:
    return Cell(count, mark="doubtful" if count else "")


def history_table(shown: Shown, step: Step = "") -> DataTable:
    """Return the medians of each step, campaign by campaign and host by host, newest first."""
    return newest_history(shown, step)


def newest_history(shown: ShownCase, step: str = "", most: int | None = None) -> DataTable:
    """Return the newest rows of the history, and a note of how many more there are."""
    pages = campaign_pages(shown.catalogue, shown.entry)
    found = [row for one in shown.histories(step) for row in _groups(shown, one, pages)]
    newest = sorted(found, key=lambda one: one[1].began, reverse=True)
    more = 0 if most is None else len(newest[most:])
    return table_of(
        *("history", "History", _HISTORY, newest[:most], address(shown.entry, "history")),
        empty="No run has a value of it.",
        query=query_of(step=step, metric=shown.metric),
        notes=[f"{more:,} more, older, in CSV and JSON."] if more else [],
    )


def _groups(
    shown: ShownCase, series: Series, pages: Mapping[str, str]
) -> Iterator[tuple[Any, ...]]:
    before: float | None = None
    for place, group in enumerate(groups_of(series)):
        change = None
        if not group.suspect:
            change, before = group.value / before if before else None, group.value
        campaign = "" if group.folder == shown.entry.results else group.folder.name
        page = Cell(campaign, campaign or "newest", pages.get(campaign))
        yield series, group, change, page, place


# -- runs, points, failures


def runs_table(shown: Usual, offset: _Offset = 0) -> DataTable:
    """Return the runs of the case, the newest first."""
    query = EntryQuery(results=(shown.entry.id,), offset=offset, limit=_RUNS)
    page, suspect = shown.catalogue.page(query), shown.results.suspect
    fields: Sequence[Field] = (
        *RUN_FIELDS[1:8],
        ("suspect_steps", "Suspect steps", NUMBER, lambda one: _doubtful(suspect.get(one.run))),
        ("id", None, TEXT, lambda one: one.id),
    )
    href = address(shown.entry, "runs")
    return table_of(
        *("runs", plural(page.total, "run"), fields, page.entries, href),
        query=f"?offset={offset}" if offset else "",
        pages=pages_around(offset, _RUNS, page.total, lambda at: f"{href}?offset={at}"),
        ticks=Ticks.of_runs([entry.id for entry in page.entries]),
    )


def points_table(explorer: Current, case_id: str) -> DataTable:
    """Return the points of the case's matrix that have runs beside it."""
    case = explorer.catalogue.case(case_id)
    siblings = siblings_of(explorer.catalogue, case)
    names = list(dict.fromkeys(name for one in siblings for name in one.point))
    fields: Sequence[Field] = (
        ("case", "Point", TEXT, lambda one: Cell(one.title, href=_beside(case, one))),
        *((f"point.{name}", name, TEXT, partial(_coordinate, name)) for name in names),
        ("runs", "Runs", NUMBER, lambda one: one.runs),
        ("failed", "Failed", NUMBER, lambda one: Cell(one.failed, mark="bad" * bool(one.failed))),
        ("newest_s", "Newest (UTC)", MOMENT, lambda one: one.newest_s),
        ("id", None, TEXT, lambda one: one.id),
    )
    return table_of(
        *("points", "Points of the matrix", fields, siblings, address(case, "points")),
        empty="The case has no matrix, or no other point has runs here.",
        ticks=Ticks([one.id for one in siblings]),
    )


def _beside(case: CaseEntry, other: CaseEntry) -> str | None:
    return None if other.id == case.id else address(other)


def _coordinate(name: str, case: CaseEntry) -> Cell:
    value = case.point.get(name)
    return Cell(value, None if value is None else plain(value))


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
