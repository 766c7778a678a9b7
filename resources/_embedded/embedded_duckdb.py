"""DuckDB, with its own reader and writer of CSV."""

import glob
import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from embedded_file import (
    Column,
    DataFile,
    Engine,
    Failure,
    literal,
    quote_empty_lines,
    quoted,
    save,
)

# By name, since type checkers take the neighbour resources/duckdb.py for the library.
duckdb: Any = importlib.import_module("duckdb")

#: Queries that DuckDB before 2.0 takes for SELECT and yet not inside a COPY.
_DESCRIBING = ("DESC", "SHOW", "SUMMARIZE")
#: What a statement answers that has no rows to give.
_NO_QUERY = (["Count"], ["Success"])


def version() -> str:
    """Return the version of the library, also of one in development, as pip writes it."""
    return duckdb.__version__.replace("-dev", ".dev")


def open_engine(database: str, settings: Mapping[str, str | int]) -> Engine:
    """Open a database file; ``settings`` are DuckDB's own."""
    # A step must not download an extension behind the user's back.
    config = {"autoinstall_known_extensions": "false", **settings}
    return _DuckDB(duckdb.connect(database, config=config))


class _DuckDB(Engine):
    def script(self, name: str, sql: str, results: str | None) -> int | None:
        rows = None
        try:
            for statement in duckdb.extract_statements(sql):
                given = self._statement(statement, results)
                rows = rows if given is None else given
        except duckdb.Error as error:
            raise Failure(f"{name}: {error}") from error
        return rows

    def _statement(self, statement: Any, results: str | None) -> int | None:
        is_query = statement.type == duckdb.StatementType.SELECT
        describes = statement.query.lstrip().upper().startswith(_DESCRIBING)
        if is_query and results is not None and not describes:
            return self._copy(statement.query, results)
        cursor = self._connection.execute(statement)
        names = [column[0] for column in cursor.description or ()]
        return save(cursor, results) if is_query or names not in _NO_QUERY else None

    def _copy(self, query: str, results: str) -> int:
        """Let DuckDB write the answer itself, without a Python object a value."""
        # Without comments there is no reason to quote '#', which no other engine does.
        form = "(FORMAT csv, HEADER true, COMMENT '')"
        sql = f"COPY (\n{_without_end(query)}\n) TO {literal(results)} {form}"
        rows = self._count(sql)
        quote_empty_lines(results)
        return rows

    def columns(self, table: str) -> list[Column]:
        asked = (
            "SELECT column_name, data_type FROM duckdb_columns() WHERE lower(table_name) = ? "
            "AND schema_name = current_schema() ORDER BY column_index"
        )
        return self._connection.execute(asked, [table]).fetchall()

    def fill(self, file: DataFile, columns: Sequence[Column]) -> int:
        try:
            insert = _insert_tbl if file.is_tbl else _insert_csv
            return self._count(insert(file, columns))
        except duckdb.Error as error:
            raise _explained(file, len(columns), str(error)) from error

    def _count(self, sql: str) -> int:
        answer = self._connection.execute(sql).fetchone()
        return int(answer[0]) if answer else 0

    def roll_back(self) -> None:
        try:
            self._connection.rollback()
        except duckdb.Error:
            return  # there was none


def _without_end(query: str) -> str:
    """Cut the semicolon that ends a query, and the comments after it."""
    operators = [at for at, kind in duckdb.tokenize(query) if kind == duckdb.token_type.operator]
    if operators and query.encode()[operators[-1] :].startswith(b";"):
        return query.encode()[: operators[-1]].decode()
    return query


def _insert_csv(file: DataFile, columns: Sequence[Column]) -> str:
    """Not by COPY: DuckDB 1.3 takes ``a=b`` in a path for a column, and COPY cannot refuse it."""
    names = ", ".join(quoted(name) for name, _ in columns)
    read = ", ".join(f"{quoted(name)}: {literal(kind)}" for name, kind in columns)
    return (
        f"INSERT INTO {quoted(file.table)} ({names}) FROM read_csv({_path(file)}, "
        "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', "
        f"nullstr = 'NULL', hive_partitioning = false, columns = {{{read}}})"
    )


def _insert_tbl(file: DataFile, columns: Sequence[Column]) -> str:
    """Read one column more than there are: the empty one after the last bar."""
    kinds = [kind for _, kind in columns]
    read = ", ".join(f"'c{i}': {literal(kind)}" for i, kind in enumerate([*kinds, "VARCHAR"]))
    taken = ", ".join(f"c{i}" for i in range(len(kinds)))
    end = f"c{len(kinds)}"
    return (
        f"INSERT INTO {quoted(file.table)} SELECT {taken} FROM read_csv({_path(file)}, "  # noqa: S608 - all quoted
        "auto_detect = false, header = false, delim = '|', quote = '', escape = '', "
        f"nullstr = 'NULL', hive_partitioning = false, columns = {{{read}}}) "
        f"WHERE CASE WHEN {end} = '' THEN true ELSE error('there is no bar at the end') END"
    )


def _path(file: DataFile) -> str:
    """Write the path so that DuckDB takes stars and brackets in it for what they are."""
    return literal(glob.escape(file.path))


def _explained(file: DataFile, width: int, error: str) -> Failure:
    """Turn DuckDB's page about a CSV file into file, line and reason."""
    file.check(width)  # a malformed row is told in the same words by every engine
    found = re.search(r"CSV Error on Line: (\d+)\n(.*?)(\n\s*\n|\nPossible|\Z)", error, re.DOTALL)
    if found is None:
        return Failure(f"{file.name}: {error}")
    line = file.line_of(int(found[1]))
    return Failure(f"{file.name}:{line}: {'; '.join(found[2].splitlines())}")
