"""The files that are loaded into a server: which columns they fill, and what is wrong with them.

A file is read once here only if the server refused it, so that the error names the line.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Source:
    """A file to load.

    Args:
        path: On this host.
        name: What the case calls it.
        table: What the case calls the table, in lower case.
    """

    path: Path
    name: str
    table: str

    @property
    def inside(self) -> str:
        """Where the container sees it."""
        return f"{SHARED}/{self.name}"

    @property
    def is_tbl(self) -> bool:
        """Whether it has the form of TPC-H's dbgen: a bar after each value, no header."""
        return self._data.is_tbl

    @property
    def _data(self) -> DataFile:
        return DataFile(str(self.path), self.name, self.table)

    def new_columns(self, key: str) -> list[str]:
        """Return the columns of the table that is made for it, from the header.

        Args:
            key: The column that the table has besides.

        Raises:
            CommandFailedError: If there is no such header.
        """
        if self.is_tbl:
            raise CommandFailedError(
                f"{self.name}: a .tbl file names no columns; give a schema_file"
            )
        names = self._header()
        if key in names:
            raise CommandFailedError(
                f"{self.name}:1: a column is named '{key}', as the table's own key is; rename it, "
                "or make the table with a schema_file"
            )
        return names

    def columns_of(self, catalogue: Catalogue) -> tuple[str, list[str]]:
        """Return real names of table and columns that it fills.

        Raises:
            CommandFailedError: If one of them is not there.
        """
        if self.table not in catalogue:
            raise CommandFailedError(f"{self.name}: the schema_file makes no table '{self.table}'")
        table, columns = catalogue[self.table]
        if self.is_tbl:
            return table, list(columns)
        known = {column.lower(): column for column in columns}
        names = self._header()
        strange = [name for name in names if name not in known]
        if strange:
            raise CommandFailedError(
                f"{self.name}:1: the table '{table}' has no column '{strange[0]}'"
            )
        return table, [known[name] for name in names]

    def _header(self) -> list[str]:
        try:
            names = self._data.header()
        except Failure as failure:
            raise CommandFailedError(str(failure)) from failure
        broken = [name for name in names if "\n" in name or "\r" in name]
        if broken:
            raise CommandFailedError(f"{self.name}:1: a column name has a line break; rename it")
        return names

    def refused(self, width: int, said: str, line: int | None = None) -> CommandFailedError:
        """Return the error for a file that the server refused.

        Args:
            width: So many values each row must have.
            said: The server's own words, for a file that has the right form.
            line: Where the server sees it.
        """
        try:
            for _ in self._rows(width):
                pass
        except CommandFailedError as error:
            return error
        return CommandFailedError(f"{self.name}{f':{line}' if line else ''}: {said}")

    def refuse_open_quote(self, width: int) -> None:
        """Refuse a file whose last quoted value has no end, which MySQL takes for a text.

        Raises:
            CommandFailedError: If it is one.
        """
        quotes = 0
        with self.path.open("rb") as stream:
            while chunk := stream.read(PIECE):
                quotes += chunk.count(b'"')
        if quotes % 2:
            # Also so if a value without quotes around it has one inside, which is no fault.
            for _ in self._rows(width):
                pass

    def _rows(self, width: int) -> Iterator[object]:
        try:
            yield from self._data.rows(width)
        except Failure as failure:
            raise CommandFailedError(str(failure)) from failure

    def line_of(self, row: int) -> int:
        """Return the line where a row begins; the first after the header is 1."""
        return self._data.line_of(row + (0 if self.is_tbl else 1))

    def has_windows_lines(self) -> bool:
        """Tell whether its lines end with a carriage return and a line feed."""
        with self.path.open("rb") as stream:
            return stream.readline().endswith(b"\r\n")


def strip_last_bars(source: Source, target: Path, width: int) -> None:
    """Copy a .tbl file without the bar at the end of each line, as PostgreSQL reads it.

    Raises:
        CommandFailedError: If a line does not end with a bar.
    """
    pending = b""
    with source.path.open("rb") as stream, target.open("wb") as copy:
        while chunk := stream.read(PIECE):
            text = pending + chunk
            # A bar at the end may be one before a line break that is still to come.
            pending = b"|" if text.endswith(b"|") else b""
            text = text.removesuffix(b"|")
            if text.count(b"\n") != text.count(b"|\n"):
                raise source.refused(width, "a line does not end with '|'")
            copy.write(text.replace(b"|\n", b"\n"))
