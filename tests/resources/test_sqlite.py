"""SQLite alone: pragmas, and where its errors point."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import CommandFailedError, InputError, NotReadyError
from resources.embedded import EmbeddedDatabase, SQLite, SQLiteSettings
from tests.resources._databases.conftest import query

Open = Callable[..., EmbeddedDatabase[Any]]
Put = Callable[[str, str], str]


def test_version_is_the_library_s(workspace: Workspace) -> None:
    assert SQLite(SQLiteSettings(), workspace).version() == sqlite3.sqlite_version


def test_pragmas_are_set(open_database: Open) -> None:
    pragmas = {"journal_mode": "WAL", "synchronous": "off", "cache_size": -4000}
    database = open_database("SQLite", {"pragmas": pragmas})
    assert query(database, "PRAGMA journal_mode")[1] == ["wal"]
    assert query(database, "PRAGMA synchronous")[1] == ["0"]
    assert query(database, "PRAGMA cache_size")[1] == ["-4000"]


@pytest.mark.parametrize(
    ("pragmas", "said"),
    [
        ({"jornal_mode": "WAL"}, "no pragma 'jornal_mode'"),
        ({"journal_mode": "WALL"}, "journal_mode.*'WALL'.*'delete'"),
        ({"page_size": 1000}, "page_size.*1000.*4096"),
        ({"synchronous": "sometimes"}, "synchronous.*'sometimes'"),
    ],
)
def test_wrong_pragmas_are_told(
    open_database: Open, pragmas: dict[str, str | int], said: str
) -> None:
    with pytest.raises(NotReadyError, match=f"SQLite cannot open its database: .*{said}"):
        open_database("SQLite", {"pragmas": pragmas})


def test_a_pragma_cannot_smuggle_sql() -> None:
    with pytest.raises(InputError, match="not the name of a pragma"):
        SQLiteSettings(pragmas={"cache_size = 1; DROP TABLE t": 1})


def test_an_error_points_at_the_line_of_its_statement(open_database: Open, put: Put) -> None:
    database = open_database("SQLite")
    put("q.sql", "-- first; a comment\nSELECT 'a;b';\n\n\nSELECT missing;\n")
    with pytest.raises(CommandFailedError, match=r"SQLite: q\.sql:5: no such column: missing"):
        database.execute_query_file("q.sql")


def test_triggers_are_one_statement(open_database: Open) -> None:
    database = open_database("SQLite")
    rows = query(
        database,
        "CREATE TABLE t (a); CREATE TABLE u (a);"
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN"
        " INSERT INTO u VALUES (new.a); INSERT INTO u VALUES (new.a + 1); END;"
        "INSERT INTO t VALUES (1); SELECT a FROM u ORDER BY a",
    )
    assert rows == [["a"], ["1"], ["2"]]


def test_a_comma_too_many_is_an_error(open_database: Open, put: Put) -> None:
    """Not for DuckDB: its versions before 2.0 let one pass."""
    put("a.csv", "x,y\n1,2\n3,4,\n")
    with pytest.raises(CommandFailedError, match=r"a\.csv:3: it has 3 values, and 2 are expected"):
        open_database("SQLite").load("a.csv", "a")
