"""What each run of a case yielded, step by step: a row for each value, for data frames."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query

from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import choose_metrics
from benchyard.core.clock import iso_utc
from benchyard.core.quantity import amount
from benchyard.core.table import MOMENT, NUMBER, Cell, Column, Row
from benchyard.show.history.steps import Group, StepHistory, Value, histories
from benchyard.web.case_links import address
from benchyard.web.case_results import read_case
from benchyard.web.explorer import Current
from benchyard.web.paging import Part
from benchyard.web.tables import DataTable, add_table

router = APIRouter()

#: Rows of an answer.
_MOST_ROWS = 10_000
_COLUMNS = (
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


def values(
    explorer: Current,
    case_id: str,
    metric: Annotated[str, Query(description="Name of a metric, or a glob.")] = DURATION,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> DataTable:
    """Return the value of each step in each finished run of all campaigns, suspect ones too."""
    case = explorer.catalogue.case(case_id)
    found = read_case(case, metric)
    names = sorted(choose_metrics(found.known_metrics, [metric]))
    told = [one for name in names for one in histories(found.campaigns, name)]
    rows = [(step, group, one) for step in told for group, one in _values(step)]
    part = Part(offset, _MOST_ROWS)
    made = [_row(*row) for row in part.among(rows)]
    table = DataTable("values", f"Values of {case.title}", _COLUMNS, made, address(case, "values"))
    return part.told(table, len(rows), {"metric": metric} if metric != DURATION else {})


def _values(step: StepHistory) -> Iterator[tuple[Group, Value]]:
    return ((group, value) for group in step.groups for value in group.values)


def _row(step: StepHistory, group: Group, one: Value) -> Row:
    return [
        Cell(step.id, step.name),
        step.metric,
        group.folder.name,
        one.run,
        iso_utc(one.began),
        group.host or None,
        group.commit,
        Cell(one.value, amount(one.value, step.unit)),
        step.unit,
        Cell(one.suspect, "yes" if one.suspect else "", mark="doubtful" if one.suspect else ""),
    ]


add_table(router, "/case/{case_id}/values", values)
