"""A suite as a flow run on this host: its children, its order, its budget, its truthful end."""

import json
import os
import shutil
import signal
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prefect import Task, task_engine
from prefect.client.schemas.objects import TaskRun
from prefect.exceptions import TerminationSignal

from benchyard.analysis.comparison.control import control_results
from benchyard.core.errors import CaseFailedError, InputError
from benchyard.results.campaigns import with_earlier
from benchyard.results.folders import Results
from benchyard.run import control
from benchyard.run.control import is_controlled
from tests.conftest import RECORDED, ctrl_c, eventually, process
from tests.flows.conftest import Suite, ask, children, done, flow_run_of, record

pytestmark = pytest.mark.slow


def test_each_case_is_a_child_of_the_suites_flow_run(suite: Suite) -> None:
    suite.add("a", "b")
    ended = suite.run(runs=2)
    assert ended.message.startswith("4 runs of 2 cases done, in ")
    found = children(flow_run_of(ended.state))
    states = sorted((child["name"], child["state_type"]) for child in found)
    assert states == [("a", "COMPLETED"), ("b", "COMPLETED")]
    assert ended.order == [("a", [1, 2]), ("b", [1, 2])]
    assert record(suite.root / "a").flow_run["id"] in {child["id"] for child in found}


def test_what_cannot_be_done_here_stops_no_other_and_the_ui_shows_it(suite: Suite) -> None:
    """A case that fails, one that is none, and one that this host is not fit for."""
    suite.add("a<b>", script="exit 3")
    suite.add("demanding", requires={"tags": ["no-such-tag"]})
    suite.add("good")
    (suite.add("invalid") / "metadata.json").write_text("{")
    ended = suite.run(succeeds=False)
    assert ended.cases["a<b>"]["runs_failed"] == 1
    assert "it lacks the tag no-such-tag" in ended.cases["demanding"]["why"]
    assert ended.cases["good"]["runs_done"] == 1
    assert ended.cases["invalid"]["valid"] is False
    with pytest.raises(CaseFailedError, match=r"not as wanted: a<b>, .*invalid.*; a retry goes on"):
        ended.state.result()

    wanted = {"artifacts": {"key": {"any_": ["suite"]}}, "sort": "CREATED_DESC"}
    artifact = ask("/artifacts/filter", wanted)[0]
    shown = {row["CASE"]: row for row in json.loads(artifact["data"])}
    assert shown["a\\<b\\>"]["FAILED"] == "1"
    assert "1 failed" in artifact["description"]


def test_the_control_case_is_a_child_of_its_own_before_the_cases(suite: Suite) -> None:
    suite.add("a")
    ended = suite.run(no_control=False)
    assert ended.message.startswith("1 run of 1 case done, in ")
    suites_id = flow_run_of(ended.state)
    found = sorted(children(suites_id), key=lambda one: one["start_time"])
    assert [child["name"] for child in found] == ["control", "a"]
    results = control_results(os.uname().nodename)
    assert results.is_relative_to(suite.home)
    assert [*Results(results).done()] == [1, 2, 3, 4, 5, 6]
    assert is_controlled(suites_id)
    assert {one.name for one in suite.root.iterdir()} == {"a"}
    # Nothing is left to execute, and nothing to be controlled.
    assert children(flow_run_of(suite.run(no_control=False).state)) == []


def test_without_a_control_case_nothing_of_it_is_made(suite: Suite) -> None:
    suite.add("a")
    suite.run(no_control=True)
    assert not (suite.home / "control").exists()


def test_a_control_case_that_fails_stops_no_suite(
    suite: Suite, caplog: pytest.LogCaptureFixture
) -> None:
    suite.add("a")
    suite.home.mkdir()
    (suite.home / "control").touch()
    assert suite.run(no_control=False).cases["a"]["runs_done"] == 1
    assert "the control case failed, and the suite goes on without it: " in caplog.text


