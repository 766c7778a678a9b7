"""The program of the child process that holds an embedded database.

It is started by path with one argument: a JSON object with the engine's name, the database file
and the settings. It answers with one JSON line when it is ready, then with one line to each
line it reads: ``{"values": …}`` or ``{"error": …}``. It ends when its input does. It imports
nothing but the standard library and its engine, so that it starts fast and measures as little else.
"""

import csv
import json
import os
import re
import sqlite3
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

#: How a null is written in a file, as KROWN's databases read it.
NULL: Final = "NULL"
#: Rows that are turned from the engine's form into text at once.
BATCH: Final = 10_000
#: Bytes that one line of a CSV file may have; far above what one value may.
LONGEST_LINE: Final = 1_000_000_000


class Failure(Exception):  # noqa: N818 - it is the answer to a request, not a defect
    """A request that cannot be fulfilled, said in words for the user."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file to load.

    Args:
        path: Where it lies.
        name: What the case calls it.
        table: The table it is loaded into.
    """

    path: str
    name: str
    table: str

    @property
    def is_tbl(self) -> bool:
        """Whether it is in the form of TPC-H's dbgen: a bar after each value, no header."""
        return self.name.endswith(".tbl")

    @contextmanager
    def reader(self) -> Iterator[Any]:
        """Open it as a ``csv`` reader, which knows the line it is at."""
        with Path(self.path).open(encoding="utf-8-sig", newline="") as stream:
            if self.is_tbl:
                yield csv.reader(stream, delimiter="|", quoting=csv.QUOTE_NONE)
            else:
                yield csv.reader(stream, strict=True)

    @contextmanager
    def checked_reader(self) -> Iterator[Any]:
        """Open it; what cannot be read is told with the line."""
        with self.reader() as reader:
            try:
                yield reader
            except csv.Error as error:
                raise Failure(f"{self.name}:{reader.line_num}: {error}") from error
            except UnicodeDecodeError as error:
                line = _first_undecodable_line(self.path)
                raise Failure(f"{self.name}:{line}: this is not UTF-8; convert it") from error

    def header(self) -> list[str]:
        """Return the column names in the first line, lower-cased."""
        with self.checked_reader() as reader:
            names = [name.lower() for name in next(reader, [])]
        if not names or "" in names:
            raise Failure(f"{self.name}:1: the header must name every column")
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise Failure(f"{self.name}:1: two columns are named '{doubled[0]}'")
        return names

    def rows(self, width: int) -> Iterator[list[str | None]]:
        """Yield the rows with nulls in place; empty lines are passed over."""
        with self.checked_reader() as reader:
            if not self.is_tbl:
                next(reader, None)
            for row in reader:
                if self.is_tbl and row and row.pop():
                    raise Failure(f"{self.name}:{reader.line_num}: no bar at the line's end")
                if len(row) != width:
                    if not row:
                        continue
                    raise self._wrong_width(reader.line_num, row, width)
                yield [None if value == NULL else value for value in row] if NULL in row else row

    def _wrong_width(self, line: int, row: list[str], width: int) -> Failure:
        first = line - sum(value.count("\n") for value in row)
        return Failure(f"{self.name}:{first}: {len(row)} values where {width} were expected")

    def line_of(self, record: int) -> int:
        """Return the line where a record begins; they differ once a value spans lines."""
        with self.reader() as reader:
            for number, row in enumerate(reader, 1):
                if number == record:
                    return reader.line_num - sum(value.count("\n") for value in row)
        return record


class Engine(ABC):
    """One database: what the engines do differently, and loading, which they do alike."""

    @abstractmethod
    def version(self) -> str:
        """Return the library's version."""

    @abstractmethod
    def execute(self, sql: str) -> None:
        """Execute one or more statements inside the transaction that is open."""

    @abstractmethod
    def script(self, name: str, sql: str, results: str | None) -> int | None:
        """Execute statements, each query to its last row.

        Args:
            name: What an error calls the text.
            results: File that the rows of the last query go to, as CSV with a header.

        Returns:
            How many rows the last query had; None if there is no query.
        """

    @abstractmethod
    def columns(self, table: str) -> list[tuple[str, str]]:
        """Return name and type of each column; nothing if there is no such table."""

    @abstractmethod
    def fill(self, file: DataFile, columns: Sequence[tuple[str, str]]) -> int:
        """Append a file to a table that has these columns; return the number of rows."""

    @abstractmethod
    def roll_back(self) -> None:
        """Undo the open transaction, if there is one."""

    @abstractmethod
    def close(self) -> None:
        """Bring everything to the file and let it go."""

    def load(self, files: Sequence[DataFile], schema: tuple[str, str] | None) -> int:
        """Load all the files or none; with a schema (name and SQL), into the tables it makes."""
        self.execute("BEGIN TRANSACTION")
        if schema is not None:
            self.script(*schema, None)
        rows = sum(self._load(file, make_table=schema is None) for file in files)
        self.execute("COMMIT")
        return rows

    def _load(self, file: DataFile, *, make_table: bool) -> int:
        columns = self._make_table(file) if make_table else self._choose(file)
        return self.fill(file, columns)

    def _make_table(self, file: DataFile) -> list[tuple[str, str]]:
        if file.is_tbl:
            raise Failure(f"{file.name}: a .tbl file names no columns; give a schema_file")
        columns = [(name, "VARCHAR") for name in file.header()]
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns)
        self.execute(f"DROP TABLE IF EXISTS {quoted(file.table)}")
        self.execute(f"CREATE TABLE {quoted(file.table)} ({declared})")
        return columns

    def _choose(self, file: DataFile) -> list[tuple[str, str]]:
        known = self.columns(file.table)
        if not known:
            raise Failure(f"{file.name}: the schema_file makes no table '{file.table}'")
        if file.is_tbl:
            return known
        kinds = {name.lower(): (name, kind) for name, kind in known}
        names = file.header()
        strange = [name for name in names if name not in kinds]
        if strange:
            raise Failure(f"{file.name}:1: the table '{file.table}' has no column '{strange[0]}'")
        return [kinds[name] for name in names]


