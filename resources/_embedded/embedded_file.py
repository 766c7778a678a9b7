"""Files that are loaded into an embedded database and saved from it, and how all engines do so."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

#: How a null is written in a file, as KROWN's databases read it.
NULL = "NULL"
#: Rows that are turned from the engine's form into text at once.
BATCH = 10_000

# The csv module stops at 128 KiB a value; the engines have limits of their own.
csv.field_size_limit(2**31 - 1)


AnyColumn = TypeVar("AnyColumn")


class Failure(Exception):  # noqa: N818 - the answer to a request, not a defect
    """A request that cannot be fulfilled, said in words for the user."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file to load.

    Args:
        path: Where it lies.
        name: What the case calls it.
        table: The table that it is loaded into, in lower case.
    """

    path: str
    name: str
    table: str

    @property
    def is_tbl(self) -> bool:
        """Whether it has the form of TPC-H's dbgen: a bar after each value, no header."""
        return self.name.endswith(".tbl")

    def header(self) -> list[str]:
        """Return the column names in the first line, lower-cased."""
        with self._reader() as reader:
            first: list[str] = next(reader, None) or []
        names = [name.lower() for name in first]
        if not names or "" in names:
            raise Failure(f"{self.name}:1: the header must name every column")
        doubled = [name for name in names if names.count(name) > 1]
        if doubled:
            raise Failure(f"{self.name}:1: two columns are named '{doubled[0]}'; rename one")
        return names

    def rows(self, width: int) -> Iterator[list[str | None]]:
        """Yield the rows with nulls in place; empty lines are passed over.

        Raises:
            Failure: With the line, at the first row that is malformed or not ``width`` values wide.
        """
        with self._reader() as reader:
            if not self.is_tbl:
                next(reader, None)
            for row in reader:
                if not row:
                    continue
                if self.is_tbl and row.pop():
                    raise Failure(f"{self.name}:{reader.line_num}: there is no '|' at its end")
                if len(row) != width:
                    raise Failure(
                        f"{self.name}:{_first_line(reader.line_num, row)}: it has {len(row)} "
                        f"values, and {width} are expected"
                    )
                yield [None if value == NULL else value for value in row] if NULL in row else row

    def check(self, width: int) -> None:
        """Read all of it; raise a Failure at the first row that is wrong."""
        for _ in self.rows(width):
            pass

    def new_columns(self) -> list[str]:
        """Return the columns of the table that is made for it, from the header."""
        if self.is_tbl:
            raise Failure(f"{self.name}: a .tbl file names no columns; give a schema_file")
        return self.header()

    def chosen(self, columns: Mapping[str, AnyColumn]) -> list[AnyColumn]:
        """Return the columns that it fills.

        Args:
            columns: Those of its table by their names in lower case; none if there is no table.
        """
        if not columns:
            raise Failure(f"{self.name}: the schema_file makes no table '{self.table}'")
        names = list(columns) if self.is_tbl else self.header()
        strange = [name for name in names if name not in columns]
        if strange:
            raise Failure(f"{self.name}:1: the table '{self.table}' has no column '{strange[0]}'")
        return [columns[name] for name in names]

    def line_of(self, record: int) -> int:
        """Return the line where a record begins; the two differ once a value spans lines."""
        with self._reader() as reader:
            for number, row in enumerate(reader, 1):
                if number == record:
                    return _first_line(reader.line_num, row)
        return record

    @contextmanager
    def _reader(self) -> Generator[Any]:
        with Path(self.path).open(encoding="utf-8-sig", newline="") as stream:
            reader = (
                csv.reader(stream, delimiter="|", quoting=csv.QUOTE_NONE)
                if self.is_tbl
                else csv.reader(stream, strict=True)
            )
            try:
                yield reader
            except csv.Error as error:
                raise Failure(f"{self.name}:{reader.line_num}: {error}") from error
            except UnicodeDecodeError as error:
                line = _first_undecodable_line(self.path)
                raise Failure(f"{self.name}:{line}: this is not UTF-8; convert it") from error


def _first_line(last: int, row: Sequence[str]) -> int:
    return last - sum(value.count("\n") for value in row)


def _first_undecodable_line(path: str) -> int:
    with Path(path).open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 1


def save(cursor: Any, results: str | None) -> int:
    """Take every row of a query, write them as CSV with a header if asked to, and count them.

    Args:
        cursor: As Python's DB-API has it.
        results: The file; None only counts.
    """
    if results is None:
        return sum(len(batch) for batch in _batches(cursor))
    rows = 0
    with Path(results).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(column[0] for column in cursor.description)
        for batch in _batches(cursor):
            writer.writerows(batch)
            rows += len(batch)
    return rows


def _batches(cursor: Any) -> Iterator[Sequence[Any]]:
    while batch := cursor.fetchmany(BATCH):
        yield batch


def quote_empty_lines(results: str) -> None:
    """Write the null of a one-column answer as ``""``: an empty line is no record to many readers.

    It is what Python's own writer does, so the answers of all engines compare equal.
    """
    source = Path(results)
    with source.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        header: list[str] | None = next(reader, None)
        if header is None or len(header) != 1 or all(reader):
            return
    beside = source.with_name(f"{source.name}.new")
    with (
        source.open(encoding="utf-8", newline="") as stream,
        beside.open("w", encoding="utf-8", newline="") as copy,
    ):
        csv.writer(copy, lineterminator="\n").writerows(row or [""] for row in csv.reader(stream))
    beside.replace(source)


def quoted(name: str) -> str:
    """Write a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


#: Name and SQL type of a column.
Column: TypeAlias = tuple[str, str]


class Engine(ABC):
    """One open database.

    Args:
        connection: As Python's DB-API has it.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, sql: str) -> None:
        """Execute one statement that gives no rows."""
        self._connection.execute(sql)

    def close(self) -> None:
        """Bring everything into the file and let it go."""
        self._connection.close()

    @abstractmethod
    def script(self, name: str, sql: str, results: str | None) -> int | None:
        """Execute statements, each query to its last row.

        Args:
            name: What an error calls the text.
            sql: The statements.
            results: File that the rows of the last query go to, as CSV with a header.

        Returns:
            How many rows the last query had; None without a query.
        """

    @abstractmethod
    def columns(self, table: str) -> list[Column]:
        """Return the columns in order; none if there is no such table."""

    @abstractmethod
    def fill(self, file: DataFile, columns: Sequence[Column]) -> int:
        """Append a file to its table, which has these columns; return how many rows it has."""

    @abstractmethod
    def roll_back(self) -> None:
        """Undo the open transaction, if there is one."""

    def load(self, files: Sequence[DataFile], schema: tuple[str, str] | None) -> int:
        """Load all the files or none; return the number of rows.

        Args:
            files: What to load.
            schema: Name and text of the SQL that makes the tables; None makes them from the
                headers, all columns text.
        """
        self.execute("BEGIN TRANSACTION")
        if schema is not None:
            self.script(*schema, None)
        rows = 0
        for file in files:
            if schema is None:
                columns = self._make_table(file)
            else:
                known = self.columns(file.table)
                columns = file.chosen({name.lower(): (name, kind) for name, kind in known})
            rows += self.fill(file, columns)
        self.execute("COMMIT")
        return rows

    def _make_table(self, file: DataFile) -> list[Column]:
        columns = [(name, "VARCHAR") for name in file.new_columns()]
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns)
        self.execute(f"DROP TABLE IF EXISTS {quoted(file.table)}")
        self.execute(f"CREATE TABLE {quoted(file.table)} ({declared})")
        return columns
