"""The files that are loaded into a server: which columns they fill, and what is wrong with them.

A file is read once here only if the server refused it, so that the error names the line.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchyard.core.errors import CommandFailedError
from resources._containers.base import SHARED
from resources._embedded.embedded_file import DataFile, Failure

#: Bytes that are read of a file at once.
PIECE = 1 << 20

#: Name of a table, in lower case, to its real name and those of its columns, in order.
Catalogue = Mapping[str, tuple[str, Sequence[str]]]


def catalogue_of(rows: Iterable[Sequence[str]]) -> Catalogue:
    """Return the catalogue that rows of a table's name and a column's are, in their order."""
    found: dict[str, tuple[str, list[str]]] = {}
    for table, column in rows:
        found.setdefault(table.lower(), (table, []))[1].append(column)
    return found


class Source(DataFile):
    """A file to load into a server."""

    @property
    def inside(self) -> str:
        """Where the container sees it."""
        return f"{SHARED}/{self.name}"

    def header(self) -> list[str]:
        """Return the column names in the first line, lower-cased."""
        names = super().header()
        if any("\n" in name or "\r" in name for name in names):
            raise Failure(f"{self.name}:1: a column name has a line break; rename it")
        return names

    def new_columns(self, key: str = "") -> list[str]:
        """Return the columns of the table that is made for it.

        Args:
            key: The column that the table has besides.
        """
        names = super().new_columns()
        if key in names:
            raise Failure(
                f"{self.name}:1: a column is named '{key}', as the table's own key is; rename it, "
                "or make the table with a schema_file"
            )
        return names

    def columns_of(self, catalogue: Catalogue) -> tuple[str, list[str]]:
        """Return real names of table and columns that it fills."""
        table, columns = catalogue.get(self.table, (self.table, ()))
        return table, self.chosen({column.lower(): column for column in columns})

    def refused(self, width: int, said: str, line: int | None = None) -> CommandFailedError:
        """Return the error for a file that the server refused.

        Args:
            width: So many values each row must have.
            said: The server's own words, for a file that has the right form.
            line: Where the server sees it.
        """
        try:
            self.check(width)
        except Failure as failure:
            return CommandFailedError(str(failure))
        return CommandFailedError(f"{self.name}{f':{line}' if line else ''}: {said}")

    def refuse_open_quote(self, width: int) -> None:
        """Refuse a file whose last quoted value has no end, which MySQL takes for a text."""
        quotes = 0
        with Path(self.path).open("rb") as stream:
            while chunk := stream.read(PIECE):
                quotes += chunk.count(b'"')
        if quotes % 2:
            # Also so if a value without quotes around it has one inside, which is no fault.
            self.check(width)

    def line_of_row(self, row: int) -> int:
        """Return the line where a row begins; the first after the header is 1."""
        return self.line_of(row + (0 if self.is_tbl else 1))

    def has_windows_lines(self) -> bool:
        """Tell whether its lines end with a carriage return and a line feed."""
        with Path(self.path).open("rb") as stream:
            return stream.readline().endswith(b"\r\n")


def strip_last_bars(source: Source, target: Path, width: int) -> None:
    """Copy a .tbl file without the bar at the end of each line, as PostgreSQL reads it.

    Raises:
        CommandFailedError: If a line does not end with a bar.
    """
    pending = b""
    with Path(source.path).open("rb") as stream, target.open("wb") as copy:
        while chunk := stream.read(PIECE):
            text = pending + chunk
            # A bar at the end may be one before a line break that is still to come.
            pending = b"|" if text.endswith(b"|") else b""
            text = text.removesuffix(b"|")
            if text.count(b"\n") != text.count(b"|\n"):
                raise source.refused(width, "a line does not end with '|'")
            copy.write(text.replace(b"|\n", b"\n"))
