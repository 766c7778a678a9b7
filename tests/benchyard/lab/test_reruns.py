"""Retries, events and alerts, in a real lab: a server, its worker, and who is told."""

import json
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from benchyard.results.folders import Results
from benchyard.results.record import RunRecord, read_record
from tests.benchyard.lab.labs import FINAL, add_case, make_shell
from tests.benchyard.lab.receiving import Place, receiving
from tests.conftest import eventually, tree

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]

#: Fails at its first attempt in each run.
FLAKY = "[ -e tried ] || { : > tried; echo not yet >&2; exit 3; }"


def failing(checkout: Path, name: str, at: int) -> None:
    """Add a case of which one execution fails, counted over all runs."""
    count = checkout.parent / f"{name}.count"
    script = (
        f"n=$(($(cat {count} 2>/dev/null || echo 0) + 1)); echo $n > {count}; "
        f"[ $n -ne {at} ] || {{ echo no route >&2; exit 3; }}"
    )
    add_case(checkout, name, script)


def add_cases(checkout: Path) -> None:
    """Add all cases of this file: each that is added later takes a deploy."""
    for name, at in (("told", 1), ("second", 2), ("custom", 2), ("forced", 4)):
        failing(checkout, name, at)
    add_case(checkout, "quick", "echo hello")
    add_case(checkout, "worse", f"sleep $(cat {checkout.parent}/speed)")
    add_case(checkout, "flaky", FLAKY, retries=2)
    add_case(checkout, "shaky", "exit 4", may_fail=True, retries=0)


