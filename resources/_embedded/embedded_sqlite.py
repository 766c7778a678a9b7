"""SQLite, through the standard library."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from embedded_file import Column, DataFile, Engine, Failure, literal, quoted, save


def version() -> str:
    """Return the version of the library that this Python is linked with."""
    return sqlite3.sqlite_version


def open_engine(database: str, settings: Mapping[str, Mapping[str, str | int]]) -> Engine:
    """Open a database file; ``settings`` has the pragmas."""
    connection = sqlite3.connect(database, isolation_level=None)
    for name, value in settings["pragmas"].items():
        _set(connection, name, value)
    return _SQLite(connection)


def _set(connection: sqlite3.Connection, name: str, value: str | int) -> None:
    """Set a pragma; SQLite itself passes over wrong names and values in silence."""
    known = {row[0] for row in connection.execute("PRAGMA pragma_list")}
    if name.lower() not in known:
        raise Failure(f"there is no pragma '{name}'")
    wanted = value if isinstance(value, int) else literal(value)
    connection.execute(f"PRAGMA {name} = {wanted}").fetchall()
    kept = connection.execute(f"PRAGMA {name}").fetchone()
    if kept is not None and not _means(kept[0], value):
        raise Failure(f"the pragma '{name}' cannot be {value!r}; SQLite keeps {kept[0]!r}")


#: Numbers that pragmas read back, to the words for them: https://www.sqlite.org/pragma.html.
_WORDS = {
    0: ("off", "false", "no", "none", "default"),
    1: ("on", "true", "yes", "normal", "file", "full"),
    2: ("full", "memory", "incremental"),
    3: ("fast", "extra"),
}


def _means(kept: object, value: str | int) -> bool:
    """Tell whether SQLite took a value, whichever way it writes it."""
    if not isinstance(kept, int):
        return str(kept).lower() == str(value).lower()
    return str(value).lower() in (str(kept), *_WORDS.get(kept, ()))


class _SQLite(Engine):
    def script(self, name: str, sql: str, results: str | None) -> int | None:
        rows = None
        for line, statement in _statements(sql):
            try:
                cursor = self._connection.execute(statement)
                if cursor.description is not None:
                    rows = save(cursor, results)
            except sqlite3.Error as error:
                raise Failure(f"{name}:{line}: {error}") from error
        return rows

    def columns(self, table: str) -> list[Column]:
        asked = "SELECT name, type FROM pragma_table_info(?)"
        return self._connection.execute(asked, (table,)).fetchall()

    def fill(self, file: DataFile, columns: Sequence[Column]) -> int:
        names = ", ".join(quoted(name) for name, _ in columns)
        places = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {quoted(file.table)} ({names}) VALUES ({places})"  # noqa: S608 - all quoted
        try:
            return self._connection.executemany(sql, file.rows(len(columns))).rowcount
        except sqlite3.Error as error:
            raise Failure(f"{file.name}: {error}") from error

    def roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.rollback()


def _statements(sql: str) -> Iterator[tuple[int, str]]:
    """Yield each statement with the line where it begins.

    SQLite itself says where one ends: semicolons also stand in texts, comments and triggers.
    """
    pending, line = "", 1
    for piece in sql.split(";"):
        pending += piece
        whole = pending + ";"
        if sqlite3.complete_statement(whole):
            yield line + _leading_lines(whole), whole
            line += whole.count("\n")
            pending = ""
        else:
            pending = whole
    rest = pending.removesuffix(";")
    if rest.strip():
        yield line + _leading_lines(rest), rest


def _leading_lines(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")
