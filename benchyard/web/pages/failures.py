"""What failed and was retried, the most fragile steps first, as ``benchyard failures`` has it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from benchyard.analysis import failure_tables as tables
from benchyard.analysis.failure_rates import (
    troubled,
)
from benchyard.analysis.failure_tables import (
    document,
    summary,
)
from benchyard.catalogue.query import EntryQuery
from benchyard.core.clock import iso_utc
from benchyard.core.errors import NotFoundError
from benchyard.core.model import Outcome
from benchyard.core.quantity import moment, plural
from benchyard.core.table import Table
from benchyard.web.explorer import Current, Explorer
from benchyard.web.failures import SINCE, Found, beginning, find_failures
from benchyard.web.rendering import json_answer, render
from benchyard.web.tables import DataTable, add_table

router = APIRouter()

#: Rows of a table of executions or reasons on the page; their CSV and JSON have all.
_MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class FailureFilter:
    """Which failures are asked for, as it stands in an address."""

    since: str
    case: str
    host: str

    def query(self) -> str:
        """Return the parameters as they stand in an address, with ``?``; empty for none."""
        given = {"since": self.since, "case": self.case, "host": self.host}
        usual = {"since": SINCE, "case": "", "host": ""}
        text = urlencode({name: text for name, text in given.items() if text != usual[name]})
        return f"?{text}" if text else ""

    def find(self, explorer: Explorer) -> Found:
        """Read the failures.

        Raises:
            InputError: If the time is none.
        """
        hosts = (self.host,) if self.host else ()
        query = EntryQuery(since_s=beginning(self.since).timestamp(), hosts=hosts)
        return find_failures(explorer.catalogue, self._of_case(explorer, query))

    def _of_case(self, explorer: Explorer, query: EntryQuery) -> EntryQuery:
        """Return the same for the case, which is given by its id or its name."""
        if not self.case:
            return query
        try:
            return replace(query, results=(explorer.catalogue.case(self.case).id,))
        except NotFoundError:
            return replace(query, cases=(self.case,))


def _chosen(since: str = SINCE, case: str = "", host: str = "") -> FailureFilter:
    return FailureFilter(since.strip() or SINCE, case.strip(), host.strip())


AskedFor = Annotated[FailureFilter, Depends(_chosen)]


def _found(explorer: Current, chosen: AskedFor) -> Found:
    return chosen.find(explorer)


Failures = Annotated[Found, Depends(_found)]

# -- tables


def _steps(found: Failures) -> Table:
    return tables.steps_table(found.steps, tables.ON_PAGE, found.case_href)


def _reasons(found: Failures) -> Table:
    return tables.reasons_table(found.executions, found.run_href)


def _executions(found: Failures) -> Table:
    newest = sorted(troubled(found.steps), key=lambda one: one.began, reverse=True)
    table = tables.executions_table(newest, 200, found.case_href, found.run_href)
    note = "A link leads to the run as it is now; it may have been done again since."
    return replace(table, notes=[note])


def _rates(found: Failures) -> Table:
    return tables.rates_table(found.executions)


# -- the page


@router.get("/failures.json", summary="Failures, the document of benchyard failures --json")
def as_json(found: Failures) -> Response:
    """Return the document of ``benchyard failures --json``."""
    return json_answer(document(found.collected, iso_utc(found.since), lambda _: None))


_TABLES = {"steps": _steps, "reasons": _reasons, "executions": _executions, "rates": _rates}


def _add(name: str, make: Callable[[Found], Table]) -> None:
    def table(found: Failures, chosen: AskedFor) -> DataTable:
        return DataTable.of(make(found), f"/failures/{name}", chosen.query())

    add_table(router, f"/failures/{name}", table)


for _name, _make in _TABLES.items():
    _add(_name, _make)


@router.get("/failures", include_in_schema=False)
def page(request: Request, found: Failures, chosen: AskedFor) -> Response:
    """Show what failed and was retried."""
    first, *others = (
        DataTable.of(make(found), f"/failures/{name}", chosen.query()).first(
            _MOST_ROWS, " in the CSV and JSON."
        )
        for name, make in _TABLES.items()
    )
    going = sum(one.under_way for one in found.collected.tries)
    under_way = [f"{plural(going, 'run')} under way, not counted"] if going else []
    return render(
        request,
        "failures.html",
        title="Failures",
        chosen=chosen,
        since=moment(found.since),
        summary=summary(found.steps),
        mark=_mark(found),
        left_out=[*found.left_out, *under_way],
        problems=found.collected.problems,
        tables=[first, *(table for table in others if table.rows)],
    )


def _mark(found: Found) -> str:
    """Return the mark of the worst ending."""
    trouble = troubled(found.steps)
    lost = any(one.outcome not in (Outcome.COMPLETED, Outcome.TOLERATED) for one in trouble)
    return "bad" if lost else "doubtful" if trouble else "good"
