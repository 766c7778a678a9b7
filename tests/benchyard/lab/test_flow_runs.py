"""What somebody does to a flow run under way in the UI: suspend and resume it, delete it."""

import json
from pathlib import Path

import pytest

from benchyard.results.folders import Results
from tests.benchyard.lab.labs import FINAL, RunningLab, Shell, add_case
from tests.conftest import eventually

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]


@pytest.fixture
def case(lab: RunningLab, shell: Shell, tmp_path: Path) -> str:
    """Give a case that notes its begin, and goes on until there is a file ``go``."""
    script = f": > {tmp_path}/begun; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
    made = add_case(shell.checkout, tmp_path.name.strip("0123456789").replace("_", "-"), script)
    assert shell.run("deploy", **lab.variables).returncode == 0
    return made


def test_a_suspended_flow_run_ends_and_resume_goes_on(
    lab: RunningLab, shell: Shell, case: str, tmp_path: Path
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    flow_run = lab.start(case, runs=2)
    assert eventually(begun.exists, 120)

    state = {"type": "PAUSED", "name": "Suspended", "state_details": {"pause_reschedule": True}}
    lab.ask(f"/flow_runs/{flow_run}/set_state", {"state": state})

    def ended() -> bool:
        go.touch()
        events = lab.events("benchyard.flow-run.ended")
        return any(one["resource"]["prefect.resource.id"].endswith(flow_run) for one in events)

    # The flow run learns of it within ten seconds.
    assert not eventually(lambda: lab.state(flow_run) != "PAUSED", 12)
    assert eventually(ended, 120)
    assert lab.state(flow_run) == "PAUSED"

    lab.ask(f"/flow_runs/{flow_run}/resume", {})
    assert lab.wait_for(flow_run, *FINAL) == "COMPLETED"
    assert [*Results(shell.checkout / case / "results").done()] == [1, 2]


def test_a_deleted_flow_run_is_stopped_as_by_cancel(
    lab: RunningLab, shell: Shell, case: str, tmp_path: Path
) -> None:
    flow_run = lab.start(case)
    assert eventually((tmp_path / "begun").exists, 120)

    lab.ask(f"/flow_runs/{flow_run}", method="DELETE")

    record = Path(shell.checkout / case / "results" / "run_1" / "run.json")
    assert eventually(record.exists, 120)
    assert json.loads(record.read_text())["outcome"] == "cancelled"
    assert lab.wait_for(lab.start("cases/quick"), *FINAL) == "COMPLETED"
