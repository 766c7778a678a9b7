"""How the process of an embedded database comes up, is killed and goes away; SQLite alone."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import InputError, NotReadyError
from benchyard.host.counters.parsing import TICKS_PER_S, process_stat
from resources.embedded import EmbeddedDatabase, SQLiteSettings
from tests.conftest import eventually, is_gone
from tests.resources._databases.conftest import made, query
from tests.resources.containers import broken_off, refusal

Database = EmbeddedDatabase[Any]
Put = Callable[[str, str], str]
Open = Callable[..., Database]

#: Works for minutes in both engines unless it is stopped.
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) "
    "SELECT count(*) FROM n"
)


def cpu_s(pid: int) -> float:
    stat = process_stat(Path(f"/proc/{pid}/stat").read_bytes())
    return (stat.user_ticks + stat.system_ticks) / TICKS_PER_S if stat else 0.0


@pytest.mark.parametrize("is_killed", [False, True])
def test_the_end_of_its_process_ends_the_query(database: Database, is_killed: bool) -> None:
    (pid,) = database.pids()
    kill = partial(os.kill, pid, signal.SIGKILL) if is_killed else database.abort
    said = broken_off(lambda: database.execute(ENDLESS), kill)
    assert said.startswith(f"{type(database).__name__} did not answer")
    assert "SIGKILL" in said
    assert eventually(lambda: is_gone(pid), 5)
    assert "SIGKILL" in refusal(lambda: database.execute("SELECT 1"))


def test_what_was_loaded_survives_an_abort(
    database: Database, open_database: Open, put: Put
) -> None:
    put("a.csv", "x\n1\n")
    database.load("a.csv", "a")
    database.abort()
    database.stop()
    again = open_database(type(database).__name__)
    assert query(again, "SELECT x FROM a") == [["x"], ["1"]]


def test_stop_lets_the_process_go_and_its_use_stays_known(
    database: Database, workspace: Workspace
) -> None:
    (pid,) = database.pids()
    environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    assert f"BENCHYARD_RUN={workspace.labels['benchyard.run']}" in environment
    assert database.ended() == []
    database.stop()
    assert not Path(f"/proc/{pid}").exists()
    assert database.pids() == []
    (ended,) = database.ended()
    assert ended.pid == pid
    assert ended.user_s + ended.system_s > 0
    with pytest.raises(NotReadyError, match="not started"):
        database.execute("SELECT 1")


def test_stop_does_not_wait_for_a_query(database: Database) -> None:
    (pid,) = database.pids()
    idle = cpu_s(pid)

    def stop_once_it_works() -> None:
        assert eventually(lambda: cpu_s(pid) > idle + 0.05)
        database.stop()

    assert "SIGKILL" in broken_off(lambda: database.execute(ENDLESS), stop_once_it_works, 0)


@pytest.mark.parametrize(
    ("name", "code", "deadline", "said"),
    [
        ("SQLite", "import sys; sys.exit('no way')", 60, "SQLite did not start: .*1.*no way"),
        ("DuckDB", "import sys; sys.exit('no way')", 60, "DuckDB did not start: .*1.*no way"),
        ("SQLite", "import time; time.sleep(600)", 0.1, "SIGKILL"),
    ],
)
def test_a_process_that_dies_while_it_starts_or_never_answers_is_told(
    name: str,
    code: str,
    deadline: float,
    said: str,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = workspace.own / "worker.py"
    worker.write_text(code)
    monkeypatch.setattr("resources.embedded.WORKER", worker)
    monkeypatch.setattr("resources.embedded.READY_DEADLINE", deadline)
    database = made(name, workspace)
    database.start()
    with pytest.raises(NotReadyError, match=said):
        database.wait_until_ready()
    database.stop()


# -- SQLite


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
