"""What the commands of all embedded databases do alike."""

import csv
import math
from collections.abc import Callable, Generator
from typing import Any

import pytest

import resources
from benchyard.case.resource import Workspace
from benchyard.core.errors import CommandFailedError
from resources.embedded import EmbeddedDatabase

Database = EmbeddedDatabase[Any]
Put = Callable[[str, str], str]
Query = Callable[[Database, str], list[list[str]]]
Open = Callable[..., Database]

#: Where each engine lists what is in its database.
LISTED = {
    "SQLite": "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')",
    "DuckDB": "SELECT 'table', table_name FROM duckdb_tables()",
}


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Generator[Callable[[str], Database]]:
    """Start each database once: to import an engine takes longer than most of these tests."""
    known: dict[str, Database] = {}

    def start(name: str) -> Database:
        if name not in known or not known[name].alive():
            base = tmp_path_factory.mktemp(name) / "it's [a] case*"
            place = Workspace(base / "inputs", base / "shared", base / "own", base / "kept")
            found: Any = resources.find().classes[name]
            known[name] = found(found.Settings(), place)
            known[name].start()
            known[name].wait_until_ready()
        return known[name]

    yield start
    for database in known.values():
        database.stop()


@pytest.fixture(params=["SQLite", "DuckDB"])
def database(
    request: pytest.FixtureRequest,
    started: Callable[[str], Database],
    workspace: Workspace,
    query: Query,
) -> Generator[Database]:
    """Give each embedded database in turn, empty, at work on the files of this test."""
    one = started(request.param)
    one.workspace = workspace
    yield one
    for kind, name in query(one, LISTED[request.param])[1:]:
        quoted = name.replace('"', '""')
        one.execute(f'DROP {kind} "{quoted}"')
    assert len(query(one, LISTED[request.param])) <= 1


def fail(call: Callable[[], object]) -> str:
    with pytest.raises(CommandFailedError) as caught:
        call()
    return str(caught.value)


def test_many_files_are_one_transaction(database: Database, put: Put, query: Query) -> None:
    put("a.csv", "x\n1\n")
    put("b.csv", "x\n1,2\n")
    database.load("a.csv", "a")
    put("a.csv", "x\n5\n6\n")
    said = fail(
        lambda: database.load_multiple(
            [{"file": "a.csv", "table": "a"}, {"file": "b.csv", "table": "b"}]
        )
    )
    assert "b.csv:2" in said
    assert query(database, "SELECT x FROM a") == [["x"], ["1"]]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('x,y\n1,2\n3,"4"5\n', 3),
        ("x,y\r\n1,2\r\n\r\n3\r\n", 4),
    ],
)
def test_a_malformed_file_is_named_with_its_line(
    database: Database, put: Put, text: str, line: int
) -> None:
    put("sub/bad.csv", text)
    assert f"sub/bad.csv:{line}:" in fail(lambda: database.load("sub/bad.csv", "bad"))


def test_values_are_written_the_same_way(database: Database, query: Query) -> None:
    rows = query(
        database,
        "SELECT 1.0 / 4 AS a, NULL AS b, '' AS c, 'x,y' AS d, 1e20 AS e, 'p#q' AS f, "
        "CAST('2020-01-31' AS VARCHAR) AS g",
    )[1]
    assert float(rows[0]) == 0.25
    assert float(rows[4]) == 1e20
    assert rows[1:4] + rows[5:] == ["", "", "x,y", "p#q", "2020-01-31"]


def test_an_error_in_a_transaction_leaves_none_behind(database: Database, query: Query) -> None:
    database.execute("CREATE TABLE t (a INTEGER)")
    fail(lambda: database.execute("BEGIN; INSERT INTO t VALUES (1); SELECT * FROM nowhere"))
    assert query(database, "SELECT count(*) AS n FROM t") == [["n"], ["0"]]


def test_both_engines_agree(open_database: Open, workspace: Workspace, put: Put) -> None:
    put("s.sql", "CREATE TABLE t (k INTEGER, d DATE, m DECIMAL(15, 2), s VARCHAR(20));")
    put("t.tbl", "".join(f"{i}|1995-01-{i % 28 + 1:02d}|{i * 7}.{i % 100:02d}|s{i % 7}|\n"
                         for i in range(1000)))  # fmt: skip
    put(
        "q.sql",
        "SELECT s, min(d) AS first, sum(m * (1 - 0.05)) AS total, avg(m) AS mean, count(*) AS n "
        "FROM t GROUP BY s ORDER BY s;",
    )
    answers: list[list[list[str]]] = []
    for name in ("SQLite", "DuckDB"):
        engine = open_database(name)
        engine.load_sql_schema("s.sql", [("t.tbl", "t")])
        engine.execute_query_file("q.sql", f"{name}.csv")
        with workspace.file(f"{name}.csv").open(newline="") as stream:
            answers.append(list(csv.reader(stream)))
    assert len(answers[0]) == 8
    for ours, theirs in zip(*answers, strict=True):
        assert ours[:2] == theirs[:2]
        if ours[0] != "s":
            for mine, other in zip(ours[2:], theirs[2:], strict=True):
                assert math.isclose(float(mine), float(other))
