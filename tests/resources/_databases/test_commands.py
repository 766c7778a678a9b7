"""What all databases of SQL do alike, embedded or served from a container."""

from collections.abc import Generator
from typing import Any

import pytest

from benchyard.case.resource import step_context
from benchyard.core.errors import CommandFailedError, ProgramFailedError
from tests.resources._databases.conftest import SERVERS, Database, put, query, running
from tests.resources.containers import refusal

EMBEDDED = ("SQLite", "DuckDB")


@pytest.fixture(scope="module", params=[*EMBEDDED, *SERVERS])
def database(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Generator[Database]:
    """Give each database in turn, one for all tests of this module."""
    with running(request.param, tmp_path_factory.mktemp("it's [a] case*")) as up:
        yield up


def kind(database: Database) -> str:
    return type(database).__name__


def quoted(database: Database, name: str) -> str:
    mark = "`" if kind(database) == "MySQL" else '"'
    return mark + name.replace(mark, mark * 2) + mark


# -- loading


def test_names_are_lower_case_and_all_columns_text(database: Database) -> None:
    put(database, "people.csv", "ID,Name\n007,Ann\n8,NULL\n9,\n11,NULLABLE\n")
    assert database.load("people.csv", "People").values == {"rows": 4, "files": 1}
    rows = query(database, "SELECT id, name, name IS NULL AS n FROM people ORDER BY id")
    assert rows[0] == ["id", "name", "n"]
    assert [row[:2] for row in rows[1:]] == [
        ["007", "Ann"], ["11", "NULLABLE"], ["8", ""], ["9", ""],
    ]  # fmt: skip
    nulls = [row[2].lower() in {"t", "1", "true"} for row in rows[1:]]
    assert nulls == [False, False, True, False]


def test_defect_40_values_arrive_unchanged(database: Database) -> None:
    nasty = 'it\'s `id` $HOME $(id) \\N \\ %s :a "q"\n--;\u6f22#\U0001f600\r\tend'
    written = '"' + nasty.replace('"', '""') + '"'
    put(database, "nasty.csv", f"x,y\n{written},1\n")
    database.load("nasty.csv", "nasty")
    assert query(database, "SELECT x, y FROM nasty") == [["x", "y"], [nasty, "1"]]


def test_identifiers_and_file_names_mean_themselves(database: Database) -> None:
    # DuckDB has no way to name a file with a backslash.
    begin = "a 'b' \"c\" $d `e` f" if kind(database) == "DuckDB" else "a 'b' \"c\" $d `e` \\f"
    put(database, f"{begin} gx.csv", "x\nof a file that a glob would find\n")
    name = put(database, f"{begin} [g]*.csv", 'select,"a ""b"" c",it\'s `x`\n1,2,3\n')
    database.load(name, 'Weird "Table" `x`; DROP')
    names = ["select", 'a "b" c', "it's `x`"]
    columns = ", ".join(quoted(database, column) for column in names)
    table = quoted(database, 'weird "table" `x`; drop')
    assert query(database, f"SELECT {columns} FROM {table}") == [names, ["1", "2", "3"]]  # noqa: S608 - quoted


def test_loading_again_replaces_what_was_there(database: Database) -> None:
    put(database, "again.csv", "x\n1\n2\n")
    database.load("again.csv", "again")
    put(database, "again.csv", "\ufeffx,y\r\n3,4\r\n")
    database.load("again.csv", "again")
    assert query(database, "SELECT x, y FROM again") == [["x", "y"], ["3", "4"]]


def test_several_files_and_a_schema(database: Database) -> None:
    put(database, "s.sql", "-- a; comment\nDROP TABLE IF EXISTS Item;\n"
        "CREATE TABLE Item (a INTEGER, b VARCHAR(9), c DATE);\n")  # fmt: skip
    put(database, "i.csv", "C,a\n2020-01-31,2\nNULL,10\n")
    put(database, "i.tbl", '3|say "hi|2020-02-01|\n4|NULL|NULL|\n')
    result = database.load_sql_schema("s.sql", [("i.csv", "ITEM"), ("i.tbl", "item")])
    assert result.values == {"rows": 4, "files": 2}
    table = "Item" if kind(database) == "MySQL" else "item"
    assert query(database, f"SELECT * FROM {table} ORDER BY a")[1:] == [  # noqa: S608 - ours
        ["2", "", "2020-01-31"],
        ["3", 'say "hi', "2020-02-01"],
        ["4", "", ""],
        ["10", "", ""],
    ]


def test_what_a_schema_lacks_is_told(database: Database) -> None:
    put(database, "s.sql", "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER);")
    put(database, "t.csv", "a,zz\n1,2\n")
    put(database, "t.tbl", "1|\n")
    assert "'zz'" in refusal(lambda: database.load("t.csv", "t", "s.sql"))
    assert "'other'" in refusal(lambda: database.load("t.csv", "other", "s.sql"))
    assert "schema_file" in refusal(lambda: database.load("t.tbl", "t"))
    put(database, "wrong.sql", "SELECT 1;\n\nCREATE TABEL t (a INTEGER);\n")
    where = "wrong.sql: " if kind(database) == "DuckDB" else "wrong.sql:3: "
    assert where in refusal(lambda: database.load("t.csv", "t", "wrong.sql"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"x,y\n1,2\n3\n", 3),
        (b"x,y\n1,2\n3,4,5\n", 3),
        (b'x,y\n1,"a\nb"\n"c\nd",4,5\n', 4),
        (b"x,y\n1,2\n3,\xff\n", 3),
        (b"x,\n1,2\n", 1),
        (b"x,X\n1,2\n", 1),
        (b"", 1),
        (b'x,y\n1,"2\n3,4\n', None),
        (b"1|2|\n3|\n", 2),
        (b"1|2|\n3|4|5|\n", 2),
        (b"1|2|\n3|4\n", 2),
    ],
)
def test_a_malformed_file_is_named_with_its_line(
    database: Database, text: bytes, line: int | None
) -> None:
    name, schema = ("sub/bad.tbl", "s.sql") if b"|" in text else ("sub/bad.csv", None)
    put(database, "s.sql", "DROP TABLE IF EXISTS bad; CREATE TABLE bad (a INTEGER, b INTEGER);")
    put(database, name, text)
    where = name if line is None else f"{name}:{line}"
    assert where in refusal(lambda: database.load(name, "bad", schema))


