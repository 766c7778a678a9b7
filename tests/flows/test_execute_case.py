"""The flow through a real Prefect server: what it shows is what was executed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    LogFilter,
    LogFilterFlowRunId,
)
from prefect.client.schemas.objects import FlowRun, TaskRun
from prefect.logging.handlers import APILogHandler
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

from benchyard.core.model import Outcome
from benchyard.results.folders import Results
from benchyard.results.record import RunRecord, read_record
from benchyard.run.progress import Event, StepStarted, Waiting, listening
from flows.execute_case import execute_case
from tests.conftest import RECORDED, MakeCase, ctrl_c, eventually, process, tree

pytestmark = pytest.mark.slow

#: Task runs of a run beside its steps, and of a flow run beside its runs.
STAGES = ["initialize", "start-collector", "stop", "stop-collector", "keep-outputs", "record"]
OF_A_RUN = len(STAGES) + 1  # the checkpoint

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
        given: dict[str, Any] = {"root": str(self.root), "publish": (), **parameters}
        options = {"runs": 1, "cooldown": 0.0, **given}
        before = {run.id for run in flow_runs()}
        state = execute_case(str(case), **options, return_state=True)
        (run,) = [run for run in flow_runs() if run.id not in before]
        assert eventually(lambda: len(ended_tasks(run)) == tasks, RECORDED), sorted(
            ended_tasks(run)
        )
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
    APILogHandler().flush()  # which else waits for two seconds whether there is more
    chosen = LogFilter(flow_run_id=LogFilterFlowRunId(any_=[run.id]))
    with get_client(sync_client=True) as client:
        return [log.message for log in client.read_logs(log_filter=chosen, limit=200)]


def record(case: Path, run: int = 1) -> RunRecord:
    return read_record(case / "results" / f"run_{run}")


@pytest.fixture
def flows(prefect_server: str, case_folder: MakeCase, tmp_path: Path) -> Flows:
    del prefect_server
    return Flows(case_folder, tmp_path)


def test_a_case_is_one_flow_run_with_a_task_run_for_each_stage(flows: Flows) -> None:
    case = flows.case(process("load", "true"), process("Query it!", "true"))

    seen = flows.execute(case, 2 * (OF_A_RUN + 2) + 1, runs=2)

    assert seen.state.is_completed()
    assert seen.state.message == "2 runs done"
    stages = {f"run{n}/{stage}" for n in (1, 2) for stage in [*STAGES, "checkpoint"]}
    steps = {f"run{n}/{label}" for n in (1, 2) for label in ("01-load", "02-Query-it")}
    assert set(seen.tasks) == stages | steps | {"summarize"}
    assert all(task.state and task.state.is_completed() for task in seen.tasks.values())
    assert seen.flow_run.tags == []
    assert all(task.tags == [] for task in seen.tasks.values())


def test_the_graph_of_prefect_is_the_graph_of_the_case(flows: Flows) -> None:
    case = flows.case(
        process("begin", "true"),
        process("left", "true", needs=["begin"]),
        process("right", "true", needs=["begin"]),
        process("end", "true", needs=["left", "right"]),
    )

    seen = flows.execute(case, OF_A_RUN + 4 + 1)

    assert seen.before("run1/start-collector") == {"run1/initialize"}
    assert seen.before("run1/01-begin") == {"run1/start-collector"}
    assert seen.before("run1/02-left") == {"run1/01-begin"}
    assert seen.before("run1/03-right") == {"run1/01-begin"}
    assert seen.before("run1/04-end") == {"run1/02-left", "run1/03-right"}
    assert "run1/04-end" in seen.before("run1/stop")
    assert seen.before("run1/stop-collector") == {"run1/stop"}
    assert seen.before("run1/keep-outputs") == {"run1/stop-collector"}
    assert seen.before("run1/record") == {"run1/keep-outputs"}
    assert seen.before("run1/checkpoint") == {"run1/record"}
    assert seen.before("summarize") == {"run1/checkpoint"}


def test_runs_follow_each_other_in_the_graph(flows: Flows) -> None:
    case = flows.case(process("work", "true"))

    seen = flows.execute(case, 2 * (OF_A_RUN + 1) + 2, runs=2, cooldown=0.01)

    assert seen.before("run2/cooldown") == {"run1/checkpoint"}
    assert seen.before("run2/initialize") == {"run2/cooldown"}


def test_steps_that_wait_for_nothing_overlap(flows: Flows) -> None:
    """Each waits for what the other makes: one after the other they would both fail."""
    look = "n=$((n+1)); [ $n -lt 900 ] || exit 1; sleep 0.01"
    waits = f"echo > {{mine}}; n=0; while [ ! -e {{other}} ]; do {look}; done"
    case = flows.case(
        process("left", waits.format(mine="l", other="r"), needs=[]),
        process("right", waits.format(mine="r", other="l"), needs=[]),
    )

    seen = flows.execute(case, OF_A_RUN + 2 + 1)

    assert seen.state.is_completed(), seen.state.message
    (left,), (right,) = (s.attempts for s in record(case).steps)
    assert max(left.start_s, right.start_s) < min(left.end_s, right.end_s)


def test_a_tolerated_failure_is_failed_in_prefect_and_the_flow_run_completes(flows: Flows) -> None:
    case = flows.case(
        process("shaky", "echo no route >&2; exit 3", may_fail=True, retries=0),
        process("next", "true"),
    )

    seen = flows.execute(case, OF_A_RUN + 2 + 1)

    assert seen.state.is_completed()
    failed = seen.tasks["run1/01-shaky"].state
    assert failed is not None
    assert failed.is_failed()
    assert "exit code 3" in (failed.message or "")
    assert seen.before("run1/02-next") == {"run1/01-shaky"}
    assert [s.outcome for s in record(case).steps] == [Outcome.TOLERATED, Outcome.COMPLETED]
    assert [*Results(case / "results").done()] == [1]


def test_prefects_count_of_attempts_is_ours(flows: Flows) -> None:
    case = flows.case(
        process("flaky", FLAKY, retries=3),
        process("hopeless", "exit 1", may_fail=True),
        process("steady", "true", retries=3),
    )

    seen = flows.execute(case, OF_A_RUN + 3 + 1)

    ours = [len(s.attempts) for s in record(case).steps]
    labels = ("01-flaky", "02-hopeless", "03-steady")
    assert ours == [2, 3, 1]
    assert [seen.tasks[f"run1/{label}"].run_count for label in labels] == ours
    first = record(case).steps[0].attempts[0].error
    assert first is not None
    assert "not yet" in first.message


def test_a_failed_step_is_retried_beside_others_too(flows: Flows) -> None:
    case = flows.case(
        process("flaky", FLAKY, needs=[], retries=1), process("beside", "true", needs=[])
    )

    seen = flows.execute(case, OF_A_RUN + 2 + 1)

    assert seen.state.is_completed()
    assert seen.tasks["run1/01-flaky"].run_count == 2
    assert len(record(case).steps[0].attempts) == 2


def test_a_failed_case_is_a_failed_flow_run_that_says_which_run(flows: Flows) -> None:
    case = flows.case(
        process("work", "echo connection refused >&2; exit 9"), process("never", "true")
    )

    seen = flows.execute(case, len(STAGES) + 1 + 1)

    assert seen.state.is_failed()
    told = f"{case.name} run 1: step work: exit 9: connection refused; 0 runs done"
    assert seen.state.message == f"{told}; a retry goes on there"
    assert seen.flow_run.name == case.name
    assert "run1/checkpoint" not in seen.tasks
    assert "run1/02-never" not in seen.tasks
    assert [*Results(case / "results").done()] == []
    assert record(case).steps[1].outcome is Outcome.SKIPPED


def test_a_second_flow_run_executes_only_what_is_not_done(flows: Flows, tmp_path: Path) -> None:
    """Runs 2 and 3 fail while a file is there."""
    bad = tmp_path / "bad"
    program = f'case "$PWD" in */run_1/*) ;; *) [ ! -e {bad} ] ;; esac'
    case = flows.case(process("work", program))
    bad.touch()
    first = flows.execute(case, OF_A_RUN + 1 + 2 * (len(STAGES) + 1) + 1, runs=3)
    before = tree(case / "results" / "run_1")
    bad.unlink()

    second = flows.execute(case, 2 * (OF_A_RUN + 1) + 1, runs=3)

    told = f"{case.name} runs 2-3: step work: exit 1; 1 run done"
    assert first.state.message == f"{told}; a retry goes on there"
    assert second.state.message == "3 runs done"
    assert not any(name.startswith("run1/") for name in second.tasks)
    assert tree(case / "results" / "run_1") == before
    assert record(case, 1).flow_run["id"] == str(first.flow_run.id)
    assert record(case, 2).flow_run["id"] == str(second.flow_run.id)


def test_a_run_is_announced_once_it_is_done(flows: Flows, monkeypatch: pytest.MonkeyPatch) -> None:
    case = flows.case(process("work", "true"))
    done: list[list[int]] = []

    def announce(*_: object) -> None:
        done.append([*Results(case / "results").done()])

    monkeypatch.setattr("tasks.stages.announce_run", announce)

    flows.execute(case, 2 * (OF_A_RUN + 1) + 1, runs=2)

    assert done == [[1], [1, 2]]


def test_after_ctrl_c_a_failed_step_is_not_tried_again(flows: Flows) -> None:
    case = flows.case(process("work", "exit 3", retries=5, retry_delay=3600))

    with listening(lambda event: ctrl_c() if isinstance(event, StepStarted) else None):
        seen = flows.execute(case, len(STAGES) + 2, runs=2)

    assert seen.state.is_cancelled()
    assert len(record(case).steps[0].attempts) == 1


def test_a_deadline_is_ours_and_the_task_run_says_it(flows: Flows) -> None:
    case = flows.case(process("late", "sleep 300 & sleep 300", timeout=0.2))

    seen = flows.execute(case, len(STAGES) + 1 + 1)

    state = seen.tasks["run1/01-late"].state
    assert state is not None
    assert "stopped after 0.2 s (timeout)" in (state.message or "")
    assert record(case).steps[0].outcome is Outcome.TIMED_OUT


def test_an_initialize_that_fails_fails_the_flow_run_and_stops_all(flows: Flows) -> None:
    case = flows.case(process("work", "true"), resources={"Process": {}})
    folder = flows.root / "classes"
    folder.mkdir()
    (folder / "broken.py").write_text(BROKEN)
    case = flows.case({"name": "a", "resource": "Broken", "command": "work"}, name="broken")

    seen = flows.execute(case, len(STAGES) - 1 + 1, resources=(str(folder),))

    assert seen.state.is_failed()
    failed = seen.tasks["run1/initialize"].state
    assert failed is not None
    assert "no such image" in (failed.message or "")
    assert "run1/start-collector" not in seen.tasks
    told = record(case).error
    assert told is not None
    assert told.message == "no such image"


BROKEN = """
from benchyard.core.errors import ResourceError
from benchyard.case.resource import NoSettings, Resource, command

