"""The Prefect server goes away in the middle of a run: the run does not notice.

BENCHYARD_OUTAGE sets for how many seconds; the default is short, for a server takes its time too.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord, StepRecord, read_record
from tests.conftest import MakeCase, eventually, process
from tests.databases import put_database
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]

OUTAGE_SECONDS = float(os.environ.get("BENCHYARD_OUTAGE", "8"))
STAGES = ("initialize", "start-collector", "stop", "stop-collector", "keep-outputs", "record")


@dataclass
class Server:
    """A Prefect server that can be taken away and brought back."""

    home: Path
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PREFECT_HOME": str(self.home),
            "PREFECT_API_URL": self.url,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "BENCHYARD_HOME": str(self.home / "benchyard"),
            "BENCHYARD_SERVER_PATIENCE": "600",
        }

    def start(self) -> None:
        put_database(self.home / "prefect.db")
        command = [sys.executable, "-m", "uvicorn", "--factory", "--log-level", "error"]
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        with (self.home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "prefect.server.api.server:create_app", *address],
                env={**self.environment, "PREFECT__SERVER_FINAL": "1"},
                stdout=log,
                stderr=log,
            )
        assert eventually(self.answers, 180), (self.home / "server.log").read_text()

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:  # noqa: S310
                return answer.status == 200
        except OSError:
            return False

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def ask(self, path: str, body: object) -> Any:
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.url}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.load(answer)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    server = Server(tmp_path_factory.mktemp("outage"))
    server.start()
    yield server
    server.kill()


@pytest.mark.parametrize("how", ["killed", "hung"])
def test_a_run_without_a_server_is_as_one_with_it(
    how: str, server: Server, case_folder: MakeCase, tmp_path: Path
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
        env=server.environment,
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


def assert_told(server: Server) -> None:
    """Check that the server knows of everything in the end."""
    newest, *_ = server.ask("/flow_runs/filter", {"limit": 1, "sort": "START_TIME_DESC"})
    assert newest["state_type"] == "COMPLETED"
    wanted = {f"run2/{name}" for name in (*STAGES, "checkpoint", "01-hold", "02-work", "03-last")}

    def completed() -> set[str]:
        of_it = {"flow_runs": {"id": {"any_": [newest["id"]]}}, "limit": 200}
        found = server.ask("/task_runs/filter", of_it)
        return {one["name"] for one in found if one["state_type"] == "COMPLETED"}

    assert eventually(lambda: wanted <= completed(), 60), wanted - completed()