class RerunPlace(Place):
    """Where cases are executed, and again."""

    def executed(self, case: str, **parameters: Any) -> str:
        flow_run = self.lab.start(case, **parameters)
        self.lab.wait_for(flow_run, *FINAL)
        return flow_run

    def results(self, case: str) -> Path:
        return self.shell.checkout / case / "results"

    def record(self, case: str, run: int) -> RunRecord:
        return read_record(self.results(case) / f"run_{run}")

    def finished(self, case: str, *runs: int) -> dict[str, Any]:
        """Return every byte of some runs, with the times of their files."""
        folders = [self.results(case) / f"run_{run}" for run in runs]
        times = {str(p): p.stat().st_mtime_ns for f in folders for p in f.rglob("*")}
        return {str(folder): tree(folder) for folder in folders} | times

    def retry(self, flow_run: str) -> str:
        """Do what ``benchyard failures`` says of a case; return how the flow run ended then."""
        command = f"prefect flow-run retry {flow_run}"
        said = self.shell.run("failures", "--root", "cases").stdout
        assert command in said
        environment = {**self.shell.environment, **self.lab.variables}
        words = [sys.executable, "-m", *command.split()]
        subprocess.run(words, env=environment, check=True, capture_output=True)
        assert eventually(lambda: self.lab.flow_run(flow_run)["run_count"] == 2, 60)
        return self.lab.wait_for(flow_run, *FINAL)

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the events of a name, once there are some: the server writes them in batches."""
        assert eventually(lambda: self.lab.events(name), 60), name
        return self.lab.events(name)

    def alerts(self, case: str) -> list[dict[str, Any]]:
        """Return the alerts about a case, once there are some."""
        eventually(lambda: self.receiver.of(case), 120)
        return self.receiver.of(case)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[RerunPlace]:
    shell = make_shell(tmp_path_factory.mktemp("rerun"))
    add_cases(shell.checkout)
    with receiving() as receiver, shell.up("--name", "bench", "--alerts", receiver.url) as lab:
        yield RerunPlace(shell, lab, receiver)


def test_a_failed_flow_run_is_one_alert_with_the_name_of_the_case(place: RerunPlace) -> None:
    case = "cases/told"

    flow_run = place.executed(case)

    assert place.lab.state(flow_run) == "FAILED"
    (alert,) = place.alerts("told")
    assert alert["text"] == (
        "told run 1: step work: exit 3: no route; 0 runs done; a retry goes on there"
    )
    assert (alert["kind"], alert["flow_run"]) == ("failed", flow_run)
    assert alert["url"] == f"{place.lab.told['ui']}/runs/flow-run/{flow_run}"
    failed = [one for one in place.events("benchyard.case.failed") if "told" in str(one)]
    (event,) = failed
    (run,) = event["payload"]["runs_failed"]
    assert "no route" in run["error"]["message"]
    assert any(one["prefect.resource.role"] == "deployment" for one in event["related"])


def test_nobody_can_read_the_address_of_the_webhook(place: RerunPlace) -> None:
    shown = json.dumps(
        [
            place.lab.ask("/automations/filter", {}),
            place.lab.ask("/block_documents/filter", {}),
        ]
    )

    assert "s3cr3t-t0ken" not in shown
    assert "benchyard: tell of failed flow runs" in shown


def test_the_command_that_is_told_goes_on_and_touches_no_finished_run(place: RerunPlace) -> None:
    case = "cases/second"
    flow_run = place.executed(case, runs=3)
    assert place.lab.state(flow_run) == "FAILED"
    assert [*Results(place.results(case)).done()] == [1, 3]
    before = place.finished(case, 1, 3)

    assert place.retry(flow_run) == "COMPLETED"

    assert f"retry {flow_run}" not in place.shell.run("failures", "--root", "cases").stdout
    assert place.finished(case, 1, 3) == before
    record = place.record(case, 2)
    assert (record.flow_run["id"], record.flow_run["attempt"]) == (flow_run, 2)
    (earlier,) = record.tries
    assert earlier["outcome"] == "failed"
    assert earlier["flow_run"] == {**record.flow_run, "name": ANY, "attempt": 1}


def test_a_custom_run_with_the_same_parameters_goes_on_too(place: RerunPlace) -> None:
    case = "cases/custom"
    first = place.executed(case, runs=3)
    before = place.finished(case, 1, 3)

    second = place.executed(case, runs=3)

    assert second != first
    assert place.lab.state(second) == "COMPLETED"
    assert place.finished(case, 1, 3) == before
    assert place.record(case, 2).flow_run["id"] == second


def test_force_holds_for_the_first_attempt_only(place: RerunPlace) -> None:
    case = "cases/forced"
    place.executed(case, runs=2)
    flow_run = place.executed(case, runs=2, force=True)  # executions 3 and 4: run 2 fails
    assert place.lab.state(flow_run) == "FAILED"
    before = place.finished(case, 1)

    assert place.retry(flow_run) == "COMPLETED"

    assert place.finished(case, 1) == before


def test_one_run_is_done_again_when_it_is_named_and_forced(place: RerunPlace) -> None:
    case = "cases/quick"
    place.executed(case, runs=3)
    before, second = place.finished(case, 1, 3), place.finished(case, 2)

    flow_run = place.executed(case, runs=3, only=[2], force=True)

    assert place.lab.state(flow_run) == "COMPLETED"
    assert place.finished(case, 1, 3) == before
    assert place.finished(case, 2) != second


def test_a_regression_is_an_event_an_alert_and_in_the_state(place: RerunPlace) -> None:
    speed = place.shell.home.parent / "speed"
    speed.write_text("0")
    case = "cases/worse"
    # Shorter steps and more runs than it takes: those from which the hypervisor took CPU time do
    # not count.
    place.executed(case, runs=20)
    baseline = place.shell.home.parent / "baseline"
    shutil.copytree(place.results(case), baseline)
    speed.write_text("0.04")

    flow_run = place.executed(case, runs=20, force=True, baseline=str(baseline))

    state = place.lab.flow_run(flow_run)["state"]
    assert state["type"] == "COMPLETED"
    assert state["message"].startswith("20 runs done; 1 regression: worse: step work is slower")
    (alert,) = place.alerts("worse")
    assert (alert["kind"], alert["step"]) == ("regression", "work")
    assert alert["ratio"] > 2
    (event,) = place.events("benchyard.regression.found")
    assert event["resource"]["prefect.resource.id"] == "benchyard.case.worse"


def test_events_of_steps_that_were_retried_and_tolerated(place: RerunPlace) -> None:
    place.executed("cases/flaky")
    place.executed("cases/shaky")

    (retried,) = place.events("benchyard.step.retried")
    (tolerated,) = place.events("benchyard.step.tolerated")
    assert retried["payload"]["case"] == "flaky"
    assert retried["payload"]["attempts"] == 2
    assert "not yet" in retried["payload"]["errors"][0]["message"]
    assert tolerated["payload"]["case"] == "shaky"
    assert place.receiver.of("flaky") == place.receiver.of("shaky") == []
