"""What the UI shows of a case, on a real server: true numbers, and never while it is measured."""

import json
import logging
import platform
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from prefect import State

import tasks.showing
from benchyard.analysis.executions import collect
from benchyard.catalogue.catalogue import Catalogue
from benchyard.core.errors import RecordError
from benchyard.run.progress import Event, StepEnded, StepStarted, listening
from benchyard.show.pages.result import key_of
from flows.execute_case import execute_case
from tasks.artifacts import Showcase
from tests.conftest import RECORDED, MakeCase, eventually, process
from tests.flows.conftest import ask

pytestmark = pytest.mark.slow

Execute = Callable[..., State[Any]]
#: Fails twice in each run, then works.
TWICE = "echo x >> tried; [ $(wc -l < tried) -gt 2 ] || { echo not yet >&2; exit 3; }"


@pytest.fixture
def execute(prefect_server: str, tmp_path: Path) -> Execute:
    del prefect_server

    def call(case: Path, **parameters: Any) -> State[Any]:
        options: dict[str, Any] = {"runs": 1, "cooldown": 0.0, "root": str(tmp_path)}
        options |= {"publish": (), **parameters}
        options |= {"return_state": True}
        return execute_case(str(case), **options)

    return call


def latest(key: str) -> dict[str, Any]:
    (found,) = ask("/artifacts/latest/filter", {"artifacts": {"key": {"any_": [key]}}})
    return found


def rows(key: str) -> list[dict[str, str]]:
    """Return the rows of a table."""
    data = latest(key)["data"]
    return json.loads(data) if isinstance(data, str) else data


def attempts_of_task_runs(case: Path) -> Counter[str]:
    """Return how often each step's task run was executed, as the server knows of all flow runs."""
    ids = [str(one.flow_run["id"]) for one in collect([case / "results"]).tries]
    counted: Counter[str] = Counter()
    for one in ask("/task_runs/filter", {"flow_runs": {"id": {"any_": ids}}, "limit": 200}):
        if one["end_time"] and "/" in one["name"]:
            counted[one["name"]] += one["run_count"]
    return counted


def test_counts_of_artifacts_and_task_runs_are_the_injected_ones(
    execute: Execute, case_folder: MakeCase
) -> None:
    """A step fails twice and then works, one never works and may fail, one never works."""
    case = case_folder(
        "injected",
        process("twice", TWICE, retries=2),
        process("may", "exit 4", may_fail=True, retries=1),
        process("fine", "true"),
        process("never", "exit 5", retries=2),
        process("after", "true"),
    )

    state = execute(case, runs=2)

    assert state.is_failed()
    # The artifacts, of the case and of the lab.
    page = str(latest("retries-injected")["data"])
    counts = "trouble in 6 of 8 executions of steps, 2 recovered; 14 of 18 attempts failed"
    assert f"The last 28 days on {platform.node()}: {counts}." in page
    assert re.search(r"\| 04-never \| injected \| 2 \| ❌ 2 \| 100 % \|.*\| 6 \| 6 \|", page)
    assert "not yet" in page
    for key in ("retry-table-injected", "retry-table"):
        assert [row["Case"] for row in rows(key)].count("injected") == 6
    assert "injected" in str(latest("retries")["data"])
    # The server's task runs.
    of_a_run = {"01-twice": 3, "02-may": 2, "03-fine": 1, "04-never": 3}
    expected = {f"run{run}/{name}": count for run in (1, 2) for name, count in of_a_run.items()}

    def known() -> dict[str, int]:
        return {name: attempts_of_task_runs(case)[name] for name in expected}

    assert eventually(lambda: known() == expected, RECORDED), known()


def test_result_page_has_the_summary_and_the_curves(
    execute: Execute, case_folder: MakeCase
) -> None:
    case = case_folder("Words [1]", process("sleep", "sleep 0.6"), process("fine", "true"))
    assert execute(case, interval=0.05).is_completed()
    shown = latest(key_of("result", "Words [1]"))
    page = str(shown["data"])
    assert shown["description"] == "Words \\[1\\]: 1 run done"
    # Where the hypervisor took CPU time from it, the execution is shown and not described.
    assert re.search(r"\| 1 \| sleep \| (1 \| [\d.]+ m?s|0 \| -) \|.* 1 completed \|", page), page
    assert "![run 1](data:image/svg+xml;base64," in page
    assert len(page) < 200_000
    assert shown["flow_run_id"]


