"""The Prefect server goes away in the middle of a run: the run does not notice.

BENCHYARD_OUTAGE sets for how many seconds; the default is short, for a server takes its time too.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord, StepRecord, read_record
from tests.conftest import MakeCase, eventually, process
from tests.servers import PrefectServer

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]

OUTAGE_SECONDS = float(os.environ.get("BENCHYARD_OUTAGE", "3"))
STAGES = ("initialize", "start-collector", "stop", "stop-collector", "keep-outputs", "record")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[PrefectServer]:
    with PrefectServer(tmp_path_factory.mktemp("outage")).running() as server:
        yield server


@pytest.mark.parametrize("how", ["killed", "hung"])
def test_a_run_without_a_server_is_as_one_with_it(
    how: str, server: PrefectServer, case_folder: MakeCase, tmp_path: Path
) -> None:
    """Run 1 has a server all the time; run 2 loses it in its first step, up to its end."""
    began, go = tmp_path / "began", tmp_path / "go"
    waits = f"[ -e {tmp_path}/first ] || {{ : > {tmp_path}/first; exit 0; }}"
    case = case_folder(
        "outage",
        process("hold", f"{waits}; : > {began}; while [ ! -e {go} ]; do sleep 0.05; done"),
        process("work", "sleep 1; echo done"),
        process("last", "true"),
    )
    lab = subprocess.Popen(
        [sys.executable, "-m", "benchyard.cli", "run", case, "--runs", "2", "--cooldown", "0"],
        env={
            **server.environment,
            "BENCHYARD_HOME": str(server.home / "benchyard"),
            "BENCHYARD_SERVER_PATIENCE": "600",
        },
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert eventually(began.exists, 180)
        server.kill() if how == "killed" else server.signal(signal.SIGSTOP)
        go.touch()
        record = case / "results" / "run_2" / ".done"
        assert eventually(record.exists, 120), "the run waited for the server"
        time.sleep(OUTAGE_SECONDS)
        server.start() if how == "killed" else server.signal(signal.SIGCONT)
        _, said = lab.communicate(timeout=300)
    finally:
        lab.kill()

    assert lab.returncode == 0, said
    if how == "killed":  # one that hangs may have held up the artifacts until it was back
        assert "the Prefect server does not answer; it is waited for" in said
    with_server, without = (read_record(case / "results" / f"run_{run}") for run in (1, 2))
    assert_alike(with_server, without)
    assert about_server(with_server) == []
    (warning,) = about_server(without)
    assert "what is recorded here is not" in warning
    assert_told(server)


def about_server(record: RunRecord) -> list[str]:
    return [warning for warning in record.warnings if "Prefect server" in warning]


def assert_alike(one: RunRecord, other: RunRecord) -> None:
    """Compare what was measured while the server was there and while it was not."""
    assert one.outcome is other.outcome is Outcome.COMPLETED
    for before, after in zip(one.steps[1:], other.steps[1:], strict=True):
        assert shape(before) == shape(after)
    (up,), (away,) = (record.steps[1].durations_s for record in (one, other))
    assert up >= 1
    assert away >= 1
    # The machines that test this are busy; what is to be seen are seconds of waiting.
    assert abs(up - away) < 0.5


def shape(step: StepRecord) -> tuple[object, ...]:
    (made,) = step.measured
    return (step.outcome, len(step.attempts), sorted(made.used), sorted(made.harness))


def assert_told(server: PrefectServer) -> None:
    """Check that the server knows of everything in the end."""
    newest, *_ = server.ask("/flow_runs/filter", {"limit": 1, "sort": "START_TIME_DESC"})
    assert newest["state_type"] == "COMPLETED"
    wanted = {f"run2/{name}" for name in (*STAGES, "checkpoint", "01-hold", "02-work", "03-last")}

    def completed() -> set[str]:
        of_it = {"flow_runs": {"id": {"any_": [newest["id"]]}}, "limit": 200}
        found = server.ask("/task_runs/filter", of_it)
        return {one["name"] for one in found if one["state_type"] == "COMPLETED"}

    assert eventually(lambda: wanted <= completed(), 60), wanted - completed()
