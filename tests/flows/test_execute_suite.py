"""A suite as a flow run on this host: its children, its order, its budget, its truthful end."""

import json
import os
import shutil
import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State, Task, task_engine
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterParentFlowRunId,
)
from prefect.client.schemas.objects import FlowRun, TaskRun
from prefect.exceptions import TerminationSignal

from benchyard.core.errors import CaseFailedError, InputError
from benchyard.results.campaigns import with_earlier
from benchyard.results.folders import Results
from benchyard.results.record import read_record
from flows.execute_suite import execute_suite
from tests.conftest import RECORDED, MakeCase, ctrl_c, eventually, process

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cases"


def run(root: Path, **parameters: Any) -> State[Any]:
    given = {"root": str(root), "runs": 1, "cooldown": 0.0, "publish": (), **parameters}
    return cast("State[Any]", execute_suite(**given, return_state=True))


def summary(home: Path, state: State[Any]) -> dict[str, Any]:
    return json.loads((home / "suites" / f"{state.state_details.flow_run_id}.json").read_text())


def children(state: State[Any]) -> Sequence[FlowRun]:
    parent = state.state_details.flow_run_id
    assert parent is not None
    chosen = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[parent]))
    with get_client(sync_client=True) as client:
        return client.read_flow_runs(flow_run_filter=chosen, limit=200)


def order_of(case: Mapping[str, Any]) -> list[tuple[str, list[int]]]:
    return [(turn["case"], turn["runs"]) for turn in case["turns"]]


def test_each_case_is_a_child_of_the_suites_flow_run(
    case_folder: MakeCase, root: Path, home: Path
) -> None:
    for name in ("a", "b"):
        case_folder(name, process("s", "true"))
    state = run(root, runs=2)
    assert state.is_completed()
    assert state.message is not None
    assert state.message.startswith("4 runs of 2 cases done, in ")
    assert sorted(child.name for child in children(state)) == ["a", "b"]
    assert all(child.state and child.state.is_completed() for child in children(state))
    assert order_of(summary(home, state)) == [("a", [1, 2]), ("b", [1, 2])]
    record = read_record(root / "a" / "results" / "run_1")
    assert record.flow_run["id"] in {str(child.id) for child in children(state)}


def test_a_failed_or_invalid_case_stops_no_other(
    case_folder: MakeCase, root: Path, home: Path
) -> None:
    case_folder("bad", process("s", "exit 3"))
    case_folder("good", process("s", "true"))
    (case_folder("invalid", process("s", "true")) / "metadata.json").write_text("{")
    state = run(root)
    assert state.is_failed()
    told = {line["case"]: line for line in summary(home, state)["cases"]}
    assert told["bad"]["runs_failed"] == 1
    assert told["good"]["runs_done"] == 1
    assert told["invalid"]["valid"] is False
    with pytest.raises(CaseFailedError, match=r"not as wanted: bad, invalid; a retry goes on"):
        state.result()


def test_fail_fast_leaves_the_rest_out(case_folder: MakeCase, root: Path, home: Path) -> None:
    case_folder("a-bad", process("s", "exit 3"))
    case_folder("good", process("s", "true"))
    state = run(root, fail_fast=True)
    assert state.is_failed()
    assert [*Results(root / "good" / "results").done()] == []
    last = summary(home, state)["cases"][1]
    assert (last["runs_left_out"], last["why"]) == (1, "a-bad failed, and that is the end")


def test_only_changed_cases_are_done_again(case_folder: MakeCase, root: Path, home: Path) -> None:
    for name in ("changed", "same"):
        case_folder(name, process("s", "true"))
    run(root)
    file = root / "changed" / "metadata.json"
    file.write_text(file.read_text().replace('"s"', '"t"'))
    before = read_record(root / "same" / "results" / "run_1")
    state = run(root, changed=True)
    assert state.is_completed()
    assert order_of(summary(home, state)) == [("changed", [1])]
    assert read_record(root / "changed" / "results" / "run_1").steps[0].name == "t"
    assert read_record(root / "same" / "results" / "run_1") == before
    assert order_of(summary(home, run(root, changed=True))) == []


