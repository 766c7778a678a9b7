"""How the process of an embedded database comes up, is killed and goes away."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import resources
from benchyard.case.resource import Workspace
from benchyard.core.errors import NotReadyError
from benchyard.host.counters.parsing import TICKS_PER_S, process_stat
from resources.embedded import EmbeddedDatabase
from tests.conftest import eventually, is_gone
from tests.resources._databases.conftest import query
from tests.resources.containers import refusal

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


def test_abort_ends_the_query_at_once(database: Database) -> None:
    (pid,) = database.pids()
    timer = threading.Timer(0.2, database.abort)
    timer.start()
    began = time.monotonic()
    said = refusal(lambda: database.execute(ENDLESS))
    timer.join()
    assert time.monotonic() - began < 60
    assert "SIGKILL" in said
    assert eventually(lambda: is_gone(pid), 5)


def test_a_killed_process_is_told_now_and_afterwards(database: Database) -> None:
    (pid,) = database.pids()
    timer = threading.Timer(0.2, os.kill, (pid, signal.SIGKILL))
    timer.start()
    said = refusal(lambda: database.execute(ENDLESS))
    timer.join()
    assert said.startswith(f"{type(database).__name__} did not answer")
    assert "SIGKILL" in said
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


def test_stop_lets_the_process_go(database: Database) -> None:
    (pid,) = database.pids()
    database.stop()
    assert not Path(f"/proc/{pid}").exists()
    assert database.pids() == []
    with pytest.raises(NotReadyError, match="not started"):
        database.execute("SELECT 1")


def test_stop_does_not_wait_for_a_query(database: Database) -> None:
    failed: list[str] = []
    asking = threading.Thread(
        target=lambda: failed.append(refusal(lambda: database.execute(ENDLESS)))
    )
    (pid,) = database.pids()
    idle = cpu_s(pid)
    asking.start()
    assert eventually(lambda: cpu_s(pid) > idle + 0.05)
    began = time.monotonic()
    database.stop()
    asking.join()
    assert time.monotonic() - began < 60
    assert "SIGKILL" in failed[0]


@pytest.mark.parametrize("name", ["SQLite", "DuckDB"])
def test_a_process_that_dies_while_it_starts_is_told_with_its_words(
    name: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import sys; sys.exit('no way')")
    monkeypatch.setattr("resources.embedded.WORKER", broken)
    found: Any = resources.find().classes[name]
    database = found(found.Settings(), workspace)
    database.start()
    with pytest.raises(NotReadyError, match=rf"{name} did not start: .*exit code 1.*no way"):
        database.wait_until_ready()
    database.stop()


def test_a_process_that_never_answers_is_given_up(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    silent = tmp_path / "silent.py"
    silent.write_text("import time; time.sleep(600)")
    monkeypatch.setattr("resources.embedded.WORKER", silent)
    monkeypatch.setattr("resources.embedded.READY_DEADLINE", 0.1)
    found: Any = resources.find().classes["SQLite"]
    database = found(found.Settings(), workspace)
    database.start()
    with pytest.raises(NotReadyError, match="SIGKILL"):
        database.wait_until_ready()
    database.stop()


def test_the_process_carries_the_label_of_the_run(database: Database, workspace: Workspace) -> None:
    (pid,) = database.pids()
    environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    assert f"BENCHYARD_RUN={workspace.labels['benchyard.run']}" in environment


def test_what_the_process_used_stays_known_after_its_end(database: Database) -> None:
    (pid,) = database.pids()
    assert database.ended() == []
    database.stop()
    (ended,) = database.ended()
    assert ended.pid == pid
    assert ended.user_s + ended.system_s > 0
