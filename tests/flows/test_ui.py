"""What people see: the flow run in Prefect's UI, in a real browser against a real server."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.lab.server import SPARING
from tests.browsing import Browser
from tests.servers import PrefectServer

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.requires("chromium", "chromedriver")]


@dataclass
class Ui:
    """A Prefect server with its UI."""

    server: PrefectServer
    browser: Browser

    def execute(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "benchyard.cli", "run", *arguments, "--cooldown", "0"]
        lock = {"BENCHYARD_LOCK": str(self.server.home / "testbed.lock")}
        environment = {**self.server.environment, **lock}
        subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)

    def newest_flow_run(self) -> dict[str, Any]:
        wanted = {"limit": 1, "sort": "START_TIME_DESC"}
        return cast("dict[str, Any]", self.server.ask("/flow_runs/filter", wanted)[0])


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    server = PrefectServer(tmp_path_factory.mktemp("ui"))
    server.settings = {
        **SPARING,
        "PREFECT_UI_API_URL": server.url,
        "PREFECT_SERVER_UI_V2_ENABLED": "false",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    }
    with server.running(), closing(Browser(server.url.removesuffix("/api"))) as browser:
        yield Ui(server, browser)


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