def test_a_random_order_is_recorded_with_its_seed_and_can_be_had_again(
    case_folder: MakeCase, root: Path, home: Path, tmp_path: Path
) -> None:
    for name in ("a", "b", "c", "d"):
        case_folder(name, process("s", "true"))
    first = summary(home, run(root, order="random"))
    again = run(root, order="random", seed=first["seed"], results=str(tmp_path / "other"))
    assert order_of(summary(home, again)) == order_of(first)
    assert len(order_of(first)) == 4


def test_what_is_beyond_the_budget_is_left_out_and_told(
    case_folder: MakeCase, root: Path, home: Path
) -> None:
    for name in ("a", "b"):
        case_folder(name, process("s", "sleep 2"))
    state = run(root, budget=2 / 3600)
    assert state.is_completed()
    assert "1 left out" in str(state.message)
    told = summary(home, state)["cases"][1]
    assert told["why"].startswith("of the budget of 0.0005556 hours")


def test_what_this_host_is_not_fit_for_is_left_out_and_is_no_success(
    case_folder: MakeCase, root: Path, home: Path
) -> None:
    case_folder("demanding", process("s", "true"), requires={"tags": ["no-such-tag"]})
    case_folder("modest", process("s", "true"))
    state = run(root)
    assert state.is_failed()
    told = {line["case"]: line for line in summary(home, state)["cases"]}
    assert "it lacks the tag no-such-tag" in told["demanding"]["why"]
    assert told["modest"]["runs_done"] == 1


def test_what_became_worse_is_told_once_all_is_measured(
    case_folder: MakeCase, root: Path, home: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    case_folder("a", process("works", f"[ ! -e {broken} ]", may_fail=True))
    case_folder("b", process("works", "true"))
    run(root, runs=2)
    for name in ("a", "b"):
        shutil.copytree(root / name / "results", tmp_path / "before" / name)
    broken.touch()

    state = run(root, runs=2, force=True, order="round-robin", baseline=str(tmp_path / "before"))

    assert state.is_completed()
    assert "4 runs of 2 cases done, 2 cases compared, 1 regression, in " in str(state.message)
    assert "step works fails in 2 of 2 runs of the candidate" in str(state.message)
    told = {line["case"]: line for line in summary(home, state)["cases"]}
    assert [len(told[name]["regressions"]) for name in ("a", "b")] == [1, 0]
    assert told["b"]["compared"].startswith("0 regressions")


def test_three_nights_are_three_campaigns_each_compared_with_the_one_before(
    case_folder: MakeCase, root: Path, home: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    case_folder("a", process("works", f"[ ! -e {broken} ]", may_fail=True))
    night = {"runs": 2, "order": "round-robin", "campaign": "new", "baseline": "previous"}

    said = [str(run(root, **night).message), str(run(root, **night).message)]
    broken.touch()
    last = run(root, **night)

    assert "2 runs of 1 case done, nothing to compare with, in " in said[0]
    assert "2 runs of 1 case done, 1 case compared, in " in said[1]
    assert "2 runs of 1 case done, 1 case compared, 1 regression, in " in str(last.message)
    (told,) = summary(home, last)["cases"]
    assert told["compared"].startswith("against the campaign of ")
    campaigns = with_earlier(root / "a" / "results")
    assert [[*Results(campaign).done()] for campaign in campaigns] == [[1, 2]] * 3


def test_a_baseline_that_is_not_there_is_refused_before_anything_is_measured(
    case_folder: MakeCase, root: Path
) -> None:
    case_folder("a", process("works", "true"))
    state = run(root, baseline="gone")
    assert state.is_failed()
    assert "'gone' is no folder" in str(state.message)
    assert not (root / "a" / "results").exists()


@pytest.mark.parametrize("steps", [1, 2])
def test_ctrl_c_ends_it_after_the_run_under_way(
    case_folder: MakeCase, root: Path, home: Path, tmp_path: Path, steps: int
) -> None:
    """Also in a case's last step: that case is done, and the next one does not begin."""
    begun_file, pressed = tmp_path / "begun", tmp_path / "pressed"
    script = f"touch {begun_file}; while [ ! -e {pressed} ]; do sleep 0.01; done"
    for name in ("a", "b"):
        case_folder(name, *(process(f"s{n}", script) for n in range(steps)))

    def press() -> None:
        if eventually(begun_file.is_file, RECORDED):
            ctrl_c()
        pressed.touch()

    pressing = threading.Thread(target=press)
    pressing.start()
    state = run(root)
    pressing.join()
    assert state.is_cancelled()
    assert "stopped by the user" in str(state.message)
    assert [*Results(root / "a" / "results").done()] == ([1] if steps == 1 else [])
    assert [*Results(root / "b" / "results").done()] == []
    assert summary(home, state)["interrupted"] is True


# The signal is raised in this very process: what was open then is closed by nobody.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_suite_that_is_killed_says_what_it_had_done(
    case_folder: MakeCase, root: Path, home: Path, tmp_path: Path
) -> None:
    """SIGTERM is what a worker sends for a flow run that is cancelled in the UI.

    After its end Prefect sends the signal once more, to whoever handled it before.
    """

    def end(*_: object) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, end)
    case_folder("a", process("s", "true"))
    begun = tmp_path / "begun"
    case_folder("b", process("s", f"touch {begun}; sleep 600"))
    killing = threading.Thread(
        target=lambda: eventually(begun.is_file, RECORDED) and os.kill(os.getpid(), signal.SIGTERM)
    )
    killing.start()
    try:
        with pytest.raises((TerminationSignal, SystemExit)):
            run(root)
    finally:
        killing.join()
        signal.signal(signal.SIGTERM, before)
    (file,) = (home / "suites").iterdir()
    told = json.loads(file.read_text())
    assert told["interrupted"] is True
    assert [line["runs_done"] for line in told["cases"]] == [1, 0]
    assert [line["runs_left_out"] for line in told["cases"]] == [0, 1]


