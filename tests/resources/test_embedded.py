"""What the commands of all embedded databases do alike."""

import csv
import math
from collections.abc import Callable, Generator
from typing import Any

import pytest

import resources
from benchyard.case.resource import Workspace, step_context
from benchyard.core.errors import CommandFailedError, ProgramFailedError
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


def test_without_a_schema_names_are_lower_case_and_all_columns_text(
    database: Database, put: Put, query: Query
) -> None:
    put("people.csv", "ID,Name\n007,Ann\n8,NULL\n9,\n")
    result = database.load("people.csv", "People")
    assert result.values == {"rows": 3, "files": 1}
    rows = query(database, "SELECT id, name, name IS NULL AS n FROM people ORDER BY id")
    assert rows[0] == ["id", "name", "n"]
    assert [row[:2] for row in rows[1:]] == [["007", "Ann"], ["8", ""], ["9", ""]]
    assert [row[2].lower() in ("1", "true") for row in rows[1:]] == [False, True, False]


def test_loading_again_replaces_what_was_there(database: Database, put: Put, query: Query) -> None:
    put("a.csv", "x\n1\n2\n")
    database.load("a.csv", "a")
    put("a.csv", "x,y\n3,4\n")
    database.load("a.csv", "a")
    assert query(database, "SELECT * FROM a") == [["x", "y"], ["3", "4"]]


def test_quotes_commas_newlines_and_foreign_letters_survive(
    database: Database, put: Put, query: Query
) -> None:
    put("a.csv", '\ufeffx,y\n"a,b","say ""hi"""\n"two\nlines",\u00e9#\u6f22\n')
    database.load("a.csv", "a")
    rows = query(database, "SELECT x, y FROM a ORDER BY x -- \u00e9 ; \n ; -- the end")
    assert rows[1:] == [["a,b", 'say "hi"'], ["two\nlines", "\u00e9#\u6f22"]]


def test_identifiers_may_hold_quotes_blanks_and_keywords(
    database: Database, put: Put, query: Query
) -> None:
    put("a.csv", 'select,"a ""b"" c",it\'s\n1,2,3\n')
    database.load("a.csv", 'Weird "Table"; DROP')
    rows = query(database, 'SELECT "select", "a ""b"" c", "it\'s" FROM "weird ""table""; drop"')
    assert rows == [["select", 'a "b" c', "it's"], ["1", "2", "3"]]


def test_file_names_with_stars_and_brackets_mean_themselves(
    database: Database, put: Put, query: Query
) -> None:
    put("[ab]*.csv", "x\n1\n")
    put("a1.csv", "x\n2\n")
    database.load("[ab]*.csv", "a")
    assert query(database, "SELECT x FROM a") == [["x"], ["1"]]


def test_a_schema_gives_types_and_the_header_gives_the_places(
    database: Database, put: Put, query: Query
) -> None:
    put("s.sql", "CREATE TABLE Item (a INTEGER, b VARCHAR(9), c DATE, d DECIMAL(9, 2));")
    put("i.csv", "D,a,c\n1.50,2,2020-01-31\nNULL,10,NULL\n")
    database.load("i.csv", "ITEM", "s.sql")
    rows = query(database, "SELECT * FROM item ORDER BY a")
    assert rows[0] == ["a", "b", "c", "d"]
    assert rows[1][:3] == ["2", "", "2020-01-31"]
    assert float(rows[1][3]) == 1.5
    assert rows[2] == ["10", "", "", ""]


def test_tbl_files_are_loaded_by_position(database: Database, put: Put, query: Query) -> None:
    put("s.sql", "CREATE TABLE t (a INTEGER, b VARCHAR(20), c DATE);")
    put("t.tbl", '1|say "hi|2020-01-31|\n2|NULL|2020-02-01|\n')
    database.load_sql_schema("s.sql", [("t.tbl", "t")])
    rows = query(database, "SELECT * FROM t ORDER BY a")
    assert rows == [
        ["a", "b", "c"],
        ["1", 'say "hi', "2020-01-31"],
        ["2", "", "2020-02-01"],
    ]


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


