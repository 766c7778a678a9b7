"""The retry dashboard in Prefect's UI: the tables of ``benchyard failures``, of a case or a lab."""

from collections.abc import Sequence
from dataclasses import replace

from benchyard.analysis.executions import StepTry
from benchyard.analysis.failure_rates import by_fragility, troubled
from benchyard.analysis.failure_tables import (
    executions_table,
    place_of,
    rates_table,
    steps_table,
    summary,
)
from benchyard.core.model import Json
from benchyard.core.table import Table
from benchyard.core.wording import cell, some

#: What began longer ago is not shown.
DAYS = 28
#: So many executions in trouble the table has, the newest of the most fragile steps.
MOST_ROWS = 300
#: So many rows of a table a page shows.
_MOST_ON_PAGE = 60
_ERROR = 80


def retries_page(found: Sequence[StepTry], whose: str) -> str:
    """Return the page of what was executed in the last ``DAYS``.

    Args:
        whose: Title of a case, or ``the lab``.
    """
    steps = by_fragility(found)
    hosts = some(sorted({one.host for one in found}), 8)
    where = f" on {cell(hosts)}" if hosts else ""
    tables = (
        steps_table(steps, _ERROR).first(_MOST_ON_PAGE, " are shown by benchyard failures."),
        _in_trouble(found).first(_MOST_ON_PAGE, " are in the table."),
        rates_table(found),
    )
    parts = [f"# Failures and retries of {cell(whose)}\n"]
    parts += [f"The last {DAYS} days{where}: {summary(steps)}.\n"]
    parts += [f"## {table.title}\n\n{table.markdown()}" for table in tables if table.rows]
    return "\n".join(parts)


def retries_rows(found: Sequence[StepTry]) -> list[Json]:
    """Return the rows of the table artifact, whose cells the UI renders as Markdown each."""
    table = _in_trouble(found)
    alone = [replace(one, kind=replace(one.kind, markdown=cell)) for one in table.columns]
    rows = replace(table, columns=alone).markdown_rows()
    return [dict[str, Json](zip(table.heads, row, strict=True)) for row in rows]


def _in_trouble(found: Sequence[StepTry]) -> Table:
    listed = troubled(by_fragility(found))[:MOST_ROWS]
    return executions_table(listed, _ERROR, run_href=lambda one: place_of(one.flow_run))
