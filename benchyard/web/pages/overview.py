"""The first page, and the search."""

from fastapi import APIRouter, Request, Response

from benchyard.catalogue.query import Query
from benchyard.web.explorer import Current
from benchyard.web.rendering import day_and_time, render
from benchyard.web.tables import Cell, Column, DataTable, add_table

router = APIRouter()

_COLUMNS = (
    Column("case", "Case"),
    Column("run", "Run", figure=True),
    Column("outcome", "Outcome"),
    Column("started_s", "Began (UTC)"),
    Column("host", "Host"),
)


def runs_table(explorer: Current, q: str = "", offset: int = 0, limit: int = 50) -> DataTable:
    """Return the newest runs."""
    page = explorer.catalogue.page(Query(text=q, offset=offset, limit=limit))
    rows = [
        [
            Cell(entry.title, href=f"/run/{entry.id}"),
            Cell(entry.run),
            Cell(entry.outcome, mark="good" if entry.outcome == "completed" else "bad"),
            Cell(entry.started_s, day_and_time(entry.started_s)),
            Cell(entry.host),
        ]
        for entry in page.entries
    ]
    return DataTable("runs", f"{page.total} runs", _COLUMNS, rows, href="/runs")


@router.get("/", include_in_schema=False)
def overview(request: Request, explorer: Current, q: str = "") -> Response:
    """Show the newest runs."""
    table = runs_table(explorer, q)
    return render(request, "overview.html", title="Runs", table=table, q=q)


add_table(router, "/runs", runs_table)
