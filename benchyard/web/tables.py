"""Tables of a page, which are also served alone: as HTML, CSV and JSON at the same address."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from markupsafe import Markup

from benchyard.core.json_text import encoded
from benchyard.core.model import Json
from benchyard.core.table import csv_text
from benchyard.web.rendering import as_html, csv_answer, json_answer, render


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Args:
        key: Its name in JSON and CSV; with the unit, as in ``median_s``.
        head: What people read.
        figure: Whether it is aligned to the right.
        wide: Whether its texts may be long, and are broken into lines.
        href: Where the head leads, such as to the table in the order of this column.
        order: ``ascending`` or ``descending`` if the rows are in its order.
        hidden: Whether only programs read it, in JSON and CSV.
    """

    key: str
    head: str
    figure: bool = False
    wide: bool = False
    href: str | None = None
    order: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    Args:
        value: In JSON and CSV, unrounded.
        text: What people read; None writes the value.
        href: Where it leads.
        mark: Class that colours it: ``good``, ``bad``, ``doubtful`` or ``quiet``.
    """

    value: Json
    text: str | None = None
    href: str | None = None
    mark: str = ""

    @property
    def shown(self) -> str:
        """What people read; a dash where nothing is known."""
        if self.text is not None:
            return self.text
        return "-" if self.value is None else str(self.value)


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

    def cells(self, rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
        """Yield the boxes of each row as HTML."""
        for value, row in zip(self.values, rows, strict=False):
            told = as_html(f"{row[0].shown} {row[1].shown}")
            yield "".join(
                f'<td><input type="checkbox" name="{as_html(name)}" value="{as_html(value)}" '
                f'aria-label="{as_html(head)}: {told}"></td>'
                for name, head in self.boxes
            )


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table.

    Args:
        name: Last part of its address, without suffix.
        caption: What it shows.
        href: Its own address without suffix; empty if it has none.
        empty: What is said if there is no row.
        notes: Sentences below it.
        query: What follows its addresses, with ``?``, so that the CSV holds what the page shows.
        pages: Text and address of the pages before and after it.
        ticks: Boxes to choose rows for a comparison; None has none.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    href: str = ""
    empty: str = "There is nothing here."
    notes: Sequence[str] = ()
    query: str = ""
    pages: Sequence[tuple[str, str]] = ()
    ticks: Ticks | None = None

    def for_people(self) -> "DataTable":
        """Return it without the columns that only programs read."""
        kept = [place for place, column in enumerate(self.columns) if not column.hidden]
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows)

    @property
    def body(self) -> Markup:
        """Its rows as HTML; every text is escaped. A template takes several times as long."""
        starts = self.ticks.cells(self.rows) if self.ticks else repeat("")
        written = (
            f"<tr>{start}{''.join(map(_cell, self.columns, row))}</tr>\n"
            for start, row in zip(starts, self.rows, strict=False)
        )
        return Markup("".join(written))  # noqa: S704 - all parts are escaped

    def hiding(self, keys: Collection[str]) -> "DataTable":
        """Return it with these columns for programs alone."""
        hidden = [replace(one, hidden=one.hidden or one.key in keys) for one in self.columns]
        return replace(self, columns=hidden)

    def records(self) -> list[dict[str, Json]]:
        """Return a mapping of keys to values for each row."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, (cell.value for cell in row), strict=True)) for row in self.rows]

    def csv(self, *, head: bool = True) -> str:
        """Return it as CSV; see ``csv_text``."""
        heads = [[column.key for column in self.columns]] if head else []
        return csv_text(chain(heads, ([_flat(cell.value) for cell in row] for row in self.rows)))


def _cell(column: Column, cell: Cell) -> str:
    """Return a cell as HTML."""
    words = ("figure" * column.figure, "wide" * column.wide, cell.mark)
    told = as_html(" ".join(filter(None, words)))
    shown = as_html(cell.shown)
    inner = f'<a href="{as_html(cell.href)}">{shown}</a>' if cell.href else shown
    return f'<td class="{told}">{inner}</td>' if told else f"<td>{inner}</td>"


def _flat(value: Json) -> Json:
    """Return what CSV has for a value: of a list or mapping its JSON."""
    return encoded(value) if isinstance(value, dict | list) else value


_SCHEMA = {"type": "array", "items": {"type": "object"}}
_ROWS = {200: {"content": {"application/json": {"schema": _SCHEMA}}}}


def add_table(router: APIRouter, path: str, table: Callable[..., DataTable]) -> None:
    """Serve a table at ``path`` as a page, at ``path.csv`` and at ``path.json``.

    Args:
        table: Makes it, with the arguments of an endpoint of FastAPI.
    """
    made = Depends(table)

    def page(request: Request, shown: Any = made) -> Response:
        return render(request, "table.html", title=shown.caption, table=shown)

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
