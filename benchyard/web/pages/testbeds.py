"""Testbeds: what they measured, what they are, how they changed, how two of them differ."""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import quote as quoted
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from benchyard.catalogue.query import EntryQuery
from benchyard.core.errors import NotFoundError
from benchyard.core.quantity import moment
from benchyard.core.table import COUNT, LONG, MOMENT, NUMBER, Cell, Column, Row
from benchyard.results.record import RunRecord
from benchyard.web.cases import name_of
from benchyard.web.explorer import Current, Explorer
from benchyard.web.rendering import render
from benchyard.web.run_tables import FINDINGS, finding_rows
from benchyard.web.tables import DataTable, add_table
from benchyard.web.testbeds import (
    Contrast,
    History,
    contrasts,
    fact_words,
    facts_of,
    find_testbed,
    history_of,
    newest_record,
    other_contrasts,
    other_facts_of,
    testbed_names,
)

router = APIRouter()

#: Hosts and cases that a page lists.
_MOST_ROWS = 200
_LISTED_FACTS = ("CPU model", "number of CPUs", "memory size", "kernel")


def testbed_href(name: str) -> str:
    """Return the page of a host."""
    return f"/testbed/{quoted(name, safe='', errors='backslashreplace')}"


# -- all of them

_TESTBEDS = (
    Column("host", "Host"),
    Column("runs", "Runs", COUNT),
    Column("cases", "Cases", COUNT),
    Column("failed", "Failed", NUMBER),
    Column("first_s", "First run (UTC)", MOMENT),
    Column("newest_s", "Newest run (UTC)", MOMENT),
    Column("cpu", "CPU"),
    Column("cpus", "CPUs", NUMBER),
    Column("memory_bytes", "Memory", NUMBER),
    Column("kernel", "Kernel"),
)


def testbeds_table(explorer: Current) -> DataTable:
    """Return the hosts that measured anything."""
    names = testbed_names(explorer.catalogue)
    more = len(names) - _MOST_ROWS
    return DataTable(
        *("testbeds", "Testbeds", _TESTBEDS),
        [_testbed(explorer, name) for name in names[:_MOST_ROWS]],
        "/testbeds",
        empty="No run of the catalogue tells of its host.",
        notes=[f"{more:,} more hosts are not listed."] if more > 0 else [],
    )


def _testbed(explorer: Explorer, name: str) -> Row:
    found = find_testbed(explorer.catalogue, name)
    return [
        Cell(name, href=testbed_href(name)),
        found.runs,
        found.cases,
        Cell(found.failed, f"{found.failed:,}", mark="bad" if found.failed else ""),
        found.first.started_s,
        found.newest.started_s,
        *_listed_facts(explorer, name),
    ]


def _listed_facts(explorer: Explorer, name: str) -> Row:
    try:
        facts = facts_of(newest_record(explorer, name))
    except NotFoundError:
        facts = {}
    return [Cell(facts.get(what), fact_words(what, facts.get(what))) for what in _LISTED_FACTS]


@router.get("/testbeds", include_in_schema=False)
def testbeds(request: Request, explorer: Current) -> Response:
    """Show the hosts that measured anything."""
    names = testbed_names(explorer.catalogue)
    table = testbeds_table(explorer)
    return render(request, "testbeds.html", title="Testbeds", table=table, names=names)


# -- one of them

_FACTS = (Column("fact", "Fact"), Column("value", "At the newest run", LONG))
_CHANGES = (
    Column("fact", "Fact"),
    Column("before", "Before", LONG),
    Column("after", "Since then", LONG),
    Column("last_s", "Last run before (UTC)", MOMENT),
    Column("first_s", "First run since (UTC)", MOMENT),
    Column("exact", "No run between"),
)
_CASES = (
    Column("case", "Case"),
    Column("runs", "Runs here", COUNT),
    Column("failed", "Failed", NUMBER),
    Column("newest_s", "Newest (UTC)", MOMENT),
)


Newest = Annotated[RunRecord, Depends(newest_record)]


def facts_table(name: str, record: Newest) -> DataTable:
    """Return the facts of a host at its newest run."""
    rows = [
        [what, Cell(value, fact_words(what, value))]
        for what, value in (facts_of(record) | other_facts_of(record)).items()
        if value is not None
    ]
    return DataTable("facts", f"{name} at its newest run", _FACTS, rows, _href(name, "facts"))


def checks_table(name: str, record: Newest) -> DataTable:
    """Return what was found of a host's fitness before its newest run, the worst first."""
    rows = finding_rows(record.preflight)
    return DataTable(
        *("checks", f"Fitness of {name} before its newest run", FINDINGS, rows),
        href=_href(name, "checks"),
        empty="Nothing was looked at before this run.",
    )


