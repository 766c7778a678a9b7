"""What PostgreSQL and MySQL do alike, on real servers."""

import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import step_context
from benchyard.core.errors import CommandFailedError, ProgramFailedError
from resources._databases.dialog import Dialog, DialogEndedError
from tests.conftest import eventually
from tests.resources._containers.conftest import docker, inspected
from tests.resources._databases.conftest import Database, fail, put, query, running

pytestmark = [pytest.mark.slow, pytest.mark.requires("docker")]

IMAGE_OF = {"PostgreSQL": "image:postgresql", "MySQL": "image:mysql"}
BOTH = [pytest.param(name, marks=pytest.mark.requires(image)) for name, image in IMAGE_OF.items()]


@pytest.fixture(scope="module", params=BOTH)
def database(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Generator[Database]:
    """Give each database in turn, one for all tests of this module."""
    folder = tmp_path_factory.mktemp("it's a case")
    with running(request.param, folder) as up:
        yield up


def key_of(database: Database) -> str:
    return "key" if type(database).__name__ == "PostgreSQL" else "k"


def container_of(database: Database) -> str:
    return database._up().name


def test_names_are_lower_case_all_columns_text_and_there_is_a_key(database: Database) -> None:
    put(database, "people.csv", 'ID,Name\n007,Ann\n8,NULL\n9,\n10,"NULL"\n11,NULLABLE\n')
    result = database.load("people.csv", "People")
    assert result.values == {"rows": 5, "files": 1}
    rows = query(database, "SELECT id, name, name IS NULL AS n FROM people ORDER BY id")
    assert rows[0] == ["id", "name", "n"]
    assert [row[:2] for row in rows[1:]] == [
        ["007", "Ann"],
        ["10", "NULL"],
        ["11", "NULLABLE"],
        ["8", ""],
        ["9", ""],
    ]
    assert [row[2] in {"t", "1"} for row in rows[1:]] == [False, False, False, True, False]
    assert query(database, "SELECT * FROM people LIMIT 1")[0] == [key_of(database), "id", "name"]


def test_defect_40_values_arrive_unchanged(database: Database) -> None:
    nasty = 'it\'s `id` $HOME $(id) \\N \\ %s :a "q"\n--;\u6f22\U0001f600\r\tend'
    quoted = '"' + nasty.replace('"', '""') + '"'
    put(database, "nasty.csv", f"x,y\n{quoted},1\n")
    database.load("nasty.csv", "nasty")
    assert query(database, "SELECT x, y FROM nasty") == [["x", "y"], [nasty, "1"]]


def test_identifiers_and_file_names_mean_themselves(database: Database) -> None:
    name = put(database, "a 'b' \"c\" $d `e` \\f [g]*.csv", 'select,"a ""b"" c",it\'s `x`\n1,2,3\n')
    database.load(name, 'Weird "Table" `x`; DROP')
    table = quoted(database, 'weird "table" `x`; drop')
    header, row = query(database, f"SELECT * FROM {table}")  # noqa: S608 - quoted
    assert header == [key_of(database), "select", 'a "b" c', "it's `x`"]
    assert row[1:] == ["1", "2", "3"]
    assert int(row[0]) == 1


def quoted(database: Database, name: str) -> str:
    mark = '"' if type(database).__name__ == "PostgreSQL" else "`"
    return mark + name.replace(mark, mark * 2) + mark


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
    table = "Item" if type(database).__name__ == "MySQL" else "item"
    assert query(database, f"SELECT * FROM {table} ORDER BY a")[1:] == [  # noqa: S608 - ours
        ["2", "", "2020-01-31"],
        ["3", 'say "hi', "2020-02-01"],
        ["4", "", ""],
        ["10", "", ""],
    ]
    assert list(database.workspace.own.iterdir()) == []


def test_what_a_schema_lacks_is_told(database: Database) -> None:
    put(database, "s.sql", "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER);")
    put(database, "t.csv", "a,zz\n1,2\n")
    put(database, "t.tbl", "1|\n")
    assert "'zz'" in fail(lambda: database.load("t.csv", "t", "s.sql"))
    assert "'other'" in fail(lambda: database.load("t.csv", "other", "s.sql"))
    assert "schema_file" in fail(lambda: database.load("t.tbl", "t"))
    put(database, "wrong.sql", "SELECT 1;\n\nCREATE TABEL t (a INTEGER);\n")
    assert "wrong.sql:3: " in fail(lambda: database.load("t.csv", "t", "wrong.sql"))


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
    ],
)
def test_a_malformed_file_is_named_with_its_line(
    database: Database, text: bytes, line: int
) -> None:
    put(database, "sub/bad.csv", text)
    assert f"sub/bad.csv:{line}:" in fail(lambda: database.load("sub/bad.csv", "bad"))


