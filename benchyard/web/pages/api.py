"""What programs may ask the explorer: the addresses, and what each takes."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from benchyard.web.rendering import render
from benchyard.web.tables import Cell, Column, DataTable

router = APIRouter()

_COLUMNS = (
    Column("address", "Address"),
    Column("summary", "What it answers", wide=True),
    Column("query", "Takes", wide=True),
)


@router.get("/api", include_in_schema=False)
def api(request: Request) -> Response:
    """Show the addresses of the API."""
    paths: dict[str, Any] = request.app.openapi()["paths"]
    rows = [_row(path, offered["get"]) for path, offered in paths.items() if "get" in offered]
    table = DataTable("addresses", "Addresses", _COLUMNS, rows)
    return render(request, "api.html", title="API", table=table)


def _row(path: str, operation: Mapping[str, Any]) -> list[Cell]:
    taken = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    href = None if "{" in path else path
    return [Cell(path, href=href), Cell(operation["summary"]), Cell(", ".join(taken))]
