"""What people see: the flow run in Prefect's UI, in a real browser against a real server."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.lab.server import SPARING
from tests.browsing import Browser
from tests.databases import put_database
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.requires("chromium", "chromedriver")]


@dataclass
class Ui:
    """A Prefect server with its UI."""

    url: str
    environment: dict[str, str]
    browser: Browser

    def execute(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "benchyard.cli", "run", *arguments, "--cooldown", "0"]
        subprocess.run(command, env=self.environment, cwd=ROOT, check=True, capture_output=True)

    def newest_flow_run(self) -> dict[str, Any]:
        wanted = json.dumps({"limit": 1, "sort": "START_TIME_DESC"}).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.url}/api/flow_runs/filter", wanted, headers
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return cast("list[dict[str, Any]]", json.load(answer))[0]


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    scratch = tmp_path_factory.mktemp("ui")
    put_database(scratch / "prefect" / "prefect.db")
    port = str(free_port())
    url = f"http://127.0.0.1:{port}"
    environment = {
        **SPARING,
        **os.environ,
        "PREFECT_HOME": str(scratch / "prefect"),
        "PREFECT_UI_API_URL": f"{url}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_V2_ENABLED": "false",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "DO_NOT_TRACK": "1",
        "BENCHYARD_LOCK": str(scratch / "testbed.lock"),
    }
    environment.pop("PREFECT_API_URL", None)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    with (scratch / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--port", port], env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(f"{url}/api/health", server)
        with closing(Browser(url)) as browser:
            yield Ui(url, {**environment, "PREFECT_API_URL": f"{url}/api"}, browser)
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert server.poll() is None, "the Prefect server ended while it started"
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail("the Prefect server did not come up")


def look_at(ui: Ui, picture: str, *texts: str) -> None:
    """Look for texts among the task runs of the newest flow run, and take a picture of it."""
    page = f"/runs/flow-run/{ui.newest_flow_run()['id']}"
    ui.browser.page(page, *texts, tab="task-runs")
    ui.browser.open(page)
    ui.browser.find(lambda: ui.browser.first("canvas"))
    ui.browser.keep_picture(picture)


def test_flow_run_shows_the_graph_of_the_case(ui: Ui, tmp_path: Path) -> None:
    ui.execute("graph", "--root", "cases/examples", "--runs", "1", "--results", str(tmp_path))
    assert ui.newest_flow_run()["name"] == "example-graph"
    steps = ("run1/01-Begin", "run1/02-Left", "run1/03-Right", "run1/04-End")
    look_at(ui, "graph.png", *steps, "summarize")


@pytest.mark.long
def test_tolerated_failure_is_seen_as_failed(ui: Ui, tmp_path: Path) -> None:
    ui.execute("failures", "--root", "cases/examples", "--runs", "1", "--results", str(tmp_path))
    assert ui.newest_flow_run()["state_type"] == "COMPLETED"
    look_at(ui, "failures.png", "run1/01-Tolerated\nFailed")


@pytest.mark.long  # of 25 steps each
def test_runs_follow_each_other(ui: Ui, tmp_path: Path) -> None:
    case = "tpch/sqlite[scale=0.01]"
    ui.execute(case, "--root", "cases", "--runs", "2", "--results", str(tmp_path))
    look_at(ui, "tpch.png", "run1/03-q01\nCompleted", "run2/03-q01\nCompleted")