def test_a_failed_load_is_undone_and_leaves_a_database_that_goes_on(database: Database) -> None:
    put(database, "one.csv", "x\n0\n")
    database.load("one.csv", "one")
    put(database, "one.csv", "x\n1\n")
    put(database, "two.csv", "x,y\n1\n")
    pairs: Any = [{"file": "one.csv", "table": "one"}, {"file": "two.csv", "table": "two"}]
    assert "two.csv:2:" in refusal(lambda: database.load_multiple(pairs))
    assert database.alive()
    # Making a table ends MySQL's transactions.
    if kind(database) != "MySQL":
        assert query(database, "SELECT x FROM one") == [["x"], ["0"]]
    put(database, "two.csv", "x,y\n1,2\n")
    assert database.load_multiple(pairs).values == {"rows": 2, "files": 2}
    put(database, "k.sql", "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER PRIMARY KEY);")
    put(database, "k.csv", "a\n1\n1\n")
    assert "k.csv" in refusal(lambda: database.load("k.csv", "t", "k.sql"))
    put(database, "k.csv", "a\n1\n2\n")
    assert database.load("k.csv", "t", "k.sql").values["rows"] == 2


# -- queries


def test_only_the_rows_of_the_last_query_are_saved(database: Database) -> None:
    rows = query(
        database,
        "DROP TABLE IF EXISTS q;CREATE TABLE q (a INTEGER);\nSELECT 1 AS first;\n-- a; comment\n"
        "INSERT INTO q VALUES (1), (2);\nSELECT a, ';' AS b FROM q ORDER BY a; -- end\n"
        "DROP TABLE q;\n",
    )
    assert rows == [["a", "b"], ["1", ";"], ["2", ";"]]


def test_an_answer_without_rows_has_its_header(database: Database) -> None:
    assert query(database, "SELECT 1 AS a, 2 AS b FROM (SELECT 1) t WHERE 1 = 0") == [["a", "b"]]


def test_a_null_alone_in_its_row_is_still_a_row(database: Database) -> None:
    text = "a\n\nb"
    asked = f"SELECT a FROM (SELECT NULL AS a UNION ALL SELECT '{text}') x ORDER BY a IS NULL"  # noqa: S608
    assert query(database, asked) == [["a"], [text], [""]]


def test_without_a_results_file_the_rows_are_kept_under_the_step(database: Database) -> None:
    put(database, "q.sql", "SELECT 7 AS a UNION ALL SELECT 8 ORDER BY a")
    with step_context("04-ask"):
        result = database.execute_query_file("q.sql")
    assert result.values == {"rows": 2}
    assert result.output == database.workspace.kept / "04-ask.csv"
    assert result.output.read_text() == "a\n7\n8\n"


