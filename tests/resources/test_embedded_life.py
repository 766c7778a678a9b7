"""How the process of an embedded database comes up, is killed and goes away."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchyard.case.resource import Workspace
from benchyard.core.errors import NotReadyError
from benchyard.host.counters.parsing import TICKS_PER_S, process_stat
from resources.embedded import EmbeddedDatabase
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
