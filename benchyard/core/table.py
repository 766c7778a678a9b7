"""Tables, written for the terminal, as Markdown, HTML, CSV and JSON; texts are escaped here alone.

Whoever makes a table returns plain values; the kind of a column says how people read them.
"""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import escape
from itertools import chain, repeat
from typing import Any, Self, TypeAlias

from benchyard.core.json_text import encoded
from benchyard.core.model import Json
from benchyard.core.quantity import UNKNOWN, amount, day_and_time, duration, number, percent
from benchyard.core.wording import code, inline, printable


@dataclass(frozen=True, slots=True)
class Kind:
    """What the values of a column are.

    Args:
        write: Returns what people read of a value that is not None.
        right: Whether it is aligned to the right.
        long: Whether texts may be long, and are broken into lines on a page.
        markdown: Escapes a text for Markdown.
    """

    write: Callable[[Any], str] = str
    right: bool = False
    long: bool = False
    markdown: Callable[[str], str] = inline


def _moment(value: Any) -> str:
    with suppress(ValueError):
        return day_and_time(datetime.fromisoformat(value) if isinstance(value, str) else value)
    return str(value)


def _number(value: Any) -> str:
    return number(value, 4) if isinstance(value, float) else str(value)


TEXT = Kind()
LONG = Kind(long=True)
CODE = Kind(markdown=code)
#: Texts that are Markdown already.
MARKDOWN = Kind(markdown=str)
NUMBER = Kind(_number, right=True)
COUNT = Kind("{:,}".format, right=True)
SECONDS = Kind(duration, right=True)
BYTES = Kind(lambda value: amount(value, "B"), right=True)
SHARE = Kind(percent, right=True)
#: ISO 8601, or seconds since 1970; people read UTC, which the head says.
MOMENT = Kind(_moment)

#: Mark to the sign that stands for its colour in Markdown.
SIGNS = {"bad": "❌ ", "good": "✅ "}


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Args:
        key: Its name in JSON and CSV, with the unit: ``median_s``; empty: for people only.
        head: What people read; None: for programs only.
        kind: Of its values.
        href: Where the head leads, such as to the table in the order of this column.
        order: ``ascending`` or ``descending`` if the rows are in its order.
    """

    key: str
    head: str | None = None
    kind: Kind = TEXT
    href: str | None = None
    order: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with what the kind of its column does not say.

    Args:
        value: In JSON and CSV, unrounded.
        text: What people read; None: as the kind of the column writes the value.
        href: Where it leads.
        mark: ``good``, ``bad``, ``changed``, ``doubtful`` or ``quiet``, which colours it.
    """

    value: Json
    text: str | None = None
    href: str | None = None
    mark: str = ""

    @classmethod
    def measured(cls, value: float | None, unit: str | None) -> "Cell":
        """Return a cell with a value that people read in a unit."""
        return cls(value, amount(value, unit))

    def shown(self, kind: Kind = TEXT) -> str:
        """Return what people read in a column of a kind."""
        if self.text is not None:
            return self.text
        return UNKNOWN if self.value is None else kind.write(self.value)