def test_a_file_without_a_query_has_no_rows_to_save(database: Database) -> None:
    put(database, "q.sql", "CREATE TABLE none_yet (a INTEGER);")
    with step_context("05-make"):
        result = database.execute_query_file("q.sql")
    assert (result.values, result.output) == ({"rows": None}, None)
    assert not list(database.workspace.kept.glob("05-make*"))
    put(database, "q.sql", "DROP TABLE none_yet;")
    assert "results_file" in refusal(lambda: database.execute_query_file("q.sql", "r.csv"))


def test_execute_counts_the_rows_and_keeps_none(database: Database) -> None:
    with step_context("06-count"):
        result = database.execute("CREATE TABLE c (a INTEGER); DROP TABLE c; SELECT 1")
    assert (result.values, result.output) == ({"rows": 1}, None)
    assert not list(database.workspace.kept.glob("06-count*"))


def test_no_half_answer_is_left(database: Database) -> None:
    put(database, "half.sql", "SELECT 1 AS a;\nSELECT * FROM nowhere;")
    said = refusal(lambda: database.execute_query_file("half.sql", "half.csv"))
    where = "half.sql: " if kind(database) == "DuckDB" else "half.sql:2: "
    assert said.startswith(f"{kind(database)}: {where}")
    assert "nowhere" in said
    assert not (database.workspace.shared / "half.csv").exists()


def test_a_refused_statement_is_the_databases_own_answer(database: Database) -> None:
    put(database, "short.csv", "a,b\n1\n")
    for call in (
        lambda: database.execute("SELECT * FROM nowhere"),
        lambda: database.execute("SELECT 1; SELEC 2"),
        lambda: database.load("short.csv", "short"),
    ):
        with pytest.raises(ProgramFailedError):
            call()
    # What the lab refuses has never come to the database.
    for name, why in (("gone.csv", r"no file 'gone\.csv'"), ("../../etc/passwd", "outside")):
        with pytest.raises(CommandFailedError, match=why) as caught:
            database.load(name, "t")
        assert not isinstance(caught.value, ProgramFailedError)
    put(database, "q.sql", "SELECT 1")
    assert "outside" in refusal(lambda: database.execute_query_file("q.sql", "../r.csv"))


def test_long_values_and_many_rows_come_back_whole(database: Database) -> None:
    put(database, "long.csv", "x,y\n1," + "z" * 1_000_000 + "\n")
    database.load("long.csv", "long_values")
    assert query(database, "SELECT length(y) AS n FROM long_values") == [["n"], ["1000000"]]
    put(database, "rows.csv", "x,y\n" + "".join(f"{i},<v&{i}>\n" for i in range(20_000)))
    assert database.load("rows.csv", "rows_back").values["rows"] == 20_000
    rows = query(database, "SELECT x, y FROM rows_back")
    assert sorted(rows[1:], key=lambda row: int(row[0])) == [
        [str(i), f"<v&{i}>"] for i in range(20_000)
    ]
    assert database.execute("SELECT x FROM rows_back").values == {"rows": 20_000}


# -- embedded


@pytest.fixture(scope="module", params=EMBEDDED)
def embedded(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Generator[Database]:
    """Give each once: to import an engine takes longer than these tests."""
    with running(request.param, tmp_path_factory.mktemp(request.param)) as up:
        yield up


@pytest.mark.parametrize(
    ("text", "line"), [('x,y\n1,2\n3,"4"5\n', 3), ("x,y\r\n1,2\r\n\r\n3\r\n", 4)]
)
def test_lines_are_counted_as_editors_do(embedded: Database, text: str, line: int) -> None:
    put(embedded, "bad.csv", text)
    assert f"bad.csv:{line}:" in refusal(lambda: embedded.load("bad.csv", "bad"))


def test_values_are_written_the_same_way(embedded: Database) -> None:
    rows = query(
        embedded,
        "SELECT 1.0 / 4 AS a, NULL AS b, '' AS c, 'x,y' AS d, 1e20 AS e, 'p#q' AS f, "
        "CAST('2020-01-31' AS VARCHAR) AS g",
    )[1]
    assert float(rows[0]) == 0.25
    assert float(rows[4]) == 1e20
    assert rows[1:4] + rows[5:] == ["", "", "x,y", "p#q", "2020-01-31"]


def test_an_error_in_a_transaction_leaves_none_behind(embedded: Database) -> None:
    embedded.execute("CREATE TABLE begun (a INTEGER)")
    begun = "BEGIN; INSERT INTO begun VALUES (1); SELECT * FROM nowhere"
    refusal(lambda: embedded.execute(begun))
    assert query(embedded, "SELECT count(*) AS n FROM begun") == [["n"], ["0"]]
