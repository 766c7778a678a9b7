"""What failed and was retried, the most fragile steps first, as ``benchyard failures`` has it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from benchyard.analysis.executions import StepTry
from benchyard.analysis.failure_rates import (
    WEEK,
    Bucket,
    Fragile,
    by_reason,
    least_rate,
    most_rate,
    rates,
    suiting,
    troubled,
)
from benchyard.analysis.failure_wording import (
    document,
    endings,
    first_and_last,
    outcome_word,
    said,
    summary,
)
from benchyard.catalogue.query import Query
from benchyard.core.clock import iso_utc
from benchyard.core.errors import NotFoundError
from benchyard.core.model import Outcome
from benchyard.core.quantity import day_and_time, duration, moment, percent, plural
from benchyard.core.table import LONG, NUMBER, Cell, Column
from benchyard.core.wording import some
from benchyard.web.explorer import Current, Explorer
from benchyard.web.failures import SINCE, Found, beginning, find_failures
from benchyard.web.rendering import json_answer, outcome_mark, render
from benchyard.web.tables import DataTable, add_table

router = APIRouter()

#: Rows of a table of executions or reasons on the page; their CSV and JSON have all.
_MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class Chosen:
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
        query = Query(since_s=beginning(self.since).timestamp(), hosts=hosts)
        return find_failures(explorer.catalogue, self._of_case(explorer, query))

    def _of_case(self, explorer: Explorer, query: Query) -> Query:
        """Return the same for the case, which is given by its id or its name."""
        if not self.case:
            return query
        try:
            return replace(query, results=(explorer.catalogue.case(self.case).id,))
        except NotFoundError:
            return replace(query, cases=(self.case,))


def _chosen(since: str = SINCE, case: str = "", host: str = "") -> Chosen:
    return Chosen(since.strip() or SINCE, case.strip(), host.strip())


AskedFor = Annotated[Chosen, Depends(_chosen)]


def _found(explorer: Current, chosen: AskedFor) -> Found:
    return chosen.find(explorer)


Failures = Annotated[Found, Depends(_found)]

# -- steps

_RATE = (
    Column("executions", "Executed", NUMBER),
    Column("troubled", "Trouble", NUMBER),
    Column("rate", "Rate", NUMBER),
    Column("least_rate", "From", NUMBER),
    Column("most_rate", "To", NUMBER),
    Column("attempts", "Attempts", NUMBER),
    Column("failed_attempts", "Failed", NUMBER),
)
_STEPS = (
    Column("step", "Step"),
    Column("case", "Case"),
    *_RATE,
    Column("endings", "Ended"),
    Column("last_error", "Last error", LONG),
)


def steps_table(found: Failures, chosen: AskedFor) -> DataTable:
    """Return the steps in trouble, the most fragile first."""
    rows = [
        [
            Cell(step.step),
            Cell(step.case, href=found.case_href(step.troubled[-1])),
            *_rate(step),
            Cell(endings(step)),
            Cell(said(step.troubled[-1].last_error, 300)),
        ]
        for step in found.steps
        if step.troubled
    ]
    return DataTable(
        *("steps", "Fragile steps", _STEPS, rows, "/failures/steps"),
        empty="No step was in trouble.",
        notes=["From and to: the rates that so many executions leave likely (95 %, Wilson)."],
        query=chosen.query(),
    )


def _rate(one: Fragile | Bucket) -> list[Cell]:
    some = one.troubled if isinstance(one, Bucket) else len(one.troubled)
    every = one.executions
    low, high = (least_rate(some, every), most_rate(some, every)) if every else (None, None)
    return [
        Cell(every, f"{every:,}"),
        Cell(some, f"{some:,}", mark="bad" if some else ""),
        *(Cell(rate, "-" if rate is None else percent(rate)) for rate in (one.rate, low, high)),
        Cell(one.attempts, f"{one.attempts:,}"),
        Cell(one.failed_attempts, f"{one.failed_attempts:,}"),
    ]


# -- reasons

_REASONS = (
    Column("reason", "Reason", LONG),
    Column("executions", "Executions", NUMBER),
    Column("steps", "Steps"),
    Column("hosts", "Hosts"),
    Column("first", "First (UTC)"),
    Column("last", "Last (UTC)"),
)


def reasons_table(found: Failures, chosen: AskedFor) -> DataTable:
    """Return why executions got into trouble, the most frequent reason first."""
    rows = [
        [
            Cell(reason),
            Cell(len(several), f"{len(several):,}"),
            Cell(_some([f"{one.case} {one.step}" for one in several])),
            Cell(_some([one.host for one in several])),
            _moment(several[0]),
            _moment(several[-1], found.run_href(several[-1])),
        ]
        for reason, several in by_reason(found.executions)
    ]
    return DataTable(
        *("reasons", "Reasons", _REASONS, rows, "/failures/reasons"), query=chosen.query()
    )


def _some(names: Sequence[str]) -> str:
    return some(dict.fromkeys(filter(None, names)))


def _moment(one: StepTry, href: str | None = None) -> Cell:
    return Cell(one.started_at, day_and_time(one.began), href)


# -- executions

_EXECUTIONS = (
    Column("started_at", "Began (UTC)"),
    Column("case", "Case"),
    Column("run", "Run", NUMBER),
    Column("step", "Step"),
    Column("host", "Host"),
    Column("attempts", "Attempts", NUMBER),
    Column("ended", "Ended"),
    Column("duration_s", "Took", NUMBER),
    Column("first_error", "First error", LONG),
    Column("last_error", "Last error", LONG),
)


def executions_table(found: Failures, chosen: AskedFor) -> DataTable:
    """Return the executions in trouble, the newest first."""
    newest = sorted(troubled(found.steps), key=lambda one: one.began, reverse=True)
    rows = [_execution(found, one) for one in newest]
    return DataTable(
        *("executions", "Executions in trouble", _EXECUTIONS, rows, "/failures/executions"),
        query=chosen.query(),
        notes=["A link leads to the run as it is now; it may have been done again since."],
    )


def _execution(found: Found, one: StepTry) -> list[Cell]:
    first, last = first_and_last(one, 200)
    mark = "doubtful" if one.recovered else outcome_mark(one.outcome) if one.outcome else "bad"
    return [
        _moment(one),
        Cell(one.case, href=found.case_href(one)),
        Cell(one.run, href=found.run_href(one)),
        Cell(one.step),
        Cell(one.host),
        Cell(one.attempts),
        Cell(outcome_word(one), mark=mark),
        Cell(one.duration_s, duration(one.duration_s)),
        Cell(first),
        Cell(last),
    ]


# -- days


def rates_table(found: Failures, chosen: AskedFor) -> DataTable:
    """Return the rate of each day, or of each week where there are more than three."""
    every = suiting(found.executions)
    first = Column("first", "Week from" if every == WEEK else "Day")
    rows = [
        [Cell(one.first.isoformat()), *_rate(one)]
        for one in reversed(rates(found.executions, every))
        if one.executions
    ]
    caption = "By week" if every == WEEK else "By day"
    return DataTable(
        *("rates", caption, (first, *_RATE), rows, "/failures/rates"), query=chosen.query()
    )


# -- the page


@router.get("/failures.json", summary="Failures, the document of benchyard failures --json")
def as_json(found: Failures) -> Response:
    """Return the document of ``benchyard failures --json``."""
    return json_answer(document(found.collected, iso_utc(found.since), lambda _: None))


_TABLES = {
    "steps": steps_table,
    "reasons": reasons_table,
    "executions": executions_table,
    "rates": rates_table,
}
for _path, _table in _TABLES.items():
    add_table(router, f"/failures/{_path}", _table)


@router.get("/failures", include_in_schema=False)
def page(request: Request, found: Failures, chosen: AskedFor) -> Response:
    """Show what failed and was retried."""
    first, *others = (_short(make(found, chosen)) for make in _TABLES.values())
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


def _short(table: DataTable) -> DataTable:
    more = len(table.rows) - _MOST_ROWS
    if more <= 0:
        return table
    notes = [f"{more:,} more in the CSV and JSON.", *table.notes]
    return replace(table, rows=table.rows[:_MOST_ROWS], notes=notes)
