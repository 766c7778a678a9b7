"""What failed and was retried, the most fragile steps first, as ``benchyard failures`` has it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict

from benchyard.analysis import failure_tables as tables
from benchyard.analysis.executions import Collected, StepTry, collect_recent, executions
from benchyard.analysis.failure_rates import by_fragility, troubled
from benchyard.analysis.failure_tables import document, summary
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry, identified
from benchyard.catalogue.query import EntryQuery
from benchyard.core.amounts import parse_since
from benchyard.core.clock import iso_utc
from benchyard.core.errors import NotFoundError
from benchyard.core.model import Outcome
from benchyard.core.quantity import moment, plural
from benchyard.core.table import Table
from benchyard.results.folders import run_folder
from benchyard.web.explorer import Current
from benchyard.web.rendering import json_answer, render
from benchyard.web.tables import DataTable, add_table

router = APIRouter()

#: Runs that are looked at, newest cases first: reading the log of so many takes about 0.2 s.
MOST_RUNS = 3_000
#: Records that are read where no log tells of a run: about 1 ms each.
MOST_RECORDS = 300
SINCE = "30d"
#: Rows of a table of executions or reasons on the page; their CSV and JSON have all.
_MOST_ROWS = 50


class FailureFilter(BaseModel):
    """Which failures are asked for, as it stands in an address."""

    model_config = ConfigDict(str_strip_whitespace=True)

    since: str = SINCE
    case: str = ""
    host: str = ""

    def query(self) -> str:
        """Return the parameters as they stand in an address, with ``?``; empty for none."""
        given = self.model_dump(exclude_defaults=True).items()
        text = urlencode({name: text for name, text in given if text})
        return f"?{text}" if text else ""


Filter = Annotated[FailureFilter, Query()]


def beginning(text: str) -> datetime:
    """Read since when failures count; of days and weeks the first one counts whole (UTC).

    Raises:
        InputError: If it is no date and no length of time.
    """
    since = parse_since(text, datetime.now(UTC))
    whole_days = text[-1:] in ("d", "w")
    return since.replace(hour=0, minute=0, second=0, microsecond=0) if whole_days else since


class RecentFailures:
    """What was tried since a moment.

    Attributes:
        collected: The tries, in the order in which they began, and what could not be read.
        executions: Of steps, in the same order.
        steps: The most fragile first.
        left_out: A sentence for each thing that was not looked at.
    """

    def __init__(self, catalogue: Catalogue, since: datetime, query: EntryQuery) -> None:
        self.since = since
        self._catalogue, self._query = catalogue, query
        self._cases = dict[tuple[str, int, str], CaseEntry]()
        self._records = self._missed = 0
        cases = catalogue.cases(query)
        totals = accumulate(case.runs for case in cases)
        chosen = max(1, sum(total <= MOST_RUNS for total in totals))
        found = [self._collect(case) for case in cases[:chosen]]
        tries = sorted((one for some in found for one in some.tries), key=lambda one: one.began)
        problems = (problem for some in found for problem in some.problems)
        self.collected = Collected(tuple(tries), tuple(problems))
        self.executions = list(executions(tries))
        self.steps = by_fragility(self.executions)
        self.left_out = list(self._unread(cases[chosen:]))

    def _collect(self, case: CaseEntry) -> Collected:
        found = collect_recent(
            *(case.results, self.since, case.runs),
            lambda known: self._others(case, known),
        )
        hosts = self._query.hosts
        tries = tuple(one for one in found.tries if not hosts or one.host in hosts)
        self._cases |= {(one.case, one.run, one.started_at): case for one in tries}
        return replace(found, tries=tries)

    def _others(self, case: CaseEntry, known: set[int]) -> list[int]:
        """Return the newest runs that are not known, as many as may still be read."""
        left = MOST_RECORDS - self._records
        asked = replace(self._query, results=(case.id,), limit=len(known) + left)
        entries = self._catalogue.page(asked).entries if left else ()
        numbers = [one.run for one in entries if one.run and one.run not in known][:left]
        self._records += len(numbers)
        self._missed += case.runs - len(known) - len(numbers)
        return numbers

    def _unread(self, cases: Sequence[CaseEntry]) -> Iterator[str]:
        if cases:
            runs = plural(sum(case.runs for case in cases), "run")
            what = f"{plural(len(cases), 'case')} with {runs}"
            yield f"{what} not looked at: only the newest cases with up to {MOST_RUNS:,} runs are"
        if self._missed:
            runs = f"{plural(self._missed, 'run')} of which no log tells"
            yield f"{runs} not looked at: only the records of {MOST_RECORDS} are read"
        if going := sum(one.under_way for one in self.collected.tries):
            yield f"{plural(going, 'run')} under way, not counted"

    def run_href(self, one: StepTry) -> str:
        """Return the page of the run of an execution, as it is now: it may have been done again."""
        return f"/run/{identified(run_folder(self._case(one).results, one.run))}"

    def case_href(self, one: StepTry) -> str:
        """Return the page of the case of an execution."""
        return f"/case/{self._case(one).id}"

    def _case(self, one: StepTry) -> CaseEntry:
        return self._cases[one.case, one.run, one.started_at]


def _found(explorer: Current, chosen: Filter) -> RecentFailures:
    since = beginning(chosen.since or SINCE)
    hosts = (chosen.host,) if chosen.host else ()
    query = EntryQuery(since_s=since.timestamp(), hosts=hosts)
    if chosen.case:
        try:
            query = replace(query, results=(explorer.catalogue.case(chosen.case).id,))
        except NotFoundError:  # it is a name
            query = replace(query, cases=(chosen.case,))
    return RecentFailures(explorer.catalogue, since, query)


Found = Annotated[RecentFailures, Depends(_found)]

# -- tables


def _executions(found: RecentFailures) -> Table:
    newest = sorted(troubled(found.steps), key=lambda one: one.began, reverse=True)
    table = tables.executions_table(newest, 200, found.case_href, found.run_href)
    note = "A link leads to the run as it is now; it may have been done again since."
    return replace(table, notes=[note])


_TABLES: Mapping[str, Callable[[RecentFailures], Table]] = {
    "steps": lambda found: tables.steps_table(found.steps, tables.ON_PAGE, found.case_href),
    "reasons": lambda found: tables.reasons_table(found.executions, found.run_href),
    "executions": _executions,
    "rates": lambda found: tables.rates_table(found.executions),
}


def _endpoint(name: str, make: Callable[[RecentFailures], Table]) -> Callable[..., DataTable]:
    def table(found: Found, chosen: Filter) -> DataTable:
        return DataTable.of(make(found), f"/failures/{name}", chosen.query())

    return table


for _name, _make in _TABLES.items():
    add_table(router, f"/failures/{_name}", _endpoint(_name, _make))


# -- the page


@router.get("/failures.json", summary="Failures, the document of benchyard failures --json")
def as_json(found: Found) -> Response:
    """Return the document of ``benchyard failures --json``."""
    return json_answer(document(found.collected, iso_utc(found.since), None))


@router.get("/failures", include_in_schema=False)
def page(request: Request, found: Found, chosen: Filter) -> Response:
    """Show what failed and was retried."""
    made = (_endpoint(name, make)(found, chosen) for name, make in _TABLES.items())
    first, *others = (table.first(_MOST_ROWS, " in the CSV and JSON.") for table in made)
    return render(
        request,
        "failures.html",
        title="Failures",
        chosen=chosen,
        since=moment(found.since),
        summary=summary(found.steps),
        mark=_mark(found),
        left_out=found.left_out,
        problems=found.collected.problems,
        tables=[first, *(table for table in others if table.rows)],
    )


def _mark(found: RecentFailures) -> str:
    """Return the mark of the worst ending."""
    trouble = troubled(found.steps)
    lost = any(one.outcome not in (Outcome.COMPLETED, Outcome.TOLERATED) for one in trouble)
    return "bad" if lost else "doubtful" if trouble else "good"