class Broken(Resource[NoSettings]):
    def version(self) -> str:
        return "1"

    def initialize(self) -> None:
        raise ResourceError("no such image")

    @command
    def work(self) -> None:
        return
"""


def test_one_point_of_a_matrix_is_executed(flows: Flows) -> None:
    case = flows.case(
        process("work ${matrix.n}", "exit ${matrix.n}"), name="points", matrix={"n": [0, 1]}
    )

    seen = flows.execute(f"{case}[n=0]", OF_A_RUN + 1 + 1)

    assert seen.state.is_completed()
    assert "run1/01-work-0" in seen.tasks
    assert [f.name for f in (case / "results").iterdir()] == ["n=0"]
    assert [*Results(case / "results" / "n=0").done()] == [1]


def test_ctrl_c_cancels_the_flow_run(flows: Flows) -> None:
    case = flows.case(process("work", "true"))

    def stop(event: Event) -> None:
        if isinstance(event, Waiting):
            ctrl_c()

    with listening(stop):
        seen = flows.execute(case, OF_A_RUN + 1 + 2, runs=3, cooldown=3600.0)

    assert seen.state.is_cancelled()
    assert seen.state.message == "stopped by the user; 1 run done"
    assert seen.flow_run.id
    assert [*Results(case / "results").done()] == [1]


SECRET = "hunter2-s3cr3t"  # noqa: S105 - a word to look for

LEAKY = """
from dataclasses import dataclass
from typing import Any, ClassVar
from benchyard.core.errors import ResourceError
from benchyard.case.resource import Resource, command