#: A plain value is a cell of its own.
Value: TypeAlias = "Cell | Json"
Row = Sequence[Value]
#: Key, head and kind of a column, and what it tells of the thing that a row is of.
Field: TypeAlias = tuple[str, str | None, Kind, Callable[[Any], Value]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values below headed columns.

    Args:
        name: Of the table in addresses.
        title: What it shows.
        columns: Those with a key are what programs read, those with a head what people do.
        rows: Of each as many cells as there are columns; a plain value is a cell of its own.
        notes: Sentences below it.
        empty: What is said if there is no row.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = field(default=(), kw_only=True)
    empty: str = field(default="There is nothing here.", kw_only=True)

    @classmethod
    def of_things(
        cls,
        name: str,
        title: str,
        fields: Sequence[Field],
        things: Iterable[Any],
        *others: Any,
        **named: Any,
    ) -> Self:
        """Return a table with a row for each thing.

        Args:
            others: What else a table of this class takes, by place; ``named`` by name.
        """
        columns = [Column(key, head, kind) for key, head, kind, _ in fields]
        rows = [[value(one) for *_, value in fields] for one in things]
        return cls(name, title, columns, rows, *others, **named)

    @property
    def heads(self) -> list[str]:
        """The heads that people read."""
        return [column.head for column in self.columns if column.head is not None]

    def without(self, names: Collection[str]) -> Self:
        """Return the table without the columns of these keys or heads."""
        kept = [
            place
            for place, column in enumerate(self.columns)
            if column.key not in names and column.head not in names
        ]
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows)

    def hiding(self, keys: Collection[str]) -> Self:
        """Return the table with the columns of these keys for programs alone."""
        hidden = [replace(one, head=None) if one.key in keys else one for one in self.columns]
        return replace(self, columns=hidden)

    def hiding_unknown(self, keys: Collection[str] | None = None) -> Self:
        """Hide the columns of these keys of which nothing is known; without keys any such."""
        rows = list(self._cells())
        empty = {
            column.key
            for place, column in enumerate(self.columns)
            if not any(row[place].shown(column.kind) not in ("", UNKNOWN) for row in rows)
        }
        return self.hiding(empty if keys is None else empty & {*keys})

    def first(self, most: int, rest: str) -> Self:
        """Return the table with its first rows, and a note of how many more there are.

        Args:
            rest: Where they are: `` in the CSV``.
        """
        more = len(self.rows) - most
        notes = [*self.notes, f"{more:,} more{rest}"]
        return replace(self, rows=self.rows[:most], notes=notes) if more > 0 else self

    def _cells(self) -> Iterator[list[Cell]]:
        return ([x if isinstance(x, Cell) else Cell(x) for x in row] for row in self.rows)

    def _for_people(self) -> tuple[list[Kind], list[list[Cell]]]:
        """Return the kinds of the columns that people read, and their cells."""
        places = [at for at, column in enumerate(self.columns) if column.head is not None]
        cells = [[row[at] for at in places] for row in self._cells()]
        return [self.columns[at].kind for at in places], cells

    def texts(self) -> list[list[str]]:
        """Return what people read of each row, one text for each of their columns."""
        kinds, cells = self._for_people()
        return [list(map(Cell.shown, row, kinds)) for row in cells]

    def lines(self, style: Callable[[str, str], str] = lambda text, _: text) -> list[str]:
        """Return the heads, and each row, as a line of aligned columns.

        Args:
            style: Returns a text, already escaped and aligned, in the colour of a mark.
        """
        kinds, cells = self._for_people()
        texts = [[printable(text) for text in row] for row in (self.heads, *self.texts())]
        marks = [[""] * len(kinds), *([cell.mark for cell in row] for row in cells)]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]

        def line(row: Sequence[str], marked: Sequence[str]) -> str:
            aligned = [
                text.rjust(width) if kind.right else text.ljust(width)
                for text, width, kind in zip(row, widths, kinds, strict=True)
            ]
            aligned[-1] = aligned[-1].rstrip()
            styled = (
                style(text, mark) if mark else text
                for text, mark in zip(aligned, marked, strict=True)
            )
            return "  ".join(styled).rstrip()

        return list(map(line, texts, marks))

    def markdown_rows(self) -> list[list[str]]:
        """Return the cells of each row as Markdown."""
        kinds, cells = self._for_people()
        return [list(map(_markdown, row, kinds)) for row in cells]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        heads = list(map(inline, self.heads))
        shown = (column for column in self.columns if column.head is not None)
        marks = ["---:" if column.kind.right else "---" for column in shown]
        rows = (heads, marks, *self.markdown_rows())
        table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
        return table + "".join(f"\n{inline(note)}\n" for note in self.notes)

    def html(self, starts: Iterable[str] = ()) -> str:
        """Return the table as HTML.

        Args:
            starts: Ready HTML that begins the head and each row; as many as there are.
        """
        (kinds, cells), begin = self._for_people(), iter(starts or repeat(""))
        columns = (column for column in self.columns if column.head is not None)
        head = f"<tr>{next(begin)}{''.join(map(_html_head, columns))}</tr>"
        rows = (
            f"<tr>{start}{''.join(map(_html_cell, row, kinds))}</tr>\n"
            for start, row in zip(begin, cells, strict=False)
        )
        return f"<thead>{head}</thead>\n<tbody>\n{''.join(rows)}</tbody>\n"

    def records(self) -> list[dict[str, Json]]:
        """Return a mapping of keys to values for each row."""
        keys = [column.key for column in self.columns]
        every = (dict(zip(keys, (x.value for x in row), strict=True)) for row in self._cells())
        return [{key: value for key, value in row.items() if key} for row in every]

    def csv(self, *, head: bool = True) -> str:
        """Return the table as CSV; see ``csv_text``."""
        heads = [[column.key for column in self.columns if column.key]] if head else []
        return csv_text(chain(heads, (map(_flat, row.values()) for row in self.records())))


def text_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()
) -> Table:
    """Return a table of texts.

    Args:
        right: Heads of the columns that are aligned to the right.
    """
    kinds = (NUMBER if head in right else TEXT for head in heads)
    columns = [Column(head, head, kind) for head, kind in zip(heads, kinds, strict=True)]
    return Table("", "", columns, list(rows))


def _markdown(cell: Cell, kind: Kind) -> str:
    text = kind.markdown(cell.shown(kind))
    linked = f"[{text}]({cell.href})" if cell.href and text else text
    return SIGNS.get(cell.mark, "") + linked


def _html_head(column: Column) -> str:
    look = ' class="figure"' * column.kind.right
    order = f' aria-sort="{html_text(column.order)}"' if column.order else ""
    return f'<th scope="col"{look}{order}>{_html_link(column.head or "", column.href)}</th>'


def _html_cell(cell: Cell, kind: Kind) -> str:
    look = " ".join(filter(None, ("figure" * kind.right, "wide" * kind.long, cell.mark)))
    shown = _html_link(cell.shown(kind), cell.href)
    return f'<td class="{html_text(look)}">{shown}</td>' if look else f"<td>{shown}</td>"


def _html_link(text: str, href: str | None) -> str:
    shown = html_text(text)
    return f'<a href="{html_text(href)}">{shown}</a>' if href else shown


def html_text(text: str) -> str:
    """Return a text escaped for HTML; what turns or hides the text around it is shown."""
    return escape(printable(text, but="\n\t"), quote=True)


def _flat(value: Json) -> Json:
    """Return what CSV has for a value: of a list or mapping its JSON."""
    return encoded(value) if isinstance(value, dict | list) else value


def csv_text(rows: Iterable[Iterable[object]], *, exact: bool = False) -> str:
    """Return rows as CSV, a line each: RFC 4180 but for the line ends (LF); None is empty.

    Args:
        exact: Whether texts stay as they are, for a reader of ours; a terminal would obey them.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(rows if exact else (map(_escaped, row) for row in rows))
    return text.getvalue()


def _escaped(cell: object) -> object:
    return printable(cell) if isinstance(cell, str) else cell
