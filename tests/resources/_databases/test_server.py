"""What PostgreSQL and MySQL do alike, on real servers."""

import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import CommandFailedError, ProgramFailedError
from resources._databases.dialog import Dialog, DialogEndedError
from tests.conftest import eventually
from tests.resources._databases.conftest import SERVERS, Database, put, query, running
from tests.resources.containers import broken_off, docker, inspected, refusal

#: For tests that need a server of their own, to see what is the work of neither's class.
ONE_OF_BOTH = [SERVERS[0], pytest.param("MySQL", marks=[*SERVERS[1].marks, pytest.mark.long])]


@pytest.fixture(scope="module", params=SERVERS)
def database(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Generator[Database]:
    """Give each database in turn, one for all tests of this module."""
    folder = tmp_path_factory.mktemp("it's a case")
    with running(request.param, folder) as up:
        yield up


def test_new_tables_have_a_key_and_a_quoted_null_is_a_text(database: Database) -> None:
    put(database, "keys.csv", 'x,y\n1,"NULL"\n')
    database.load("keys.csv", "keys_too")
    key = "key" if type(database).__name__ == "PostgreSQL" else "k"
    header, row = query(database, "SELECT * FROM keys_too")
    assert header == [key, "x", "y"]
    assert int(row[0]) == 1
    assert row[1:] == ["1", "NULL"]


def test_nothing_is_left_in_the_scratch_folder(database: Database) -> None:
    put(database, "own.tbl", "1|\n")
    put(database, "own.sql", "DROP TABLE IF EXISTS own; CREATE TABLE own (a INTEGER);")
    database.load("own.tbl", "own", "own.sql")
    put(database, "own.csv", "a\nx\n")
    refusal(lambda: database.load("own.csv", "own", "own.sql"))
    query(database, "SELECT a FROM own")
    put(database, "half.sql", "SELECT 1 AS a;\nSELECT * FROM nowhere;")
    refusal(lambda: database.execute_query_file("half.sql", "half.csv"))
    assert list(database.workspace.own.iterdir()) == []


def container_of(database: Database) -> str:
    return database._up().name


def test_a_value_that_no_column_takes_is_an_error(database: Database) -> None:
    put(database, "s.sql", "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER, b VARCHAR(3));")
    for row in ("two,y", "2,long"):
        put(database, "t.csv", f"a,b\n1,x\n{row}\n")
        assert "t.csv:3:" in refusal(lambda: database.load("t.csv", "t", "s.sql"))


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


def test_the_password_is_on_no_command_line(database: Database) -> None:
    listed = docker("top", container_of(database), "-eo", "pid,args")
    assert "psql" in listed or "mysql" in listed or "mariadb" in listed
    assert "password=root" not in listed
    assert "-proot" not in listed


@pytest.mark.parametrize(
    "text", ["SELECT 'open", "SELECT (1", "/* open", 'SELECT "open', "SELECT 1 AS a; SELEC 2"]
)
def test_sql_that_is_not_whole_is_an_error_and_hangs_nothing(database: Database, text: str) -> None:
    put(database, "open.sql", f"SELECT 1;\n{text}\n")
    ask = partial(database.execute_query_file, "open.sql", "open.csv")
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(ask).exception(30)
    said = f"{type(database).__name__}: open.sql:"
    assert str(error).startswith(said) or text == "/* open"
    assert query(database, "SELECT 5 AS five") == [["five"], ["5"]]


def test_defect_20_nothing_of_one_run_is_in_the_next_and_one_that_died_refused_nothing(
    tmp_path: Path, database: Database
) -> None:
    database.execute("DROP TABLE IF EXISTS state; CREATE TABLE state (a INTEGER)")
    with running(type(database).__name__, tmp_path / "other") as other:
        assert "state" in refusal(lambda: other.execute("SELECT * FROM state"))
        other.execute("SELECT 1")
        docker("kill", container_of(other))
        for _ in range(2):
            with pytest.raises(CommandFailedError, match="signal 9") as caught:
                other.execute("SELECT 1")
            assert not isinstance(caught.value, ProgramFailedError)


@pytest.mark.parametrize("name", ONE_OF_BOTH)
def test_a_client_that_is_known_to_end_before_its_server_has_a_reason(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(name, tmp_path / "other") as other:
        killing = threading.Timer(0.3, docker, ("kill", container_of(other)))

        def end_in_silence(*_: Any) -> bytes:
            killing.start()
            raise DialogEndedError(137, "")

        monkeypatch.setattr(Dialog, "ask", end_in_silence)
        # Who kills may be slower than servers die.
        monkeypatch.setattr("resources._databases.server._A_MOMENT", 30.0)
        with pytest.raises(CommandFailedError, match="signal 9"):
            other.execute("SELECT 1")
        killing.join()


def test_a_file_that_only_its_owner_may_read_is_loaded(database: Database) -> None:
    put(database, "private.csv", "x\n1\n")
    (database.workspace.shared / "private.csv").chmod(0o600)
    assert database.load("private.csv", "private").values["rows"] == 1


def test_statistics_and_plans(database: Database) -> None:
    put(database, "p.csv", "x\n1\n2\n")
    database.load("p.csv", "planned")
    database.analyze()
    database.analyze(["Planned"])
    assert "'nowhere'" in refusal(lambda: database.analyze(["nowhere"]))
    put(database, "plan.sql", "-- of this;\nSELECT * FROM planned;\n")
    result = database.explain_query_file("plan.sql")
    assert "planned" in result.output.read_text()
    result = database.explain_query_file("plan.sql", "plan.json", analyze=True, form="json")
    assert result.output.read_text().lstrip()[0] in "[{"


@pytest.mark.parametrize("name", ONE_OF_BOTH)
def test_abort_ends_the_command_and_says_so(name: str, tmp_path: Path) -> None:
    sleep = "SELECT pg_sleep(100)" if name == "PostgreSQL" else "SELECT sleep(100)"
    with running(name, tmp_path) as database:
        said = broken_off(lambda: database.execute(sleep), database.abort, 0.5)
        assert "root" not in said.split("it said")[0]
        assert eventually(lambda: not database.alive())