@pytest.mark.parametrize("where", ["stop", "step", "summarize"])
def test_a_signal_while_prefect_makes_a_task_run_ends_the_suite_too(
    case_folder: MakeCase, root: Path, home: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Prefect's cleaning up fails there, of the task run that is not there yet."""
    for name in ("a", "b"):
        case_folder(name, process("s", "true"))
    make = task_engine._create_task_run_locally  # pyright: ignore[reportPrivateUsage]

    def hit(task: Task[..., Any], **rest: Any) -> TaskRun:
        if task.name == where:
            raise TerminationSignal(signal.SIGTERM)
        return make(task=task, **rest)

    monkeypatch.setattr(task_engine, "_create_task_run_locally", hit)
    # Prefect then sends the signal once more, to whoever handled it before.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(TerminationSignal):
            run(root)
    finally:
        signal.signal(signal.SIGTERM, before)
    (file,) = (home / "suites").iterdir()
    told = json.loads(file.read_text())
    assert told["interrupted"] is True
    assert not (root / "b" / "results").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cases": ("nothing-like-it",)}, "no case is 'nothing-like-it'"),
        ({"force": True, "changed": True}, "leave out changed and stale, or force"),
        ({"pool": "no-such-pool"}, "the work pool 'no-such-pool' has no deployment of"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_a_sentence(
    case_folder: MakeCase, root: Path, options: Mapping[str, Any], sentence: str
) -> None:
    case_folder("a", process("s", "true"))
    with pytest.raises(InputError, match=sentence):
        run(root, **options).result()


def test_the_ui_shows_the_summary(case_folder: MakeCase, root: Path) -> None:
    case_folder("a<b>", process("s", "exit 1"))
    run(root)
    with get_client(sync_client=True) as client:
        body = {"artifacts": {"key": {"any_": ["suite"]}}, "sort": "CREATED_DESC"}
        found = client.request("POST", "/artifacts/filter", json=body).json()
    rows = json.loads(found[0]["data"])
    assert rows[0]["CASE"] == "a\\<b\\>"
    assert rows[0]["FAILED"] == "1"
    assert "1 failed" in found[0]["description"]
