"""Testbeds: what they measured, what they are, how they changed, how two of them differ."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated
from urllib.parse import quote as quoted
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from benchyard.analysis.comparison.control import control_campaigns, health
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import RUNS, CaseEntry, Entry
from benchyard.catalogue.query import EntryQuery
from benchyard.core.errors import NotFoundError
from benchyard.core.model import Json, Outcome
from benchyard.core.table import COUNT, LONG, MOMENT, NUMBER, TEXT, Cell, Column, Field, Row
from benchyard.core.wording import quote
from benchyard.results.record import RunRecord
from benchyard.web.cases import name_of
from benchyard.web.explorer import Current
from benchyard.web.rendering import render
from benchyard.web.report.comparisons import fact_words
from benchyard.web.run_tables import findings_table
from benchyard.web.tables import DataTable, add_table, table_of
from benchyard.web.testbeds import (
    FactHistory,
    contrasts,
    differ,
    facts_of,
    newest_record,
    other_contrasts,
    other_facts_of,
)

router = APIRouter()

#: Hosts and cases that a page lists.
_MOST_ROWS = 200
_LISTED_FACTS = ("CPU model", "number of CPUs", "memory size", "kernel")
_CRUMBS = [("Testbeds", "/testbeds")]


def _href(name: str, table: str = "") -> str:
    page = f"/testbed/{quoted(name, safe='', errors='backslashreplace')}"
    return f"{page}/{table}" if table else page


def _names(catalogue: Catalogue) -> list[str]:
    """Return the names of all hosts that executed runs, sorted."""
    return sorted(name for name in catalogue.values("host", EntryQuery(formats=RUNS)) if name)


def _failed(count: int, href: str | None = None) -> Cell:
    return Cell(count, f"{count:,}", href, "bad" if count else "")


def _fact(what: str, value: Json) -> Cell:
    return Cell(value, fact_words(what, value))


def _began(run: Entry) -> Cell:
    return Cell(run.started_s, href=f"/run/{run.id}")


def _titled(case: CaseEntry) -> Cell:
    return Cell(case.title or case.path, name_of(case), href=f"/case/{case.id}")


# -- all of them

#: What a host measured.
_MEASURED = (
    Column("runs", "Runs", COUNT),
    Column("cases", "Cases", COUNT),
    Column("failed", "Failed", NUMBER),
    Column("first_s", "First run (UTC)", MOMENT),
    Column("newest_s", "Newest run (UTC)", MOMENT),
)
_TESTBEDS = (
    Column("host", "Host"),
    *_MEASURED,
    Column("cpu", "CPU"),
    Column("cpus", "CPUs", NUMBER),
    Column("memory_bytes", "Memory", NUMBER),
    Column("kernel", "Kernel"),
)


def testbeds_table(explorer: Current) -> DataTable:
    """Return the hosts that measured anything."""
    names = _names(explorer.catalogue)
    more = len(names) - _MOST_ROWS
    return DataTable(
        *("testbeds", "Testbeds", _TESTBEDS),
        [_testbed(explorer, name) for name in names[:_MOST_ROWS]],
        "/testbeds",
        empty="No run of the catalogue tells of its host.",
        notes=[f"{more:,} more hosts are not listed."] if more > 0 else [],
    )


def _testbed(explorer: Current, name: str) -> Row:
    try:
        facts = facts_of(newest_record(explorer, name))
    except NotFoundError:
        facts = {}
    listed = (_fact(what, facts.get(what)) for what in _LISTED_FACTS)
    return [Cell(name, href=_href(name)), *_measured(explorer.catalogue, name), *listed]


def _measured(catalogue: Catalogue, name: str) -> Sequence[Cell]:
    """Return the cells of what a host measured.

    Raises:
        NotFoundError: If it measured nothing.
    """
    query = EntryQuery(hosts=(name,), limit=1)
    newest = catalogue.page(query)
    if not newest.entries:
        raise NotFoundError(f"no run of the catalogue is of a host '{quote(name)}'")
    first = catalogue.page(replace(query, sort="started_s"))
    broken = replace(query, outcomes=(Outcome.FAILED, Outcome.TIMED_OUT))
    ends = (found.entries[0] for found in (first, newest))
    return [
        Cell(newest.total, href="/runs?" + urlencode({"host": name})),
        Cell(catalogue.count_cases(query)),
        _failed(catalogue.page(broken).total, "/failures?" + urlencode({"host": name})),
        *map(_began, ends),
    ]


@router.get("/testbeds", include_in_schema=False)
def testbeds(request: Request, explorer: Current) -> Response:
    """Show the hosts that measured anything."""
    table, names = testbeds_table(explorer), _names(explorer.catalogue)
    return render(request, "testbeds.html", title="Testbeds", table=table, names=names)


# -- one of them

_FACTS: Sequence[Field] = (
    ("fact", "Fact", TEXT, lambda one: one[0]),
    ("value", "At the newest run", LONG, lambda one: _fact(*one)),
)
_CHANGES: Sequence[Field] = (
    ("fact", "Fact", TEXT, lambda one: one.what),
    ("before", "Before", LONG, lambda one: _fact(one.what, one.before)),
    ("after", "Since then", LONG, lambda one: _fact(one.what, one.after)),
    ("last_s", "Last run before (UTC)", MOMENT, lambda one: _began(one.last)),
    ("first_s", "First run since (UTC)", MOMENT, lambda one: _began(one.first)),
    ("exact", "No run between", TEXT, lambda one: Cell(one.exact, "yes" if one.exact else "no")),
)
_CASES: Sequence[Field] = (
    ("case", "Case", TEXT, _titled),
    ("runs", "Runs here", COUNT, lambda one: one.runs),
    ("failed", "Failed", NUMBER, lambda one: _failed(one.failed)),
    ("newest_s", "Newest (UTC)", MOMENT, lambda one: one.newest_s),
)
Newest = Annotated[RunRecord, Depends(newest_record)]


def facts_table(name: str, record: Newest) -> DataTable:
    """Return the facts of a host at its newest run."""
    every = (facts_of(record) | other_facts_of(record)).items()
    known, title = [one for one in every if one[1] is not None], f"{name} at its newest run"
    return table_of("facts", title, _FACTS, known, _href(name, "facts"))


def checks_table(name: str, record: Newest) -> DataTable:
    """Return what was found of a host's fitness before its newest run, the worst first."""
    title = f"Fitness of {name} before its newest run"
    return findings_table(title, record, _href(name, "checks"))


