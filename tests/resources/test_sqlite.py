"""SQLite alone: pragmas, and where its errors point."""

from collections.abc import Callable
from typing import Any

import pytest

from benchyard.core.errors import InputError, NotReadyError
from resources.embedded import EmbeddedDatabase, SQLiteSettings
from tests.resources._databases.conftest import query

Open = Callable[..., EmbeddedDatabase[Any]]
Put = Callable[[str, str], str]


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