def test_an_open_quote_is_an_error(database: Database) -> None:
    put(database, "bad.csv", 'x,y\n1,"2\n3,4\n')
    assert "bad.csv" in fail(lambda: database.load("bad.csv", "bad"))


@pytest.mark.parametrize("text", ["1|2|\n3|\n", "1|2|\n3|4|5|\n", "1|2|\n3|4\n"])
def test_a_malformed_tbl_is_named_with_its_line(database: Database, text: str) -> None:
    put(database, "s.sql", "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER, b INTEGER);")
    put(database, "t.tbl", text)
    assert "t.tbl:2" in fail(lambda: database.load("t.tbl", "t", "s.sql"))


def test_a_value_that_no_column_takes_is_an_error(database: Database) -> None:
    put(database, "s.sql", "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER, b VARCHAR(3));")
    put(database, "t.csv", "a,b\n1,x\ntwo,y\n")
    assert "t.csv:3:" in fail(lambda: database.load("t.csv", "t", "s.sql"))
    put(database, "t.csv", "a,b\n1,x\n2,long\n")
    assert "t.csv:3:" in fail(lambda: database.load("t.csv", "t", "s.sql"))
    put(database, "k.sql", "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER PRIMARY KEY);")
    put(database, "k.csv", "a\n1\n1\n")
    assert "k.csv" in fail(lambda: database.load("k.csv", "t", "k.sql"))


def test_a_failed_load_leaves_a_database_that_goes_on(database: Database) -> None:
    put(database, "one.csv", "x\n1\n")
    put(database, "two.csv", "x,y\n1\n")
    pairs: Any = [{"file": "one.csv", "table": "one"}, {"file": "two.csv", "table": "two"}]
    assert "two.csv:2:" in fail(lambda: database.load_multiple(pairs))
    assert database.alive()
    put(database, "two.csv", "x,y\n1,2\n")
    assert database.load_multiple(pairs).values == {"rows": 2, "files": 2}


def test_defect_16_and_48_only_rows_are_counted_and_no_file_is_left(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database, "many.csv", "x,y\n" + "".join(f"{i},v{i}\n" for i in range(10_000)))
    before = sorted(path.name for path in database.workspace.shared.iterdir())
    kept = sorted(path.name for path in database.workspace.kept.iterdir())
    asked: list[str] = []
    program = database._talk()._program
    send = program.send

    def listen(content: bytes) -> None:
        asked.append(content.decode())
        send(content)

    monkeypatch.setattr(program, "send", listen)
    assert database.load("many.csv", "many").values["rows"] == 10_000
    assert asked
    assert not [text for text in asked if "SELECT *" in text or "FROM many" in text]
    assert sorted(path.name for path in database.workspace.shared.iterdir()) == before
    assert sorted(path.name for path in database.workspace.kept.iterdir()) == kept
    assert list(database.workspace.own.iterdir()) == []


def test_defect_15_the_second_step_is_served_by_the_same_server(database: Database) -> None:
    before = inspected(container_of(database))["State"]
    client = database._talk()
    put(database, "a.csv", "x\n1\n")
    database.load("a.csv", "first")
    database.load("a.csv", "second")
    assert database._talk() is client
    assert inspected(container_of(database))["State"] == before


