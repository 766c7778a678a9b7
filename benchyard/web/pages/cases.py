"""The cases that have results."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from benchyard.catalogue.entry import CaseEntry
from benchyard.core.model import Json
from benchyard.core.quantity import plural
from benchyard.core.table import MOMENT, NUMBER, TEXT, Cell, Field
from benchyard.web.cases import address, case_document, name_of
from benchyard.web.explorer import Current, Explorer
from benchyard.web.rendering import csv_answer, document_of, json_answer, render
from benchyard.web.searching import MOST_ROWS, Filters, Search, search_of
from benchyard.web.tables import DataTable, Ticks, pages_around, table_of

router = APIRouter()


def _failed(case: CaseEntry) -> Cell:
    return Cell(case.failed, mark="bad" if case.failed else "quiet")


_FIELDS: Sequence[Field] = (
    ("title", "Case", TEXT, lambda one: Cell(one.title, name_of(one), f"/case/{one.id}")),
    ("runs", "Runs", NUMBER, lambda one: Cell(one.runs, href=f"/runs?results={one.id}")),
    ("failed", "Failed", NUMBER, _failed),
    ("newest_s", "Newest (UTC)", MOMENT, lambda one: one.newest_s),
    ("hosts", "Hosts", TEXT, lambda one: ", ".join(one.hosts)),
    ("tags", "Tags", TEXT, lambda one: ", ".join(one.tags)),
    ("path", "Results", TEXT, lambda one: Cell(one.path, mark="quiet")),
    ("id", None, TEXT, lambda one: one.id),
)
#: The order in which the head of a column shows the cases first.
_ORDERS = {"title": "title", "path": "path"} | {
    key: f"-{key}" for key in ("runs", "failed", "newest_s")
}
Order = Literal[
    "title", "-title", "runs", "-runs", "failed", "-failed", "newest_s", "-newest_s", "path",
    "-path", "newest", "-newest",
]  # fmt: skip


class CaseFilters(Filters):
    """Which cases, by their runs, and in what order."""

    sort: Order = "-newest_s"


async def _asked(request: Request, filters: Annotated[CaseFilters, Query()]) -> Search:
    # The shorter name is an older one.
    order = filters.sort + "_s" * filters.sort.endswith("newest")
    return search_of(request, filters, replace(filters.query(), sort=order))


_Asked = Annotated[Search, Depends(_asked)]


def _cases(explorer: Explorer, search: Search) -> tuple[Sequence[CaseEntry], int]:
    """Return a page of the cases, and how many there are."""
    query, catalogue = search.query, explorer.catalogue
    asked, limit = replace(query, sort="-started_s"), query.limit or MOST_ROWS
    if query.sort == "-newest_s":
        shown = catalogue.cases(asked, offset=query.offset, limit=limit)
        return shown, catalogue.count_cases(asked)
    found = catalogue.cases(asked)
    order = attrgetter(query.sort.removeprefix("-"))
    ordered = sorted(found, key=order, reverse=query.sort.startswith("-"))
    return ordered[query.offset : query.offset + limit], len(found)


def _table(explorer: Explorer, search: Search) -> DataTable:
    shown, total = _cases(explorer, search)
    offset, limit = search.query.offset, search.query.limit or total
    table = table_of(
        *("cases", plural(total, "case"), _FIELDS, shown, "/cases"),
        empty="No case with results was found.",
        pages=pages_around(offset, limit, total, lambda at: search.address(offset=[str(at)])),
        ticks=Ticks([case.id for case in shown]),
    )
    return search.sortable(table, _ORDERS)


@router.get("/cases.csv", summary="Cases as CSV")
def cases_csv(explorer: Current, search: _Asked) -> Response:
    """Answer with the cases that are asked for."""
    return csv_answer(_table(explorer, search).csv())


@router.get(
    "/cases.json", summary="Cases as JSON", responses=document_of("total", "looking", "cases")
)
def cases_json(explorer: Current, search: _Asked) -> Response:
    """Answer with the cases that are asked for."""
    shown, total = _cases(explorer, search)
    documents: list[Json] = [
        {**case_document(case), "root": str(case.root), "href": address(case)} for case in shown
    ]
    return json_answer({"total": total, "looking": explorer.looks_first, "cases": documents})


@router.get("/cases", include_in_schema=False)
def cases(request: Request, explorer: Current, search: _Asked) -> Response:
    """Show the cases that are asked for."""
    table = _table(explorer, search)
    return render(request, "cases.html", title="Cases", table=table, search=search)