@dataclass(frozen=True)
class LeakySettings:
    password: str = ""
    where: str = ""

class Leaky(Resource[LeakySettings]):
    Settings: ClassVar[type[Any]] = LeakySettings

    def version(self) -> str:
        return "1"

    def leak(self, where: str) -> None:
        if self.settings.where == where:
            try:
                raise ValueError("refused: " + self.settings.password)
            except ValueError as error:
                raise ResourceError("login as " + self.settings.password) from error

    def initialize(self) -> None:
        self.leak("initialize")

    def start(self) -> None:
        self.leak("start")

    def stop(self) -> None:
        self.leak("stop")

    @command
    def work(self, text: str) -> dict[str, str]:
        self.leak("work")
        return {"echo": text}
"""


@pytest.mark.parametrize("where", ["initialize", "start", "work", "stop"])
def test_a_secret_reaches_neither_prefects_database_nor_the_results(
    flows: Flows, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("LEAKY_PASSWORD", SECRET)
    folder = flows.root / "classes"
    folder.mkdir()
    (folder / "leaky.py").write_text(LEAKY)
    step = {
        "name": "login",
        "resource": "Leaky",
        "command": "work",
        "parameters": {"text": "as ${env:LEAKY_PASSWORD}"},
        "retries": 1,
    }
    settings = {"password": "${env:LEAKY_PASSWORD}", "where": where}
    case = flows.case(step, resources={"Leaky": settings})
    ends = {
        "initialize": 6,
        "start": len(STAGES) + 2,
        "work": len(STAGES) + 2,
        "stop": OF_A_RUN + 2,
    }

    seen = flows.execute(case, ends[where], resources=(str(folder),))

    assert seen.state.is_failed() == (where != "stop")
    assert eventually(lambda: any("run 1" in line for line in logs(seen.flow_run)), RECORDED)
    database = Path(PREFECT_API_DATABASE_CONNECTION_URL.value().partition(":///")[2])
    stored = [*database.parent.glob(database.name + "*"), *(case / "results").rglob("*")]
    assert database in stored
    for path in stored:
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    assert os.environ["LEAKY_PASSWORD"] == SECRET


def test_the_log_of_the_run_is_prefects_log_too(flows: Flows) -> None:
    case = flows.case(process("work", "true"))

    seen = flows.execute(case, OF_A_RUN + 1 + 1)

    assert eventually(lambda: any("run 1: ✓ completed" in m for m in logs(seen.flow_run)), RECORDED)
    lines = [line for line in logs(seen.flow_run) if "step 1 work: started" in line]
    assert lines == ["flow run 1 step 1 work: started"]
