"""The tables of a case's page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchyard.analysis import failure_tables as tables
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.wording import change
from benchyard.analysis.failure_rates import Fragile
from benchyard.catalogue.entry import CaseEntry
from benchyard.core.clock import iso_utc
from benchyard.core.model import Json, JsonObject, plain
from benchyard.core.quantity import amount, shorten
from benchyard.core.table import LONG, MOMENT, NUMBER, Cell, Column, Row
from benchyard.show.history.steps import Group, StepHistory
from benchyard.show.steps_table import ON_PAGE, SELDOM, Look
from benchyard.web.case_links import address, query_of
from benchyard.web.tables import DataTable, Ticks

Document = Mapping[str, Any]
#: What the catalogue knows of a case, in the order of documents.
_TOLD = "id", "title", "case", "point", "path", "tags", "hosts", "runs", "failed", "newest_s"


def case_document(case: CaseEntry) -> JsonObject:
    """Return what the catalogue knows of a case, as a JSON object."""
    told: JsonObject = {name: getattr(case, name) for name in _TOLD}
    return {**told, "point": dict(case.point), "tags": [*case.tags], "hosts": [*case.hosts]}


# -- steps


def steps_table(case: CaseEntry, summary: Document, metrics: Sequence[str]) -> DataTable:
    """Return the medians of each step, of the metrics that are named."""

    def href(step: Document, metric: str) -> str | None:
        return (
            address(case) + query_of(step=step["id"], metric=metric) if step["measured"] else None
        )

    wanted = () if list(metrics) == [DURATION] else metrics
    table = Look(wanted, ON_PAGE).table(summary["steps"], str, href)
    return (
        DataTable.of(table, address(case, "steps"))
        .hiding(["unit", "advice"])
        .hiding_unknown(SELDOM)
    )


def advice(summary: Document) -> list[str]:
    """Return what to do for better numbers, each with the steps that it is about."""
    found: dict[str, list[str]] = {}
    for step in summary["steps"]:
        for text in step.get("advice") or ():
            found.setdefault(text, []).append(step["name"])
    return [f"{shorten(', '.join(steps), 80)}: {text}" for text, steps in found.items()]


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


def history_table(
    case: CaseEntry,
    found: Sequence[StepHistory],
    pages: Mapping[str, str],
    query: str,
    most: int | None = None,
) -> DataTable:
    """Return a row for each group of runs of each step, the newest first.

    Args:
        pages: Name of a campaign to its page.
        most: At most so many rows; None is all.
    """
    every = [row for step in found for row in _history_rows(case, step, pages)]
    began = [column.key for column in _HISTORY_COLUMNS].index("began")
    rows = sorted(every, key=lambda row: str(row[began]), reverse=True)
    table = DataTable(
        *("history", "History", _HISTORY_COLUMNS, rows, address(case, "history")),
        empty="No run has a value of it.",
        query=query,
    )
    return table if most is None else table.first(most, ", older, in CSV and JSON.")


def _history_rows(case: CaseEntry, step: StepHistory, pages: Mapping[str, str]) -> Iterator[Row]:
    before: dict[str, float] = {}
    rows: list[Row] = []
    for group in step.groups:
        usual = before.get(group.host)
        change = group.median / usual if usual and group.median is not None else None
        rows.append(_history_row(case, step, group, change, pages))
        if group.median is not None:
            before[group.host] = group.median
    yield from reversed(rows)


def _history_row(
    case: CaseEntry,
    step: StepHistory,
    group: Group,
    ratio: float | None,
    pages: Mapping[str, str],
) -> Row:
    amounts = (group.median, group.interval.low, group.interval.high)
    suspect = len(group.values) - group.counted
    campaign = "" if group.folder == case.results else group.folder.name
    return [
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


# -- points of the matrix


def points_table(case: CaseEntry, siblings: Sequence[CaseEntry]) -> DataTable:
    """Return the points of the case's matrix that have runs beside it."""
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
            *(_parameter(one.point.get(name)) for name in names),
            one.runs,
            Cell(one.failed, mark="bad" if one.failed else ""),
            one.newest_s,
            one.id,
        ]
        for one in siblings
    ]
    empty = "The case has no matrix, or no other point has runs here."
    href = address(case, "points")
    return DataTable(
        *("points", "Points of the matrix", columns, rows, href),
        empty=empty,
        ticks=Ticks([one.id for one in siblings]),
    )


def _parameter(value: Json) -> Cell:
    return Cell(value, None if value is None else plain(value))


# -- failures


def failures_table(case: CaseEntry, steps: Iterable[Fragile], notes: Sequence[str]) -> DataTable:
    """Return the steps in which anything failed, the most fragile first."""
    found = tables.steps_table(steps, tables.ON_PAGE).without(("case",))
    shown = DataTable.of(found, address(case, "failures"))
    empty = "Nothing failed, and nothing was retried."
    return replace(
        shown, name="failures", title="Failures", notes=[*found.notes, *notes], empty=empty
    )
