"""Nights in fast motion: what a schedule starts again and again, on this host and on a testbed."""

import json
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from benchyard.results.campaigns import with_earlier
from benchyard.results.folders import Results
from tests.benchyard.lab.labs import RunningLab, Shell, add_case, make_checkout, make_shell
from tests.conftest import eventually

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]

SECONDS = 600.0
PARAMETERS: dict[str, Any] = {"runs": 2, "cooldown": 0, "publish": []}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return make_shell(tmp_path_factory.mktemp("nightly"))


@pytest.fixture(scope="module")
def lab(shell: Shell) -> Generator[RunningLab]:
    prepare(shell.checkout, shell.home)
    with shell.up("--name", "near") as lab:
        # On a busy machine a beat may come late, and a night would count as crashed.
        for automation in lab.ask("/automations/filter", {}):
            lab.ask(f"/automations/{automation['id']}", {"enabled": False}, method="PATCH")
        yield lab


def prepare(checkout: Path, home: Path) -> None:
    """Write two cases with a step that fails once a flag is there; one is for another testbed."""
    for name, tags in (("plain", ""), ("distant", "far")):
        script = f"test ! -e {home / f'{name}.broken'}"
        add_case(checkout, name, script, may_fail=True)
        file = checkout / "cases" / name / "metadata.json"
        file.write_text(
            json.dumps({**json.loads(file.read_text()), "requires": {"tags": tags.split()}})
        )


@contextmanager
def schedule(lab: RunningLab, name: str, **parameters: Any) -> Generator[str]:
    """Let a deployment begin every 20 s, as a user sets it in the UI; give its id."""
    deployment = str(lab.deployment(name)["id"])
    made: dict[str, Any] = {
        "schedule": {"interval": 20, "anchor_date": "2026-01-01T00:00:00Z", "timezone": "UTC"},
        "active": True,
        "parameters": {**PARAMETERS, **parameters},
    }
    (one,) = lab.ask(f"/deployments/{deployment}/schedules", [made])
    yield deployment
    path = f"/deployments/{deployment}/schedules/{one['id']}"
    lab.ask(path, {"active": False}, method="PATCH")
    assert eventually(lambda: not nights(lab, deployment, "PENDING", "RUNNING"), SECONDS)


def nights(lab: RunningLab, deployment: str, *states: str) -> list[dict[str, Any]]:
    chosen = {
        "deployments": {"id": {"any_": [deployment]}},
        "flow_runs": {"state": {"type": {"any_": list(states)}}},
        "sort": "START_TIME_ASC",
    }
    found: list[dict[str, Any]] = []

    def answered() -> bool:
        with suppress(OSError):  # a server on a busy machine may take longer than 30 s
            found[:] = lab.ask("/flow_runs/filter", chosen)
            return True
        return False

    assert eventually(answered, SECONDS)
    return found


def said(lab: RunningLab, deployment: str) -> list[str]:
    return [one["state"]["message"] for one in nights(lab, deployment, "COMPLETED")]


def three_nights(lab: RunningLab, deployment: str, broken: Path) -> list[str]:
    """Wait for two nights, break what is measured, and wait for the night that notices it."""

    def wait(more: int) -> None:
        wanted = len(said(lab, deployment)) + more
        assert eventually(lambda: len(said(lab, deployment)) >= wanted, SECONDS)

    wait(2)
    while not any("1 regression" in text for text in said(lab, deployment)):
        # One that was under way may be half broken, and the next no worse than that.
        broken.unlink() if broken.exists() else broken.touch()
        wait(2)
    return said(lab, deployment)


def told_of_regressions(lab: RunningLab) -> list[str]:
    """Return what the events of regressions are about."""
    found = lab.events("benchyard.regression.found")
    return [related["prefect.resource.id"] for one in found for related in one["related"]]


def campaigns(checkout: Path, case: str) -> list[list[int]]:
    folders = with_earlier(checkout / "cases" / case / "results")
    return [[*Results(folder).done()] for folder in folders]


def test_a_case_with_a_schedule_of_the_user_s_is_measured_and_compared_each_night(
    lab: RunningLab, shell: Shell
) -> None:
    with schedule(lab, "execute-case/testbed", case="cases/plain") as deployment:
        first, second, *_ = three_nights(lab, deployment, shell.home / "plain.broken")
    assert first.startswith("2 runs done; nothing to compare with: it is the first campaign")
    assert second.startswith("2 runs done; against the campaign of ")
    ended = nights(lab, deployment, "COMPLETED")
    before = campaigns(shell.checkout, "plain")
    assert before == [[1, 2]] * len(ended)
    worse = next(one for one in ended if "1 regression" in one["state"]["message"])
    ours = f"prefect.flow-run.{worse['id']}"
    assert eventually(lambda: ours in told_of_regressions(lab), 60), told_of_regressions(lab)

    lab.retry(worse["id"])
    assert eventually(lambda: lab.flow_run(worse["id"])["run_count"] == 2, SECONDS)
    lab.wait_for(worse["id"], "COMPLETED")
    mine = worse["id"] == ended[-1]["id"]
    assert len(campaigns(shell.checkout, "plain")) == len(before) + (not mine)


def test_the_nightly_suite_measures_each_night_on_a_testbed_with_another_checkout(
    lab: RunningLab, shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    far = Shell(tmp_path / "far", make_checkout(tmp_path / "checkout"), lab.variables)
    prepare(far.checkout, shell.home)
    testbed = far.running("worker", "--testbed", "far", "--testbed-tag", "far")
    wanted = {"cases": ["distant"], "root": "cases", "pool": "testbeds"}
    with testbed, schedule(lab, "execute-suite/nightly", **wanted) as deployment:
        first, second, *_ = three_nights(lab, deployment, shell.home / "distant.broken")
    assert first.startswith("2 runs of 1 case done, nothing to compare with, in ")
    assert second.startswith("2 runs of 1 case done, 1 case compared, in ")
    ended = nights(lab, deployment, "COMPLETED")
    assert campaigns(far.checkout, "distant") == [[1, 2]] * len(ended)
    assert not (shell.checkout / "cases" / "distant" / "results").exists()