def test_a_failed_load_with_a_schema_can_be_tried_again(
    database: Database, put: Put, query: Query
) -> None:
    put("s.sql", "CREATE TABLE t (a INTEGER PRIMARY KEY);")
    put("t.csv", "a\n1\n1\n")
    assert "t.csv" in fail(lambda: database.load("t.csv", "t", "s.sql"))
    put("t.csv", "a\n1\n2\n")
    database.load("t.csv", "t", "s.sql")
    assert query(database, "SELECT count(*) AS n FROM t") == [["n"], ["2"]]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x,y\n1,2\n3\n", 3),
        ("x,y\n1,2\n3,4,5\n", 3),
        ('x,y\n1,"a\nb"\n"c\nd",4,5\n', 4),
        ('x,y\n1,2\n3,"4"5\n', 3),
        ("x,y\n1,2\n3,\xff\n", 3),
        ("x,y\r\n1,2\r\n\r\n3\r\n", 4),
        ("x,\n1,2\n", 1),
        ("x,X\n1,2\n", 1),
        ("", 1),
    ],
)
def test_a_malformed_file_is_named_with_its_line(
    database: Database, put: Put, text: str, line: int
) -> None:
    put("sub/bad.csv", text)
    assert f"sub/bad.csv:{line}:" in fail(lambda: database.load("sub/bad.csv", "bad"))


def test_an_open_quote_is_an_error(database: Database, put: Put) -> None:
    put("bad.csv", 'x,y\n1,"2\n3,4\n')
    assert "bad.csv:" in fail(lambda: database.load("bad.csv", "bad"))


@pytest.mark.parametrize("text", ["1|2|\n3|\n", "1|2|\n3|4|5|\n", "1|2|\n3|4\n", "1|2|\n3|4|5\n"])
def test_a_malformed_tbl_is_named_with_its_line(database: Database, put: Put, text: str) -> None:
    put("s.sql", "CREATE TABLE t (a INTEGER, b INTEGER);")
    put("t.tbl", text)
    assert "t.tbl:2:" in fail(lambda: database.load("t.tbl", "t", "s.sql"))


def test_what_a_schema_lacks_is_told(database: Database, put: Put) -> None:
    put("s.sql", "CREATE TABLE t (a INTEGER);")
    put("t.csv", "a,zz\n1,2\n")
    put("t.tbl", "1|\n")
    assert "'zz'" in fail(lambda: database.load("t.csv", "t", "s.sql"))
    assert "'other'" in fail(lambda: database.load("t.csv", "other", "s.sql"))
    assert "schema_file" in fail(lambda: database.load("t.tbl", "t"))


def test_only_the_rows_of_the_last_query_are_saved(database: Database, query: Query) -> None:
    rows = query(
        database,
        "CREATE TABLE t (a INTEGER);\nSELECT 1 AS first;\n-- a; comment\n"
        "INSERT INTO t VALUES (1), (2);\nSELECT a, ';' AS b FROM t ORDER BY a; -- end\n"
        "DROP TABLE t;\n",
    )
    assert rows == [["a", "b"], ["1", ";"], ["2", ";"]]


def test_values_are_written_the_same_way(database: Database, query: Query) -> None:
    rows = query(
        database,
        "SELECT 1.0 / 4 AS a, NULL AS b, '' AS c, 'x,y' AS d, 1e20 AS e, 'p#q' AS f, "
        "CAST('2020-01-31' AS VARCHAR) AS g",
    )[1]
    assert float(rows[0]) == 0.25
    assert float(rows[4]) == 1e20
    assert rows[1:4] + rows[5:] == ["", "", "x,y", "p#q", "2020-01-31"]


