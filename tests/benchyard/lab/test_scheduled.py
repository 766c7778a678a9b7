"""What a schedule started and what became of it: who is told, when, and what a retry may wait for.

Prefect's scheduler writes the first state of a flow run without an event.
"""

import os
import signal
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.lab.labs import FINAL, Shell, add_case, make_shell
from tests.benchyard.lab.receiving import Place, receiving
from tests.conftest import eventually

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]

#: Heartbeats come every 30 s; the window that a lab really has would make this file twice as long.
WITHIN = 50
#: What must have come by then has come; where nothing waits 15 minutes it takes some seconds.
TOLD_SECONDS = 60.0


class ScheduledPlace(Place):
    """Where schedules start flow runs."""

    def scheduled(self, name: str, **parameters: Any) -> str:
        """Let a schedule start a deployment's flow run in some seconds; return its id."""
        deployment = self.lab.deployment(name)["id"]
        schedule = {
            "slug": f"soon-{datetime.now(UTC):%H%M%S%f}",
            "active": True,
            "parameters": parameters,
            "schedule": {
                "interval": 86_400,
                "anchor_date": (datetime.now(UTC) + timedelta(seconds=5)).isoformat(),
            },
        }
        known = {one["id"] for one in self._of_schedules(deployment)}
        self.lab.ask(f"/deployments/{deployment}/schedules", [schedule])
        self.lab.ask(f"/deployments/{deployment}/schedule", {"min_runs": 1, "max_runs": 1})

        def new() -> list[str]:
            found = sorted(
                self._of_schedules(deployment), key=lambda one: one["expected_start_time"]
            )
            return [str(one["id"]) for one in found if one["id"] not in known]

        assert eventually(new, 60)
        return new()[0]

    def _of_schedules(self, deployment: str) -> list[dict[str, Any]]:
        chosen = {"id": {"any_": [deployment]}}
        found = self.lab.ask("/flow_runs/filter", {"deployments": chosen, "limit": 200})
        return [one for one in found if one["auto_scheduled"]]

    def executed(self, case: str) -> str:
        flow_run = self.scheduled("execute-case/testbed", **wanted(case))
        self.lab.wait_for(flow_run, *FINAL)
        assert self.lab.flow_run(flow_run)["auto_scheduled"]
        return flow_run

    def refused(self) -> list[str]:
        """Return what automations tried to do and could not."""
        failed = self.lab.events("prefect.automation.action.failed")
        return [str(one["payload"]) for one in failed]


def wanted(case: str) -> dict[str, Any]:
    return {"case": f"cases/{case}", "runs": 1, "cooldown": 0, "publish": []}


def make_place(base: Path) -> Shell:
    """Make a checkout with short windows, and a case that fails once."""
    shell = make_shell(base)
    names = shell.checkout / "tasks" / "names.py"
    text = names.read_text()
    assert "WITHIN_SECONDS = 95" in text
    names.write_text(text.replace("WITHIN_SECONDS = 95", f"WITHIN_SECONDS = {WITHIN}"))
    add_case(
        shell.checkout,
        "broken",
        f"[ -e {base}/tried ] || {{ : > {base}/tried; exit 3; }}",
        retries=0,
    )
    add_case(shell.checkout, "busy", f"while [ ! -e {base}/go ]; do sleep 0.2; done")
    add_case(shell.checkout, "frozen", "sleep 600")
    return shell


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[ScheduledPlace]:
    shell = make_place(tmp_path_factory.mktemp("scheduled"))
    with receiving() as receiver, shell.up("--name", "bench", "--alerts", receiver.url) as lab:
        yield ScheduledPlace(shell, lab, receiver)