def test_defect_42_what_a_client_says_is_its_own(database: Database) -> None:
    assert query(database, "SELECT 'the answer' AS a") == [["a"], ["the answer"]]
    assert "nowhere" in fail(lambda: database.execute("SELECT * FROM nowhere"))


def test_defect_43_ports_are_on_loopback_and_free_ones(database: Database) -> None:
    ports = inspected(container_of(database))["NetworkSettings"]["Ports"]
    bound = [binding for bindings in ports.values() for binding in bindings or ()]
    assert bound
    assert {binding["HostIp"] for binding in bound} == {"127.0.0.1"}
    assert not {binding["HostPort"] for binding in bound} & {"5432", "3306"}


def test_the_password_is_on_no_command_line(database: Database) -> None:
    listed = docker("top", container_of(database), "-eo", "pid,args")
    assert "psql" in listed or "mysql" in listed or "mariadb" in listed
    assert "password=root" not in listed
    assert "-proot" not in listed


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
    asked = "SELECT a FROM (SELECT NULL AS a UNION ALL SELECT '1') x ORDER BY a IS NULL"
    assert query(database, asked) == [["a"], ["1"], [""]]
    assert database.workspace.file("answer.csv").read_text().count("\n") == 3


def test_without_a_results_file_the_rows_are_kept_under_the_step(database: Database) -> None:
    put(database, "q.sql", "SELECT 7 AS a UNION ALL SELECT 8")
    with step_context("04-ask"):
        result = database.execute_query_file("q.sql")
    assert result.values == {"rows": 2}
    assert result.output == database.workspace.kept / "04-ask.csv"
    assert result.output.read_text() == "a\n7\n8\n"


def test_a_file_without_a_query_has_no_rows_to_save(database: Database) -> None:
    put(database, "q.sql", "CREATE TABLE none_yet (a INTEGER);")
    result = database.execute_query_file("q.sql")
    assert (result.values, result.output) == ({"rows": None}, None)
    put(database, "q.sql", "DROP TABLE none_yet;")
    assert "results_file" in fail(lambda: database.execute_query_file("q.sql", "r.csv"))


@pytest.mark.parametrize(
    "text", ["SELECT 'open", "SELECT (1", "/* open", 'SELECT "open', "SELECT 1 AS a; SELEC 2"]
)
def test_sql_that_is_not_whole_is_an_error_and_hangs_nothing(database: Database, text: str) -> None:
    put(database, "open.sql", f"SELECT 1;\n{text}\n")
    ended: list[str] = []
    asking = threading.Thread(target=lambda: ended.append(_tried(database)), daemon=True)
    asking.start()
    asking.join(30)
    assert ended
    assert ended[0].startswith(f"{type(database).__name__}: open.sql:") or text == "/* open"
    assert query(database, "SELECT 5 AS five") == [["five"], ["5"]]


def _tried(database: Database) -> str:
    try:
        database.execute_query_file("open.sql", "open.csv")
    except CommandFailedError as error:
        return str(error)
    return "no error"


def test_no_half_answer_is_left(database: Database) -> None:
    put(database, "half.sql", "SELECT 1 AS a;\nSELECT * FROM nowhere;")
    said = fail(lambda: database.execute_query_file("half.sql", "half.csv"))
    assert "half.sql:2: " in said
    assert not (database.workspace.shared / "half.csv").exists()
    assert list(database.workspace.own.iterdir()) == []


def test_a_refused_statement_is_the_databases_own_answer(database: Database) -> None:
    put(database, "short.csv", "a,b\n1\n")
    refused = [
        lambda: database.execute("SELECT * FROM nowhere"),
        lambda: database.execute("SELECT 1; SELEC 2"),
        lambda: database.load("short.csv", "short"),
    ]
    for call in refused:
        with pytest.raises(ProgramFailedError):
            call()
    # What the lab refuses has never come to the database.
    with pytest.raises(CommandFailedError) as caught:
        database.load("gone.csv", "t")
    assert not isinstance(caught.value, ProgramFailedError)


