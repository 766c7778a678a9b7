"""Flow runs as Prefect's API tells of them, and cases of real processes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId, LogFilter
from prefect.client.schemas.filters import LogFilterFlowRunId
from prefect.client.schemas.objects import FlowRun, TaskRun

from benchyard.record import RunRecord, read_record
from flows.execute_case import execute_case
from tests.conftest import MakeCase, eventually


def process(name: str, program: str, **keys: Any) -> Mapping[str, Any]:
    """Declare a step that lets a shell read ``program``, in the run's own folder."""
    parameters = {"arguments": ["sh", "-c", program], **keys.pop("parameters", {})}
    return {
        "@id": name,
        "name": name,
        "resource": "Process",
        "command": "execute",
        "parameters": parameters,
        **keys,
    }


#: Fails when it is executed for the first time in a run.
FLAKY = "[ -e tried ] || { : > tried; echo not yet >&2; exit 3; }"


@dataclass
class Seen:
    """What Prefect knows of a flow run, once it has taken note of everything."""

    state: State[Any]
    flow_run: FlowRun
    tasks: Mapping[str, TaskRun]

    def before(self, name: str) -> set[str]:
        """Return the names of the task runs that one waited for."""
        names = {str(task.id): task.name for task in self.tasks.values()}
        waited = self.tasks[name].task_inputs.get("wait_for", [])
        return {names[str(cast("Any", one).id)] for one in waited}


@dataclass
class Flows:
    """Executes cases as flow runs."""

    make_case: MakeCase
    root: Path

    def case(self, *steps: Mapping[str, Any], name: str = "flow", **more: Any) -> Path:
        return self.make_case(name, *steps, **more)

    def execute(self, case: Path | str, tasks: int, **parameters: Any) -> Seen:
        """Execute a case; wait until Prefect knows of ``tasks`` ended task runs."""
        options: dict[str, Any] = {"runs": 1, "cooldown": 0.0, "root": str(self.root), **parameters}
        before = {run.id for run in flow_runs()}
        state = cast("State[Any]", execute_case(str(case), **options, return_state=True))
        (run,) = [run for run in flow_runs() if run.id not in before]
        assert eventually(lambda: len(ended_tasks(run)) == tasks, 20), sorted(ended_tasks(run))
        return Seen(state, run, ended_tasks(run))


def flow_runs() -> Sequence[FlowRun]:
    with get_client(sync_client=True) as client:
        return client.read_flow_runs(limit=200)


def ended_tasks(run: FlowRun) -> dict[str, TaskRun]:
    with get_client(sync_client=True) as client:
        chosen = FlowRunFilter(id=FlowRunFilterId(any_=[run.id]))
        found = client.read_task_runs(flow_run_filter=chosen, limit=200)
    return {task.name: task for task in found if task.state and task.state.is_final()}


def logs(run: FlowRun) -> list[str]:
    chosen = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[run.id]))
    with get_client(sync_client=True) as client:
        return [log.message for log in client.read_logs(log_filter=chosen, limit=200)]


def record(case: Path, run: int = 1) -> RunRecord:
    return read_record(case / "results" / f"run_{run}")


@pytest.fixture
def flows(prefect_server: str, case_folder: MakeCase, tmp_path: Path) -> Flows:
    del prefect_server
    return Flows(case_folder, tmp_path)


MakeFlows = Callable[..., Flows]
