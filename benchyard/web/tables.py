"""Tables of a page, which are also served alone: as HTML, CSV and JSON at the same address."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from markupsafe import Markup

from benchyard.core.table import Table, html_text
from benchyard.web.rendering import csv_answer, json_answer, render


@dataclass(frozen=True, slots=True)
class Ticks:
    """Boxes before the rows, to choose what is compared.

    Args:
        values: What each row stands for: the id of a case or run.
        boxes: Parameter in the address, and head, of each box of a row.
        button: What is done with those that are ticked.
    """

    values: Sequence[str]
    boxes: Sequence[tuple[str, str]] = (("side", "Compare"),)
    button: str = "Compare what is ticked"

    @classmethod
    def of_runs(cls, ids: Sequence[str]) -> "Ticks":
        """Return boxes for two sides, each of all runs that are ticked for it."""
        return cls(ids, (("a", "A"), ("b", "B")), "Compare B with A")

    def starts(self, table: Table) -> Iterator[str]:
        """Yield the HTML of the tick boxes: of the head, then of each row."""
        yield "".join(f'<th scope="col">{html_text(head)}</th>' for _, head in self.boxes)
        for value, row in zip(self.values, table.texts(), strict=False):
            named = html_text(f"{row[0]} {row[1]}")
            yield "".join(
                f'<td><input type="checkbox" name="{html_text(name)}" value="{html_text(value)}" '
                f'aria-label="{html_text(head)}: {named}"></td>'
                for name, head in self.boxes
            )


@dataclass(frozen=True, slots=True)
class DataTable(Table):
    """A table of a page.

    Args:
        href: Its own address without suffix; empty if it has none.
        query: What follows its addresses, with ``?``, so that the CSV holds what the page shows.
        pages: Text and address of the pages before and after it.
        ticks: Boxes to choose rows for a comparison; None has none.
    """

    href: str = ""
    query: str = field(default="", kw_only=True)
    pages: Sequence[tuple[str, str]] = field(default=(), kw_only=True)
    ticks: Ticks | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, table: Table, href: str = "", query: str = "") -> "DataTable":
        """Return a table with its addresses."""
        shown = cls(table.name, table.title, table.columns, table.rows, href, query=query)
        return replace(shown, notes=table.notes, empty=table.empty)

    @property
    def body(self) -> Markup:
        """Its head and rows as HTML; every text is escaped."""
        starts = self.ticks.starts(self) if self.ticks else ()
        return Markup(self.html(starts))  # noqa: S704 - all parts are escaped


table_of = DataTable.of_things

_SCHEMA = {"type": "array", "items": {"type": "object"}}
_ROWS = {200: {"content": {"application/json": {"schema": _SCHEMA}}}}


def add_table(router: APIRouter, path: str, table: Callable[..., DataTable]) -> None:
    """Serve a table at ``path`` as a page, at ``path.csv`` and at ``path.json``.

    Args:
        table: Makes it, with the arguments of an endpoint of FastAPI.
    """
    made = Depends(table)

    def page(request: Request, shown: Any = made) -> Response:
        return render(request, "table.html", title=shown.title, table=shown)

    def as_csv(shown: Any = made) -> Response:
        return csv_answer(shown.csv())

    def as_json(shown: Any = made) -> Response:
        return json_answer(shown.records())

    name = path.strip("/").replace("/", " ").replace(":path", "")
    # The suffixes first: a parameter at the end of the path would take them in.
    router.add_api_route(f"{path}.csv", as_csv, methods=["GET"], summary=f"{name} as CSV")
    told: dict[str, Any] = {"summary": f"{name} as JSON", "responses": _ROWS}
    router.add_api_route(f"{path}.json", as_json, methods=["GET"], **told)
    router.add_api_route(path, page, methods=["GET"], include_in_schema=False)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """Which rows.

    Args:
        offset: Rows to skip.
        limit: At most so many.
    """

    offset: Annotated[int, Query(ge=0, le=10**9)] = 0
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100

    def of(self, things: Iterable[T]) -> list[T]:
        """Return this part of what rows are made of."""
        return list(islice(things, self.offset, self.offset + self.limit))

    def told(
        self, table: DataTable, total: int, query: Mapping[str, Any] | None = None
    ) -> DataTable:
        """Return a table that has this part of its rows already, with links to the other parts.

        Args:
            total: How many rows there are.
            query: What else chooses the rows.
        """
        last = self.offset + len(table.rows)
        pages = pages_around(
            self.offset, self.limit, total, lambda at: table.href + self._asked(at, query)
        )
        said = f"Rows {self.offset + 1:,} to {last:,} of {total:,}."
        return replace(
            table,
            pages=pages,
            notes=[*table.notes, said] if pages and table.rows else table.notes,
            query=self._asked(self.offset, query) if pages or query else "",
        )

    def _asked(self, offset: int, query: Mapping[str, Any] | None) -> str:
        told = {**(query or {}), "offset": offset, "limit": self.limit}
        return f"?{urlencode(told, doseq=True)}"


def pages_around(
    offset: int, limit: int, total: int, at: Callable[[int], str]
) -> list[tuple[str, str]]:
    """Return text and address of the pages before and after one, as far as there are any.

    Args:
        at: Returns the address of the page from an offset on.
    """
    before = [("Previous", at(max(0, offset - limit)))] if offset else []
    return before + ([("Next", at(offset + limit))] if offset + limit < total else [])


#: As an argument of an endpoint: which rows are asked for.
AskedPart = Annotated[Part, Depends()]