def test_a_null_alone_in_its_row_is_still_a_row(
    database: Database, workspace: Workspace, query: Query
) -> None:
    rows = query(database, "SELECT a FROM (SELECT NULL AS a UNION ALL SELECT 1) x ORDER BY a DESC")
    assert sorted(rows) == [[""], ["1"], ["a"]]
    assert workspace.file("answer.csv").read_text().count("\n") == 3


def test_without_a_results_file_the_rows_are_kept_under_the_step(
    database: Database, workspace: Workspace, put: Put
) -> None:
    put("q.sql", "SELECT 7 AS a UNION ALL SELECT 8")
    with step_context("04-ask"):
        result = database.execute_query_file("q.sql")
    assert result.values == {"rows": 2}
    assert result.output == workspace.kept / "04-ask.csv"
    assert (workspace.kept / "04-ask.csv").read_text().splitlines()[0] == "a"


def test_a_file_without_a_query_has_no_rows_to_save(
    database: Database, put: Put, workspace: Workspace
) -> None:
    put("q.sql", "CREATE TABLE t (a INTEGER);")
    result = database.execute_query_file("q.sql")
    assert (result.values, result.output) == ({"rows": None}, None)
    put("q.sql", "DROP TABLE t;")
    assert "results_file" in fail(lambda: database.execute_query_file("q.sql", "r.csv"))
    assert list(workspace.kept.iterdir()) == []


def test_execute_counts_the_rows_and_keeps_none(database: Database, workspace: Workspace) -> None:
    result = database.execute("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1); SELECT 1")
    assert result.values == {"rows": 1}
    assert result.output is None
    assert list(workspace.kept.iterdir()) == []


def test_wrong_sql_is_told_with_the_engine_and_the_file(
    database: Database, workspace: Workspace, put: Put
) -> None:
    put("q.sql", "SELECT 1 AS a;\n\nSELECT * FROM nowhere;")
    said = fail(lambda: database.execute_query_file("q.sql", "r.csv"))
    assert said.startswith(f"{type(database).__name__}: q.sql:")
    assert "nowhere" in said
    assert not (workspace.shared / "r.csv").exists()
    assert "syntax error" in fail(lambda: database.execute("SELEC 1"))


def test_an_error_in_a_transaction_leaves_none_behind(database: Database, query: Query) -> None:
    database.execute("CREATE TABLE t (a INTEGER)")
    fail(lambda: database.execute("BEGIN; INSERT INTO t VALUES (1); SELECT * FROM nowhere"))
    assert query(database, "SELECT count(*) AS n FROM t") == [["n"], ["0"]]


def test_files_outside_of_the_case_are_refused(database: Database, put: Put) -> None:
    put("q.sql", "SELECT 1")
    assert "outside" in fail(lambda: database.load("../../etc/passwd", "t"))
    assert "outside" in fail(lambda: database.execute_query_file("q.sql", "../r.csv"))
    assert "no file 'gone.csv'" in fail(lambda: database.load("gone.csv", "t"))


def test_long_values_and_many_rows(database: Database, put: Put, query: Query) -> None:
    put("long.csv", "x,y\n1," + "z" * 1_000_000 + "\n")
    database.load("long.csv", "long")
    assert query(database, "SELECT length(y) AS n FROM long") == [["n"], ["1000000"]]
    put("many.csv", "x,y\n" + "".join(f"{i},v{i}\n" for i in range(50_000)))
    assert database.load("many.csv", "many").values["rows"] == 50_000
    rows = query(database, "SELECT x, y FROM many")
    assert rows[1:] == [[str(i), f"v{i}"] for i in range(50_000)]


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


def test_a_refused_statement_is_the_databases_own_answer(database: Database) -> None:
    with pytest.raises(ProgramFailedError):
        database.execute("SELECT * FROM nowhere")
    # What the lab refuses has never come to the database.
    with pytest.raises(CommandFailedError) as caught:
        database.load("gone.csv", "t")
    assert not isinstance(caught.value, ProgramFailedError)
