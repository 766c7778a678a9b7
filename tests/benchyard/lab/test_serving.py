"""A lab that measures nothing, and its server beside others who write."""

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.benchyard.lab.labs import RunningLab, Shell, make_shell
from tests.conftest import eventually

pytestmark = [pytest.mark.slow, pytest.mark.lab]

EVENTS = 100


@contextmanager
def writing(file: Path) -> Generator[None]:
    """Write to a database again and again, as workers and flow runs do."""
    over = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(file, timeout=60, isolation_level=None)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS busy (n INTEGER)")
            while not over.is_set():
                database.execute("INSERT INTO busy VALUES (1)")
                time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def tell(lab: RunningLab, resource: str, event: str) -> None:
    told = {
        "occurred": datetime.now(UTC).isoformat(),
        "event": event,
        "resource": {"prefect.resource.id": resource},
        "id": str(uuid4()),
    }
    lab.ask("/events", [told])


def automate(lab: RunningLab, name: str, **trigger: Any) -> str:
    each = {"type": "event", "for_each": ["prefect.resource.id"], "expect": ["test.end"]}
    one = {"name": name, "trigger": {**each, **trigger}, "actions": [{"type": "do-nothing"}]}
    return str(lab.ask("/automations/", one)["id"])


def times_triggered(lab: RunningLab, automation: str) -> int:
    wanted = {
        "event": {"name": ["prefect.automation.triggered"]},
        "resource": {"id": [f"prefect.automation.{automation}"]},
    }
    return int(lab.ask("/events/filter", {"filter": wanted, "limit": 1})["total"])


@pytest.fixture(scope="module")
def idle_shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return make_shell(tmp_path_factory.mktemp("serving"))


@pytest.fixture(scope="module")
def idle_lab(idle_shell: Shell) -> Generator[RunningLab]:
    with idle_shell.up("--no-testbed") as lab:
        yield lab


def test_a_lab_measures_nothing_if_asked(idle_lab: RunningLab) -> None:
    lab = idle_lab
    assert "this host measures nothing" in lab.said
    assert lab.ask("/work_pools/testbeds/workers/filter", {}) == []


def test_an_automation_acts_once_for_each_event_beside_other_writers(
    idle_lab: RunningLab, idle_shell: Shell
) -> None:
    lab, home = idle_lab, idle_shell.home / "lab"
    # As the heartbeat's: for it the server reads first and then writes.
    beats: dict[str, Any] = {"posture": "Proactive", "threshold": 1, "within": 600}
    automate(lab, "heartbeats", after=["test.begin"], **beats)
    at_once: dict[str, Any] = {"posture": "Reactive", "threshold": 1, "within": 0}
    automation = automate(lab, "alerts", **at_once)
    sentinel = automate(lab, "sentinel", **at_once, expect=["test.last"])

    def acts() -> bool:
        tell(lab, f"test.{uuid4()}", "test.last")
        return bool(times_triggered(lab, sentinel))

    # The triggers learn of automations by messages, of the last one last.
    assert eventually(acts, 60)
    with writing(home / "prefect.db"):
        for number in range(EVENTS):
            tell(lab, f"test.{number}", "test.begin")
            tell(lab, f"test.{number}", "test.end")
        assert eventually(lambda: times_triggered(lab, automation) >= EVENTS, 120)
    time.sleep(5)  # one that fails is repeated after a second or two
    assert times_triggered(lab, automation) == EVENTS
    assert "database is locked" not in (home / "logs/server.log").read_text()
