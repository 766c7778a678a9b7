"""A flow run confirms what seems slower, and reports it."""

from pathlib import Path
from typing import Any

import pytest

from flows.confirm_changes import confirm_changes
from tests.benchyard.suite.test_alarms import CONFIRM, commit, measured, repository
from tests.flows.conftest import Suite, ask

__all__ = ["repository"]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]


def artifact() -> dict[str, Any]:
    found = ask("/artifacts/latest/filter", {"artifacts": {"key": {"any_": ["alarms"]}}})
    return found[0]


def test_an_alarm_is_the_flow_runs_result_and_its_page(repository: Path) -> None:
    commits = commit(repository, 0.01, "fast"), commit(repository, 0.03, "slow")
    measured(repository, "sort", 1.1, commits, confirm=CONFIRM)
    state = confirm_changes(root=str(repository), return_state=True)
    [told] = state.result()["suspicions"]
    assert told["alarm"]
    assert "confirmed by benchyard" in told["state"]
    assert state.message == "1 alarm, 1 suspected; 1 of 60 confirmations spent this month"
    page = artifact()["data"]
    assert "## Alarms\n\n- sort: " in page
    assert "benchyard bisect" in page


def test_a_suite_with_a_budget_looks_for_alarms_and_never_fails_by_it(
    suite: Suite, home: Path
) -> None:
    suite.add("quick")
    ended = suite.run(false_per_month=2.0)
    assert ended.summary["alarms"]["sentence"].startswith("0 alarms, 0 suspected")
    (home / "alarms.json").write_text("[]")
    ended = suite.run(campaign="new", false_per_month=2.0)
    assert ended.summary["alarms"] is None
    assert suite.run(campaign="new").summary["alarms"] is None
