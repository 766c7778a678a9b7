"""What failed and was retried, the most fragile steps first, as ``benchyard failures`` has it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from benchyard.analysis import failure_tables as tables
from benchyard.analysis.executions import Collected, StepTry, collect_recent, executions
from benchyard.analysis.failure_rates import (
    Fragile,
    by_fragility,
    troubled,
)
from benchyard.analysis.failure_tables import (
    document,
    summary,
)
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry, identified
from benchyard.catalogue.query import EntryQuery
from benchyard.core.amounts import parse_since
from benchyard.core.clock import iso_utc
from benchyard.core.errors import NotFoundError
from benchyard.core.model import Outcome
from benchyard.core.quantity import moment, plural
from benchyard.core.table import Table
from benchyard.results.attempts import RunAttempt
from benchyard.results.folders import run_folder
from benchyard.web.explorer import Current, Explorer
from benchyard.web.rendering import json_answer, render
from benchyard.web.tables import DataTable, add_table

#: Runs that are looked at, newest cases first: reading the log of so many takes about 0.2 s.
MOST_RUNS = 3_000
#: Records that are read where no log tells of a run: about 1 ms each.
MOST_RECORDS = 300
SINCE = "30d"


@dataclass(frozen=True, slots=True)
class Found:
    """What was tried since a moment.

    Args:
        executions: In the order in which they began.
        steps: The most fragile first.
        left_out: A sentence for each thing that was not looked at.
    """

    since: datetime
    collected: Collected
    executions: Sequence[StepTry]
    steps: Sequence[Fragile]
    left_out: Sequence[str]
    _cases: dict[tuple[str, int, str], CaseEntry] = field(repr=False)

    def run_href(self, one: StepTry) -> str:
        """Return the page of the run of an execution, as it is now: it may have been done again."""
        return f"/run/{identified(run_folder(self._case(one).results, one.run))}"

    def case_href(self, one: StepTry) -> str:
        """Return the page of the case of an execution."""
        return f"/case/{self._case(one).id}"

    def _case(self, one: StepTry) -> CaseEntry:
        return self._cases[one.case, one.run, one.started_at]


def beginning(text: str) -> datetime:
    """Read since when failures count; of days and weeks the first one counts whole (UTC).

    Raises:
        InputError: If it is no date and no length of time.
    """
    moment = parse_since(text, datetime.now(UTC))
    whole_days = text.strip()[-1:] in ("d", "w")
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) if whole_days else moment


def find_failures(catalogue: Catalogue, query: EntryQuery) -> Found:
    """Read what was tried.

    Args:
        query: Which runs; with ``since_s``.
    """
    since = datetime.fromtimestamp(query.since_s or 0.0, UTC)
    cases = catalogue.cases(query)
    chosen = _newest(cases)
    reading = _Reading(catalogue, query, since)
    for case in chosen:
        reading.read(case)
    tries = sorted(reading.tries, key=lambda one: one.began)
    collected = Collected(tuple(tries), tuple(reading.problems))
    found = list(executions(tries))
    left_out = [*_unread(cases[len(chosen) :]), *reading.unread]
    return Found(since, collected, found, by_fragility(found), left_out, reading.cases)


def _newest(cases: Sequence[CaseEntry]) -> list[CaseEntry]:
    chosen: list[CaseEntry] = []
    for case in cases:
        if chosen and sum(one.runs for one in chosen) + case.runs > MOST_RUNS:
            break
        chosen.append(case)
    return chosen


def _unread(cases: Sequence[CaseEntry]) -> Iterable[str]:
    if cases:
        runs = plural(sum(case.runs for case in cases), "run")
        what = f"{plural(len(cases), 'case')} with {runs}"
        yield f"{what} not looked at: only the newest cases with up to {MOST_RUNS:,} runs are"


class _Reading:
    """Reads case by case, and counts the records that it reads."""

    def __init__(self, catalogue: Catalogue, query: EntryQuery, since: datetime) -> None:
        self._catalogue, self._query, self._since = catalogue, query, since
        self._records = self._missed = 0
        self.tries = list[RunAttempt]()
        self.problems = list[str]()
        self.cases = dict[tuple[str, int, str], CaseEntry]()

    def read(self, case: CaseEntry) -> None:
        """Read what was tried of one case."""
        found = collect_recent(
            *(case.results, self._since, case.runs),
            lambda known: self._others(case, known),
        )
        hosts = self._query.hosts
        for one in found.tries:
            if not hosts or one.host in hosts:
                self.tries.append(one)
                self.cases[one.case, one.run, one.started_at] = case
        self.problems += found.problems

    def _others(self, case: CaseEntry, known: set[int]) -> list[int]:
        """Return the newest runs that are not known, as many as may still be read."""
        left = MOST_RECORDS - self._records
        asked = replace(self._query, results=(case.id,), limit=len(known) + left)
        entries = self._catalogue.page(asked).entries if left else ()
        numbers = [one.run for one in entries if one.run and one.run not in known][:left]
        self._records += len(numbers)
        self._missed += case.runs - len(known) - len(numbers)
        return numbers

    @property
    def unread(self) -> Iterable[str]:
        """What was not read."""
        if self._missed:
            runs = f"{plural(self._missed, 'run')} of which no log tells"
            yield f"{runs} not looked at: only the records of {MOST_RECORDS} are read"


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