class SQLite(Engine):
    """SQLite, through the standard library."""

    def __init__(self, options: dict[str, Any]) -> None:
        # One field may be as large as SQLite's own limit; the csv module stops at 128 KiB.
        csv.field_size_limit(sys.maxsize)
        self._connection = sqlite3.connect(options["database"], isolation_level=None)
        for name, value in options["pragmas"].items():
            self._set(name, value)

    def _set(self, name: str, value: str | int) -> None:
        """Set a pragma; SQLite itself passes over unknown names and values in silence."""
        known = {row[0] for row in self._connection.execute("PRAGMA pragma_list")}
        if name.lower() not in known:
            raise Failure(f"there is no pragma '{name}'")
        literal = value if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
        self._connection.execute(f"PRAGMA {name} = {literal}").fetchall()
        now = self._connection.execute(f"PRAGMA {name}").fetchone()
        if now is not None and type(now[0]) is type(value) and not _same(now[0], value):
            raise Failure(f"the pragma '{name}' cannot be {value!r}: SQLite keeps {now[0]!r}")

    def version(self) -> str:
        return sqlite3.sqlite_version

    def execute(self, sql: str) -> None:
        self._connection.execute(sql)

    def script(self, name: str, sql: str, results: str | None) -> int | None:
        rows = None
        for line, statement in _statements(sql):
            try:
                cursor = self._connection.execute(statement)
                if cursor.description is not None:
                    rows = _drain(cursor, results)
            except sqlite3.Error as error:
                raise Failure(f"{name}:{line}: {error}") from error
        return rows

    def columns(self, table: str) -> list[tuple[str, str]]:
        asked = "SELECT name, type FROM pragma_table_info(?)"
        return self._connection.execute(asked, (table,)).fetchall()

    def fill(self, file: DataFile, columns: Sequence[tuple[str, str]]) -> int:
        names = ", ".join(quoted(name) for name, _ in columns)
        places = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {quoted(file.table)} ({names}) VALUES ({places})"  # noqa: S608 - quoted
        try:
            return self._connection.executemany(sql, file.rows(len(columns))).rowcount
        except sqlite3.Error as error:
            raise Failure(f"{file.name}: {error}") from error

    def roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.rollback()

    def close(self) -> None:
        self._connection.close()


class DuckDB(Engine):
    """DuckDB, with its own reader and writer of CSV."""

    def __init__(self, options: dict[str, Any]) -> None:
        import duckdb  # noqa: PLC0415 - a worker that holds SQLite must not load it

        self._library = duckdb
        # A step must not download an extension behind the user's back.
        config = {"autoinstall_known_extensions": "false", **options["config"]}
        self._connection = duckdb.connect(options["database"], config=config)

    def version(self) -> str:
        return self._library.__version__

    def execute(self, sql: str) -> None:
        self._connection.execute(sql)

    def script(self, name: str, sql: str, results: str | None) -> int | None:
        rows = None
        try:
            for statement in self._library.extract_statements(sql):
                if results is not None and str(statement.type) == "StatementType.SELECT":
                    rows = self._copy(statement.query, results)
                elif self._gives_rows(statement):
                    rows = _drain(self._connection.execute(statement), results)
                else:
                    self._connection.execute(statement)
        except self._library.Error as error:
            raise Failure(f"{name}: {error}") from error
        return rows

    def _gives_rows(self, statement: Any) -> bool:
        """Tell queries from statements that only count the rows they changed."""
        kinds = statement.expected_result_type
        query = self._library.ExpectedResultType.QUERY_RESULT
        return list(kinds) == [query] or "RETURNING" in statement.query.upper()

    def _copy(self, query: str, results: str) -> int:
        tokens = [(at, kind) for at, kind in self._library.tokenize(query)]
        ends = [at for at, kind in tokens if kind == self._library.token_type.operator]
        bare = query[: ends[-1]] if ends and query[ends[-1]] == ";" else query
        sql = f"COPY (\n{bare}\n) TO {literal(results)} (FORMAT csv, HEADER true)"
        answer = self._connection.execute(sql).fetchone()
        _fill_empty_lines(results)
        return int(answer[0]) if answer else 0

    def columns(self, table: str) -> list[tuple[str, str]]:
        asked = (
            "SELECT column_name, data_type FROM duckdb_columns() WHERE lower(table_name) = ? "
            "AND schema_name = current_schema() ORDER BY column_index"
        )
        return self._connection.execute(asked, [table]).fetchall()

    def fill(self, file: DataFile, columns: Sequence[tuple[str, str]]) -> int:
        sql = _insert_tbl(file, columns) if file.is_tbl else _copy_csv(file, columns)
        try:
            answer = self._connection.execute(sql).fetchone()
        except self._library.Error as error:
            raise _explained(file, len(columns), str(error)) from error
        return int(answer[0]) if answer else 0

    def roll_back(self) -> None:
        try:
            self._connection.rollback()
        except self._library.Error:
            return  # none was open

    def close(self) -> None:
        self._connection.close()
