"""What of Prefect's inside is used by the lab: that it is there, and what the worker reports."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from inspect import signature
from pathlib import Path
from unittest import mock
from uuid import UUID, uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.server.database import provide_database_interface
from prefect.server.events import triggers
from prefect.server.events.models import automations
from prefect.workers.process import ProcessWorker

from benchyard.lab.prefect_internals import DrainingWorker, let_triggers_wait_for_writers
from tests.databases import put_database

# -- that it is there


@pytest.mark.parametrize(
    "name",
    ["run", "_submit_run", "_propose_crashed_state", "_release_limit_slot"],
)
def test_prefects_worker_has_what_ours_replaces(name: str) -> None:
    theirs = getattr(ProcessWorker, name, None)
    assert theirs is not None, f"Prefect's worker has no {name} any more: ours is never called"
    ours = [*signature(getattr(DrainingWorker, name)).parameters]
    assert ours == [*signature(theirs).parameters], f"Prefect calls its worker's {name} otherwise"


@pytest.mark.parametrize("name", ["get_and_submit_flow_runs", "sync_with_backend", "limiter"])
def test_prefects_worker_has_what_ours_calls(name: str) -> None:
    assert hasattr(ProcessWorker, name), f"Prefect's worker has no {name} any more"


def test_prefects_worker_keeps_what_it_submits() -> None:
    worker = DrainingWorker(work_pool_name="some", query_seconds=1, note=lambda _: None)
    assert hasattr(worker, "_submitting_flow_run_ids"), "see DrainingWorker._submit_run"
    assert hasattr(worker, "heartbeat_interval_seconds"), "see DrainingWorker._beat"


def test_prefects_triggers_take_their_sessions_where_ours_are_put() -> None:
    sessions = "automations_session"
    assert vars(triggers)[sessions] is vars(automations)[sessions], "triggers take others now"
    with mock.patch.object(triggers, sessions):
        let_triggers_wait_for_writers()
        ours = vars(triggers)[sessions]
    assert [*signature(ours).parameters] == ["begin_transaction"]
    assert "begin_transaction" in signature(vars(automations)[sessions]).parameters


def test_prefects_database_keeps_waits_for_events_where_they_are_prolonged() -> None:
    columns = provide_database_interface().AutomationBucket.__table__.columns
    assert {"automation_id", "end"} <= set(columns.keys()), "give_time changes nothing any more"


@pytest.mark.slow
def test_after_an_outage_what_our_automation_watches_gets_time(tmp_path: Path) -> None:
    file, began = tmp_path / "prefect.db", datetime.now(UTC)
    put_database(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        for name in ("ours", "theirs"):
            automation = str(uuid4())
            database.execute(
                "INSERT INTO automation (id, name, description, trigger, actions)"
                " VALUES (?, ?, '', '{}', '[]')",
                (automation, name),
            )
            for minutes in (-1, 60):
                database.execute(
                    "INSERT INTO automation_bucket"
                    " (automation_id, trigger_id, bucketing_key, start, end, count)"
                    " VALUES (?, ?, '[]', ?, ?, 0)",
                    (automation, str(uuid4()), stored(began), stored(began, minutes)),
                )
    # In a process of its own, as the server's is: Prefect settles on a database once.
    program = "from benchyard.lab import prefect_internals as ours; ours.give_time('ours', 95)"
    for url in (f"sqlite+aiosqlite:///{file}", f"sqlite+aiosqlite:///{tmp_path}/nowhere/x.db"):
        database_url = {"PREFECT_SERVER_DATABASE_CONNECTION_URL": url}
        subprocess.run([sys.executable, "-c", program], env=os.environ | database_url, check=True)
    with closing(sqlite3.connect(file)) as database:
        found = database.execute(
            "SELECT name, end FROM automation JOIN automation_bucket"
            " ON automation.id = automation_id ORDER BY name, end"
        ).fetchall()

    assert [name for name, _ in found] == ["ours", "ours", "theirs", "theirs"]
    ends = [end for _, end in found]
    assert stored(began, 1.5) < ends[0] < stored(began, 10), "it got no time"
    assert ends[1:] == [stored(began, minutes) for minutes in (60, -1, 60)]


def stored(moment: datetime, minutes: float = 0.0) -> str:
    """Return a time as Prefect keeps it in SQLite."""
    return f"{moment + timedelta(minutes=minutes):%Y-%m-%d %H:%M:%S.%f}"


class Gone:
    """A client whose server went away beyond all patience."""

    async def read_deployment(self, _: UUID) -> None:
        raise ConnectionError("no server")


def test_a_flow_run_that_cannot_begin_does_not_end_the_others() -> None:
    """Prefect lets the error end the group of tasks that watch the flow runs under way."""
    notes: list[str] = []
    flow_run = FlowRun(flow_id=uuid4(), deployment_id=uuid4())
    with mock.patch.object(ProcessWorker, "client", Gone()):
        theirs = ProcessWorker(work_pool_name="some")
        with pytest.raises(ConnectionError):
            asyncio.run(theirs._submit_run(flow_run))  # pyright: ignore[reportPrivateUsage]
        ours = DrainingWorker(work_pool_name="some", query_seconds=1, note=notes.append)
        asyncio.run(ours._submit_run(flow_run))  # pyright: ignore[reportPrivateUsage]
    assert notes == [f"flow run {flow_run.id} did not begin: ConnectionError: no server"]