def test_a_server_that_died_has_refused_nothing(tmp_path: Path, database: Database) -> None:
    with running(type(database).__name__, tmp_path / "other") as other:
        docker("kill", container_of(other))
        for _ in range(2):
            with pytest.raises(CommandFailedError, match="signal 9") as caught:
                other.execute("SELECT 1")
            assert not isinstance(caught.value, ProgramFailedError)


def test_a_client_that_is_known_to_end_before_its_server_has_a_reason(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(type(database).__name__, tmp_path / "other") as other:
        killing = threading.Timer(0.3, docker, ("kill", container_of(other)))

        def end_in_silence(*_: Any) -> bytes:
            killing.start()
            raise DialogEndedError(137, "")

        monkeypatch.setattr(Dialog, "ask", end_in_silence)
        with pytest.raises(CommandFailedError, match="signal 9"):
            other.execute("SELECT 1")
        killing.join()


def test_files_outside_of_the_case_are_refused(database: Database) -> None:
    put(database, "q.sql", "SELECT 1")
    assert "outside" in fail(lambda: database.load("../../etc/passwd", "t"))
    assert "outside" in fail(lambda: database.execute_query_file("q.sql", "../r.csv"))
    assert "no file 'gone.csv'" in fail(lambda: database.load("gone.csv", "t"))


def test_a_file_that_only_its_owner_may_read_is_loaded(database: Database) -> None:
    put(database, "private.csv", "x\n1\n")
    (database.workspace.shared / "private.csv").chmod(0o600)
    assert database.load("private.csv", "private").values["rows"] == 1


def test_a_long_value(database: Database) -> None:
    put(database, "long.csv", "x,y\n1," + "z" * 1_000_000 + "\n")
    database.load("long.csv", "long_values")
    assert query(database, "SELECT length(y) AS n FROM long_values") == [["n"], ["1000000"]]


def test_many_rows_come_back_whole(database: Database) -> None:
    put(database, "rows.csv", "x,y\n" + "".join(f"{i},<v&{i}>\n" for i in range(20_000)))
    database.load("rows.csv", "rows_back")
    rows = query(database, "SELECT x, y FROM rows_back")
    assert sorted(rows[1:], key=lambda row: int(row[0])) == [
        [str(i), f"<v&{i}>"] for i in range(20_000)
    ]
    assert database.execute("SELECT x FROM rows_back").values == {"rows": 20_000}


def test_statistics_and_plans(database: Database) -> None:
    put(database, "p.csv", "x\n1\n2\n")
    database.load("p.csv", "planned")
    database.analyze()
    database.analyze(["Planned"])
    assert "'nowhere'" in fail(lambda: database.analyze(["nowhere"]))
    put(database, "plan.sql", "-- of this;\nSELECT * FROM planned;\n")
    result = database.explain_query_file("plan.sql")
    assert "planned" in result.output.read_text()
    result = database.explain_query_file("plan.sql", "plan.json", analyze=True, form="json")
    assert result.output.read_text().lstrip()[0] in "[{"


def test_the_server_tells_its_version(database: Database) -> None:
    assert database.version()[0].isdigit()


@pytest.mark.parametrize("name", BOTH)
def test_defect_20_nothing_of_one_run_is_in_the_next(name: str, tmp_path: Path) -> None:
    for run in ("one", "two"):
        with running(name, tmp_path / run) as database:
            assert "state" in fail(lambda db=database: db.execute("SELECT * FROM state"))
            database.execute("CREATE TABLE state (a INTEGER)")


@pytest.mark.parametrize("name", BOTH)
def test_abort_ends_the_command_and_says_so(name: str, tmp_path: Path) -> None:
    sleep = "SELECT pg_sleep(100)" if name == "PostgreSQL" else "SELECT sleep(100)"
    with running(name, tmp_path) as database:
        killer = threading.Timer(0.5, database.abort)
        killer.start()
        with pytest.raises(CommandFailedError) as caught:
            database.execute(sleep)
        assert "root" not in str(caught.value).split("it said")[0]
        assert eventually(lambda: not database.alive())
