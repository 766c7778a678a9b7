"""What people see in Prefect's UI, in a real browser against a real server.

The flow run, and the dashboards: what is to be seen, and nothing active.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from benchyard.lab.server import SPARING
from benchyard.show.pages.result import key_of
from tests.browsing import Browser
from tests.conftest import MakeCase, process
from tests.servers import PrefectServer

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.requires("chromium", "chromedriver")]

#: Would be an element, a link of a dangerous scheme, and a picture from somewhere else.
EVIL = "<img src=x onerror=alert(1)> [go](javascript:alert(2)) ![p](https://evil.example/p.png)"


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


@pytest.fixture(scope="module")
def tolerated(ui: Ui, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Execute a case whose failures are tolerated; give the place of its flow run."""
    results = tmp_path_factory.mktemp("results")
    ui.execute("failures", "--root", "cases/examples", "--runs", "2", "--results", str(results))
    return newest_flow_run(ui, "example-failures")


def newest_flow_run(ui: Ui, name: str) -> str:
    """Return the place of the newest flow run, of the name expected and completed."""
    found = ui.newest_flow_run()
    assert (found["name"], found["state_type"]) == (name, "COMPLETED")
    return f"/runs/flow-run/{found['id']}"


def newest(ui: Ui, key: str) -> str:
    """Return the place of the newest artifact of a key."""
    wanted = {"artifacts": {"key": {"any_": [key]}}, "sort": "CREATED_DESC", "limit": 1}
    (found,) = cast("list[dict[str, Any]]", ui.server.ask("/artifacts/filter", wanted))
    return f"/artifacts/artifact/{found['id']}"


def look_at(ui: Ui, page: str, picture: str, *texts: str) -> None:
    """Look for texts among the task runs of a flow run, and take a picture of its graph."""
    ui.browser.page(page, *texts, tab="task-runs")
    ui.browser.open(page)
    ui.browser.find(lambda: ui.browser.first("canvas"))
    ui.browser.keep_picture(picture)


def test_flow_run_shows_its_graph_and_a_tolerated_failure_as_failed(ui: Ui, tolerated: str) -> None:
    texts = ("run1/01-Tolerated\nFailed", "run2/01-Tolerated\nFailed", "summarize")
    look_at(ui, tolerated, "failures.png", *texts)


@pytest.mark.long  # as above, of the case that the docs show
def test_flow_run_shows_the_graph_of_the_case(ui: Ui, tmp_path: Path) -> None:
    ui.execute("graph", "--root", "cases/examples", "--runs", "1", "--results", str(tmp_path))
    steps = ("run1/01-Begin", "run1/02-Left", "run1/03-Right", "run1/04-End")
    look_at(ui, newest_flow_run(ui, "example-graph"), "graph.png", *steps, "summarize")


@pytest.mark.long  # of 25 steps each
def test_runs_follow_each_other(ui: Ui, tmp_path: Path) -> None:
    case = "tpch/sqlite[scale=0.01]"
    ui.execute(case, "--root", "cases", "--runs", "2", "--results", str(tmp_path))
    page = f"/runs/flow-run/{ui.newest_flow_run()['id']}"
    look_at(ui, page, "tpch.png", "run1/03-q01\nCompleted", "run2/03-q01\nCompleted")


# -- the dashboards


def test_retries_are_found_and_hostile_texts_stay_texts(ui: Ui, case_folder: MakeCase) -> None:
    script = f"cat >&2 <<'END'\n{EVIL}\nEND\nexit 3"
    bad = {**process("bad", script, may_fail=True, retries=1), "name": f"Bad {EVIL}"}
    case = case_folder("evil", bad, process("fine", "true"))
    title = f"evil {EVIL}"
    metadata = json.loads((case / "metadata.json").read_text())
    (case / "metadata.json").write_text(json.dumps(metadata | {"name": title}))
    ui.execute(str(case), "--runs", "1")

    keys = [key_of(kind, title) for kind in ("retries", "retry-table", "result")]
    for key in (*keys, "retries", "retry-table"):
        page = ui.browser.page(newest(ui, key), "onerror=alert(1)")
        assert not re.search(r"<img[^>]*(?:onerror|evil|src=.?x\b)", page), key
        assert not re.search(r"href=.?javascript", page), key
    assert "data:image/svg+xml" not in ui.browser.page(newest(ui, keys[0]), "100 %")


@pytest.mark.usefixtures("tolerated")
def test_result_shows_numbers_and_curves(ui: Ui) -> None:
    page = ui.browser.page(newest(ui, "result-example-failures"), "2 tolerated")
    assert re.search(r'<img[^>]*src="data:image/svg\+xml;base64,', page)
    ui.browser.keep_picture("result.png")
    retries = newest(ui, "retries-example-failures")
    page = ui.browser.page(retries, "01-Tolerated", "recovered", "100 %")
    assert re.search(r'href="/runs/flow-run/[0-9a-f-]{36}"', page)
    ui.browser.keep_picture("retries.png")
    ui.browser.page("/artifacts", "retries-example-failures")