def test_a_failure_is_told_at_once_and_neither_a_retry_nor_another_flow_run_is_ended(
    place: ScheduledPlace,
) -> None:
    """A retry waits as long as it has to, and others have ended by then: one window is for all."""
    lab, go = place.lab, place.shell.home.parent / "go"
    broken = place.executed("broken")
    assert lab.state(broken) == "FAILED"
    assert eventually(lambda: place.receiver.of("broken"), TOLD_SECONDS)
    names = ("publish/every-15-minutes", "housekeeping/weekly", "execute-suite/nightly")
    parameters: list[dict[str, Any]] = [{}, {}, {"cases": ["cases/examples/first"], "runs": 1}]
    started = [place.scheduled(n, **p) for n, p in zip(names, parameters, strict=True)]
    for flow_run in started:
        lab.wait_for(flow_run, *FINAL)

    busy = lab.start("cases/busy")
    lab.wait_for(busy, "RUNNING")
    lab.retry(broken)
    waited = not eventually(lambda: lab.state(broken) != "SCHEDULED", WITHIN + 40)
    assert waited, lab.flow_run(broken)["state"]
    assert lab.state(busy) == "RUNNING"
    go.touch()

    assert lab.wait_for(broken, "COMPLETED", "CRASHED") == "COMPLETED"
    assert lab.flow_run(broken)["run_count"] == 2
    assert len(place.receiver.of("broken")) == 1
    assert place.refused() == []
    ends = [lab.flow_run(flow_run)["state"]["message"] for flow_run in started]
    assert not [end for end in ends if end and "no heartbeat" in end]


def test_one_that_sends_no_heartbeat_any_more_is_ended_and_told_once(place: ScheduledPlace) -> None:
    flow_run = place.scheduled("execute-case/testbed", **wanted("frozen"))
    place.lab.wait_for(flow_run, "RUNNING")
    assert eventually(lambda: place.lab.flow_run(flow_run)["infrastructure_pid"], 60)
    pid = int(place.lab.flow_run(flow_run)["infrastructure_pid"])
    eventually(lambda: False, 5)  # its first heartbeat takes a moment
    os.kill(pid, signal.SIGSTOP)
    try:
        assert place.lab.wait_for(flow_run, *FINAL, timeout=WITHIN + 60) == "CRASHED"
        assert eventually(lambda: place.receiver.of("frozen"), TOLD_SECONDS)
    finally:
        os.kill(pid, signal.SIGKILL)
    assert not eventually(lambda: len(place.receiver.of("frozen")) > 1, 20)


def test_three_nights_of_one_lab(place: ScheduledPlace) -> None:
    """A schedule every 40 s: a good night, one with a retried step, one that fails for good."""
    lab, base = place.lab, place.shell.home.parent
    script = (
        f"[ ! -e {base}/broken ] || exit 5; [ ! -e {base}/flaky ] || {{ rm {base}/flaky; exit 4; }}"
    )
    add_case(place.shell.checkout, "nights", script, retries=1, retry_delay=0)
    deployment = str(lab.deployment("execute-case/testbed")["id"])
    often = {
        "active": True,
        "parameters": wanted("nights") | {"runs": 2},
        "schedule": {"interval": 40, "anchor_date": datetime.now(UTC).isoformat()},
    }

    def nights() -> list[dict[str, Any]]:
        chosen: dict[str, Any] = {
            "deployments": {"id": {"any_": [deployment]}},
            "flow_runs": {"state": {"type": {"any_": [*FINAL]}}},
            "sort": "START_TIME_ASC",
            "limit": 200,
        }
        found = lab.ask("/flow_runs/filter", chosen)
        return [one for one in found if one["parameters"]["case"] == "cases/nights"]

    (one,) = lab.ask(f"/deployments/{deployment}/schedules", [often])
    assert eventually(lambda: len(nights()) >= 1, 300)
    (base / "flaky").touch()
    assert eventually(lambda: len(nights()) >= 2 and not (base / "flaky").exists(), 300)
    (base / "broken").touch()
    assert eventually(lambda: nights()[-1]["state"]["type"] == "FAILED", 300)
    lab.ask(f"/deployments/{deployment}/schedules/{one['id']}", {"active": False}, method="PATCH")
    failed = str(nights()[-1]["id"])
    assert eventually(lambda: place.receiver.of("nights"), TOLD_SECONDS)
    (base / "broken").unlink()
    lab.retry(failed)
    assert eventually(lambda: lab.flow_run(failed)["run_count"] == 2, 120)
    assert lab.wait_for(failed, "COMPLETED", "CRASHED") == "COMPLETED"

    messages = [str(night["state"]["message"]) for night in nights()]
    print(*messages, sep="\n")  # noqa: T201 - to look at
    assert messages[0].startswith("2 runs done; nothing to compare with")
    assert all("2 runs done; against the campaign of" in text for text in messages[1:])
    assert not [night for night in nights() if night["state"]["type"] == "CRASHED"]
    assert len(place.receiver.of("nights")) == 1
    assert place.refused() == []