def test_a_control_case_with_a_wrong_result_stops_no_suite(
    suite: Suite, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = tmp_path / "control"
    shutil.copytree(control.SHIPPED, shipped)
    work = shipped / "data" / "shared" / "work.py"
    work.write_text(work.read_text().replace("if state != ", "if state == "))
    monkeypatch.setattr(control, "SHIPPED", shipped)
    suite.add("a")
    ended = suite.run(no_control=False)
    assert ended.cases["a"]["runs_done"] == 1
    states = {child["name"]: child["state_type"] for child in children(flow_run_of(ended.state))}
    assert states == {"control": "FAILED", "a": "COMPLETED"}
    assert "the suite goes on without it: control run" in caplog.text


def test_fail_fast_leaves_the_rest_out(suite: Suite) -> None:
    suite.add("a-bad", script="exit 3")
    good = suite.add("good")
    last = suite.run(fail_fast=True, succeeds=False).cases["good"]
    assert done(good) == []
    assert (last["runs_left_out"], last["why"]) == (1, "a-bad failed, and that is the end")


def test_only_changed_cases_are_done_again(suite: Suite) -> None:
    same, changed = suite.add("same"), suite.add("changed")
    suite.run()
    file = changed / "metadata.json"
    file.write_text(file.read_text().replace('"s"', '"t"'))
    before = record(same)
    assert suite.run(changed=True).order == [("changed", [1])]
    assert record(changed).steps[0].name == "t"
    assert record(same) == before
    assert suite.run(changed=True).order == []


def test_a_random_order_is_recorded_with_its_seed_and_can_be_had_again(
    suite: Suite, tmp_path: Path
) -> None:
    suite.add("a", "b", "c", "d")
    first = suite.run(order="random")
    seed = first.summary["seed"]
    again = suite.run(order="random", seed=seed, results=str(tmp_path / "other"))
    assert again.order == first.order
    assert len(first.order) == 4


def test_what_is_beyond_the_budget_is_left_out_and_told(suite: Suite) -> None:
    suite.add("a", "b", script="sleep 2")
    ended = suite.run(budget=2 / 3600)
    assert "1 left out" in ended.message
    assert ended.cases["b"]["why"].startswith("of the budget of 0.0005556 hours")


def test_what_became_worse_is_told_once_all_is_measured(suite: Suite, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    suite.make_case("a", process("works", f"[ ! -e {broken} ]", may_fail=True))
    suite.add("b")
    suite.run(runs=2)
    for name in ("a", "b"):
        shutil.copytree(suite.root / name / "results", tmp_path / "before" / name)
    broken.touch()

    ended = suite.run(runs=2, force=True, order="round-robin", baseline=str(tmp_path / "before"))

    assert "4 runs of 2 cases done, 2 cases compared, 1 regression, in " in ended.message
    assert "step works fails in 2 of 2 runs of the candidate" in ended.message
    assert [len(ended.cases[name]["regressions"]) for name in ("a", "b")] == [1, 0]
    assert ended.cases["b"]["compared"].startswith("0 regressions")


def test_three_nights_are_three_campaigns_each_compared_with_the_one_before(
    suite: Suite, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    case = suite.make_case("a", process("works", f"[ ! -e {broken} ]", may_fail=True))
    night: dict[str, Any] = {
        "runs": 2,
        "order": "round-robin",
        "campaign": "new",
        "baseline": "previous",
    }

    said = [suite.run(**night).message, suite.run(**night).message]
    broken.touch()
    last = suite.run(**night)

    assert "2 runs of 1 case done, nothing to compare with, in " in said[0]
    assert "2 runs of 1 case done, 1 case compared, in " in said[1]
    assert "2 runs of 1 case done, 1 case compared, 1 regression, in " in last.message
    assert last.cases["a"]["compared"].startswith("against the campaign of ")
    campaigns = with_earlier(case / "results")
    assert [[*Results(campaign).done()] for campaign in campaigns] == [[1, 2]] * 3


@pytest.mark.parametrize("steps", [1, 2])
def test_ctrl_c_ends_it_after_the_run_under_way(suite: Suite, tmp_path: Path, steps: int) -> None:
    """Also in a case's last step: that case is done, and the next one does not begin."""
    begun, pressed = tmp_path / "begun", tmp_path / "pressed"
    script = f"touch {begun}; while [ ! -e {pressed} ]; do sleep 0.01; done"
    for name in ("a", "b"):
        suite.make_case(name, *(process(f"s{n}", script) for n in range(steps)))

    def press() -> None:
        if eventually(begun.is_file, RECORDED):
            ctrl_c()
        pressed.touch()

    pressing = threading.Thread(target=press)
    pressing.start()
    ended = suite.run(succeeds=False)
    pressing.join()
    assert ended.state.is_cancelled()
    assert "stopped by the user" in ended.message
    assert [done(suite.root / name) for name in ("a", "b")] == [[1] if steps == 1 else [], []]
    assert ended.summary["interrupted"] is True


@contextmanager
def then(handler: Any) -> Generator[None]:
    """Handle the SIGTERM that Prefect sends once more, to whoever handled it before."""
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# The signal is raised in this very process: what was open then is closed by nobody.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_suite_that_is_killed_says_what_it_had_done(suite: Suite, tmp_path: Path) -> None:
    """SIGTERM is what a worker sends for a flow run that is cancelled in the UI."""

    def end(*_: object) -> None:
        raise SystemExit(143)

    def kill() -> None:
        if eventually(begun.is_file, RECORDED):
            os.kill(os.getpid(), signal.SIGTERM)

    begun = tmp_path / "begun"
    suite.add("a")
    suite.add("b", script=f"touch {begun}; sleep 600")
    killing = threading.Thread(target=kill)
    with then(end):
        killing.start()
        with pytest.raises((TerminationSignal, SystemExit)):
            suite.state()
        killing.join()
    (told,) = suite.summaries().values()
    assert told["interrupted"] is True
    assert [line["runs_done"] for line in told["cases"]] == [1, 0]
    assert [line["runs_left_out"] for line in told["cases"]] == [0, 1]


@pytest.mark.parametrize("where", ["stop", "step", "summarize"])
def test_a_signal_while_prefect_makes_a_task_run_ends_the_suite_too(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Prefect's cleaning up fails there, of the task run that is not there yet."""
    suite.add("a", "b")
    make = task_engine._create_task_run_locally  # pyright: ignore[reportPrivateUsage]

    def hit(task: Task[..., Any], **rest: Any) -> TaskRun:
        if task.name == where:
            raise TerminationSignal(signal.SIGTERM)
        return make(task=task, **rest)

    monkeypatch.setattr(task_engine, "_create_task_run_locally", hit)
    with then(signal.SIG_IGN), pytest.raises(TerminationSignal):
        suite.state()
    (told,) = suite.summaries().values()
    assert told["interrupted"] is True
    assert not (suite.root / "b" / "results").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cases": ("nothing-like-it",)}, "no case is 'nothing-like-it'"),
        ({"force": True, "changed": True}, "leave out changed and stale, or force"),
        ({"pool": "no-such-pool"}, "the work pool 'no-such-pool' has no deployment of"),
        ({"baseline": "gone"}, "'gone' is no folder"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_measured(
    suite: Suite, options: Mapping[str, Any], sentence: str
) -> None:
    case = suite.add("a")
    with pytest.raises(InputError, match=sentence):
        suite.state(**options).result()
    assert not (case / "results").exists()