def test_the_result_page_leads_to_the_explorer_where_there_is_one(
    execute: Execute, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_folder("linked", process("fine", "true"))
    monkeypatch.setenv("BENCHYARD_EXPLORER_URL", "http://bench-01:8765/")
    assert execute(case).is_completed()
    page = str(latest("result-linked")["data"])
    found = re.search(r"In the explorer: http://bench-01:8765/case/([0-9a-f]{16})\n", page)
    assert found
    assert Catalogue([case], case / "index.sqlite").case(found[1]).title == "linked"

    monkeypatch.setenv("BENCHYARD_EXPLORER_URL", "javascript:alert(1)")
    assert execute(case, force=True).is_completed()
    assert "In the explorer" not in str(latest("result-linked")["data"])


def test_progress_tells_how_far_it_got(
    execute: Execute, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.showing, "_PROGRESS_SECONDS", 0.0)
    told: list[tuple[float, str]] = []
    shown = Showcase.update_progress

    def update(showcase: Showcase, artifact: Any, percent: float, text: str) -> None:
        told.append((percent, text))
        shown(showcase, artifact, percent, text)

    monkeypatch.setattr(Showcase, "update_progress", update)
    case = case_folder("steps", process("one", "true"), process("two", "true"))
    assert execute(case, runs=2).is_completed()
    assert told == [
        (0.0, "steps: run 1, 1 of 2 to do: step 1, one"),
        (25.0, "steps: run 1, 1 of 2 to do: step 2, two"),
        (50.0, "steps: run 1, 1 of 2 to do: record"),
        (50.0, "steps: run 2, 2 of 2 to do: initialize"),
        (50.0, "steps: run 2, 2 of 2 to do: step 1, one"),
        (75.0, "steps: run 2, 2 of 2 to do: step 2, two"),
        (99.9, "steps: run 2, 2 of 2 to do: record"),
        (100.0, "steps: 2 runs done"),
    ]
    assert latest("progress-steps")["data"] == 100.0


def test_nothing_is_shown_while_a_step_is_under_way(
    execute: Execute, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also beside steps that run side by side, of which one may end while another goes on."""
    monkeypatch.setattr(tasks.showing, "_PROGRESS_SECONDS", 0.0)
    under_way: set[int] = set()
    asked: list[set[int]] = []
    ask = Showcase.ask

    def noted(showcase: Showcase, *route: Any, **about: Any) -> Any:
        asked.append(set(under_way))
        return ask(showcase, *route, **about)

    def hear(event: Event) -> None:
        if isinstance(event, StepStarted):
            under_way.add(event.index)
        elif isinstance(event, StepEnded):
            under_way.discard(event.index)

    monkeypatch.setattr(Showcase, "ask", noted)
    case = case_folder(
        "aside",
        process("begin", "true"),
        process("short", "true", needs=["begin"]),
        process("long", "sleep 0.5", needs=["begin"]),
        process("more", "true", needs=["short"]),
        process("end", "true", needs=["long", "more"]),
    )
    with listening(hear):
        assert execute(case).is_completed()
    assert len(asked) > 5
    assert not any(asked)


@pytest.mark.parametrize(
    "error", [ConnectionError("gone"), RecordError("odd"), ZeroDivisionError("bug")]
)
def test_trouble_with_showing_fails_no_case(
    execute: Execute,
    case_folder: MakeCase,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    for broken in ("tasks.showing.result_page", "tasks.artifacts.our_client"):
        monkeypatch.setattr(broken, Mock(side_effect=error))
    case = case_folder("troubled", process("fine", "true"))
    with caplog.at_level(logging.WARNING):
        assert execute(case).is_completed()
    assert caplog.text.count("not shown in the UI") == 1


def test_page_of_the_lab_has_all_cases_below_its_folders_once(
    execute: Execute,
    case_folder: MakeCase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Copies of results are the same runs; results elsewhere count for their own case."""
    monkeypatch.setenv("BENCHYARD_EXPLORER_URL", "http://bench-01:8765")
    first = case_folder("first", process("bad", "exit 3", may_fail=True, retries=0))
    assert execute(first).is_completed()
    shutil.copytree(first / "results", tmp_path / "copy")
    elsewhere = case_folder("outside", process("bad", "exit 4", may_fail=True, retries=0))
    with tempfile.TemporaryDirectory() as results:
        assert execute(elsewhere, results=results).is_completed()
        assert sorted(row["Case"] for row in rows("retry-table")) == ["first", "outside"]
    page = str(latest("retries")["data"])
    assert page.startswith("In the explorer: http://bench-01:8765/failures?since=28d\n")


def test_page_of_the_lab_is_made_after_failures_and_once_an_hour(
    execute: Execute, case_folder: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_folder("calm", process("fine", "true"))
    assert execute(case).is_completed()
    before = latest("retries")["latest_id"]
    assert execute(case, force=True).is_completed()
    assert latest("retries")["latest_id"] == before
    monkeypatch.setattr(tasks.showing, "_LAB_PAGE", timedelta(0))
    assert execute(case, force=True).is_completed()
    assert latest("retries")["latest_id"] != before