def changes_table(explorer: Current, name: str) -> DataTable:
    """Return how the facts of a host changed, the newest change first."""
    found = history_of(explorer.catalogue, name)
    rows = [
        [
            one.what,
            Cell(one.before, fact_words(one.what, one.before)),
            Cell(one.after, fact_words(one.what, one.after)),
            Cell(one.last.started_s, href=f"/run/{one.last.id}"),
            Cell(one.first.started_s, href=f"/run/{one.first.id}"),
            Cell(one.exact, "yes" if one.exact else "no"),
        ]
        for one in found.changes
    ]
    return DataTable(
        *("changes", f"How {name} changed", _CHANGES, rows, _href(name, "changes")),
        empty="Nothing changed between the runs that were read.",
        notes=_sampled(found),
    )


def _sampled(found: History) -> list[str]:
    if found.read >= found.runs:
        return []
    what = f"{found.read:,} of {found.runs:,} runs were read, at even distances and around changes"
    return [f"{what}: what changed and changed back between two of them is not seen."]


def cases_table(explorer: Current, name: str) -> DataTable:
    """Return the cases that a host measured, the one with the newest run first."""
    query = EntryQuery(hosts=(name,))
    found = explorer.catalogue.cases(query, limit=_MOST_ROWS)
    more = explorer.catalogue.count_cases(query) - _MOST_ROWS
    rows = [
        [
            Cell(case.title or case.path, name_of(case), href=f"/case/{case.id}"),
            case.runs,
            Cell(case.failed, f"{case.failed:,}", mark="bad" if case.failed else ""),
            case.newest_s,
        ]
        for case in found
    ]
    notes = [f"{more:,} more cases are not listed."] if more > 0 else []
    return DataTable(
        *("cases", f"Cases on {name}", _CASES, rows, _href(name, "cases")), notes=notes
    )


def _href(name: str, table: str) -> str:
    return f"{testbed_href(name)}/{table}"


# -- two of them


def _two(a: str, b: str, explorer: Current) -> tuple[RunRecord, RunRecord]:
    return newest_record(explorer, a), newest_record(explorer, b)


Two = Annotated[tuple[RunRecord, RunRecord], Depends(_two)]


def difference_table(a: str, b: str, records: Two) -> DataTable:
    """Return the facts of two hosts at their newest runs, those that differ first."""
    return DataTable(
        *("difference", "Facts", _difference_columns(a, b, "Why it matters")),
        [[*_contrast(one), one.because] for one in contrasts(*records)],
        "/testbeds/difference",
        query="?" + urlencode({"a": a, "b": b}),
    )


def _difference_columns(a: str, b: str, *more: str) -> list[Column]:
    return [
        Column("fact", "Fact"),
        Column("a", a, LONG),
        Column("b", b, LONG),
        *(Column("because", head, LONG) for head in more),
    ]


def _contrast(one: Contrast) -> Row:
    mark = "doubtful" if one.differs else ""
    words = [fact_words(one.what, value) for value in (one.one, one.other)]
    return [
        Cell(one.what, mark=mark),
        *(Cell(value, text) for value, text in zip((one.one, one.other), words, strict=True)),
    ]


@router.get("/testbeds/difference", include_in_schema=False)
def difference(request: Request, explorer: Current, a: str, b: str, records: Two) -> Response:
    """Show how two hosts differ."""
    others = list(other_contrasts(*records))
    rows = [_contrast(one) for one in others[:_MOST_ROWS]]
    tables = [
        difference_table(a, b, records),
        DataTable("others", "What else differs", _difference_columns(a, b), rows),
    ]
    return render(
        request,
        "testbeds_difference.html",
        title=f"{a} and {b}",
        crumbs=[("Testbeds", "/testbeds")],
        names=testbed_names(explorer.catalogue),
        chosen=(a, b),
        differing=sum(one.differs for one in contrasts(*records)),
        tables=tables,
    )


add_table(router, "/testbeds", testbeds_table)
add_table(router, "/testbeds/difference", difference_table)
for _path, _table in (
    ("facts", facts_table),
    ("changes", changes_table),
    ("checks", checks_table),
    ("cases", cases_table),
):
    add_table(router, f"/testbed/{{name:path}}/{_path}", _table)


# The last one: a name may contain a slash, so it takes in all that is left.
@router.get("/testbed/{name:path}", include_in_schema=False)
def testbed(request: Request, explorer: Current, name: str) -> Response:
    """Show one host."""
    found = find_testbed(explorer.catalogue, name)
    return render(
        request,
        "testbed.html",
        title=name,
        crumbs=[("Testbeds", "/testbeds")],
        cards=[
            ("Runs", f"{found.runs:,}", "", "/runs?" + urlencode({"host": name})),
            ("Failed", f"{found.failed:,}", "", "/failures?" + urlencode({"host": name})),
            ("Cases", f"{found.cases:,}"),
            ("First run", moment(found.first.started_s), "", f"/run/{found.first.id}"),
            ("Newest run", moment(found.newest.started_s), "", f"/run/{found.newest.id}"),
        ],
        tables=_tables_of(explorer, name),
        others=[one for one in testbed_names(explorer.catalogue) if one != name],
    )


def _tables_of(explorer: Explorer, name: str) -> Sequence[DataTable]:
    changes, cases = changes_table(explorer, name), cases_table(explorer, name)
    try:
        record = newest_record(explorer, name)
    except NotFoundError:
        return changes, cases
    return facts_table(name, record), changes, checks_table(name, record), cases