def control_table(name: str) -> list[DataTable]:
    """Return what the control case tells of a host; nothing if it was never executed there."""
    field: Field = ("health", "Newest campaign", LONG, lambda one: one)
    said = health(control_campaigns(name))
    return [table_of("control", f"Control case of {name}", [field], said)] if said else []


def changes_table(explorer: Current, name: str) -> DataTable:
    """Return how the facts of a host changed, the newest change first."""
    found = FactHistory(explorer.catalogue, name)
    sampled = (
        f"{found.read:,} of {found.runs:,} runs were read, at even distances and around changes: "
        "what changed and changed back between two of them is not seen."
    )
    return table_of(
        *("changes", f"How {name} changed", _CHANGES, found.changes, _href(name, "changes")),
        empty="Nothing changed between the runs that were read.",
        notes=[sampled] if found.read < found.runs else [],
    )


def cases_table(explorer: Current, name: str) -> DataTable:
    """Return the cases that a host measured, the one with the newest run first."""
    query = EntryQuery(hosts=(name,))
    found = explorer.catalogue.cases(query, limit=_MOST_ROWS)
    more = explorer.catalogue.count_cases(query) - _MOST_ROWS
    return table_of(
        *("cases", f"Cases on {name}", _CASES, found, _href(name, "cases")),
        notes=[f"{more:,} more cases are not listed."] if more > 0 else [],
    )


# -- two of them


def _two(a: str, b: str, explorer: Current) -> tuple[RunRecord, RunRecord]:
    return newest_record(explorer, a), newest_record(explorer, b)


Two = Annotated[tuple[RunRecord, RunRecord], Depends(_two)]


def difference_table(a: str, b: str, records: Two) -> DataTable:
    """Return the facts of two hosts at their newest runs, those that differ first."""
    because: Field = ("because", "Why it matters", LONG, lambda one: one[3])
    fields = [*_contrast(a, b), because]
    query, found = "?" + urlencode({"a": a, "b": b}), contrasts(*records)
    return table_of("difference", "Facts", fields, found, "/testbeds/difference", query=query)


def _contrast(a: str, b: str) -> Sequence[Field]:
    return (
        ("fact", "Fact", TEXT, lambda one: Cell(one[0], mark="doubtful" * differ(*one[1:3]))),
        ("a", a, LONG, lambda one: _fact(one[0], one[1])),
        ("b", b, LONG, lambda one: _fact(one[0], one[2])),
    )


@router.get("/testbeds/difference", include_in_schema=False)
def difference(request: Request, explorer: Current, a: str, b: str, records: Two) -> Response:
    """Show how two hosts differ."""
    others = other_contrasts(*records)[:_MOST_ROWS]
    return render(
        request,
        "testbeds_difference.html",
        title=f"{a} and {b}",
        crumbs=_CRUMBS,
        names=_names(explorer.catalogue),
        chosen=(a, b),
        differing=sum(differ(one, other) for _, one, other, _ in contrasts(*records)),
        tables=[
            difference_table(a, b, records),
            table_of("others", "What else differs", _contrast(a, b), others),
        ],
    )


add_table(router, "/testbeds", testbeds_table)
add_table(router, "/testbeds/difference", difference_table)
add_table(router, "/testbed/{name:path}/facts", facts_table)
add_table(router, "/testbed/{name:path}/changes", changes_table)
add_table(router, "/testbed/{name:path}/checks", checks_table)
add_table(router, "/testbed/{name:path}/cases", cases_table)


# The last one: a name may contain a slash, so it takes in all that is left.
@router.get("/testbed/{name:path}", include_in_schema=False)
def testbed(request: Request, explorer: Current, name: str) -> Response:
    """Show one host."""
    measured = _measured(explorer.catalogue, name)
    changes, cases = changes_table(explorer, name), cases_table(explorer, name)
    control = control_table(name)
    tables = [*control, changes, cases]
    with suppress(NotFoundError):
        record = newest_record(explorer, name)
        tables = [facts_table(name, record), *control, changes, checks_table(name, record), cases]
    return render(
        request,
        "testbed.html",
        title=name,
        crumbs=_CRUMBS,
        cards=[
            (column.head, cell.shown(column.kind), "", cell.href)
            for column, cell in zip(_MEASURED, measured, strict=True)
        ],
        tables=tables,
        others=[one for one in _names(explorer.catalogue) if one != name],
    )
