"""The flow through a real Prefect server: what it shows is what was executed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prefect import State
from prefect.logging.handlers import APILogHandler
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

from benchyard.core.model import Outcome
from benchyard.lab.server import Server
from benchyard.lab.through_prefect import caller_of, execute_one
from benchyard.results.folders import Results
from benchyard.results.record import RunRecord
from benchyard.run.progress import Event, StepStarted, listening
from benchyard.run.request import Request
from benchyard.suite.course import End
from flows.execute_case import execute_case
from tasks.flow_run import flow_run_id
from tests.conftest import RECORDED, MakeCase, eventually, process, tree
from tests.flows.conftest import ask, done, flow_run_of, record

pytestmark = pytest.mark.slow

#: Task runs of a run beside its steps, and of a flow run beside its runs.
STAGES = ["initialize", "start-collector", "stop", "stop-collector", "keep-outputs", "record"]
OF_A_RUN = len(STAGES) + 1  # the checkpoint


@dataclass
class Seen:
    """What Prefect knows of a flow run, once it has taken note of everything."""

    state: State[Any]
    tasks: Mapping[str, dict[str, Any]]

    @property
    def flow_run(self) -> str:
        return flow_run_of(self.state)

    def before(self, name: str) -> set[str]:
        """Return the names of the task runs that one waited for."""
        names = {task["id"]: task["name"] for task in self.tasks.values()}
        return {names[one["id"]] for one in self.tasks[name]["task_inputs"].get("wait_for", [])}

    def failure(self, name: str) -> str:
        """Return what Prefect says of a task run that has failed."""
        assert self.tasks[name]["state_type"] == "FAILED"
        return str(self.tasks[name]["state"]["message"])


@dataclass
class Flows:
    """Executes cases as flow runs."""

    make_case: MakeCase
    root: Path

    def case(self, *steps: Mapping[str, Any], **more: Any) -> Path:
        return self.make_case("flow", *steps, **more)

    def execute(self, case: Path | str, tasks: int, **parameters: Any) -> Seen:
        """Execute a case; wait until Prefect knows of ``tasks`` ended task runs."""
        few: dict[str, Any] = {"root": str(self.root), "publish": (), "runs": 1, "cooldown": 0.0}
        state = execute_case(str(case), **{**few, **parameters}, return_state=True)
        chosen = {"flow_runs": {"id": {"any_": [flow_run_of(state)]}}, "limit": 200}
        ended: dict[str, dict[str, Any]] = {}

        def recorded() -> bool:
            found = ask("/task_runs/filter", chosen)
            # The server may know the end before the state that it ended in.
            ended.update((t["name"], t) for t in found if t["end_time"] and t["state"])
            return len(ended) == tasks

        assert eventually(recorded, RECORDED), sorted(ended)
        return Seen(state, ended)


def logs(flow_run: str) -> list[str]:
    APILogHandler().flush()  # which else waits for two seconds whether there is more
    wanted = {"logs": {"flow_run_id": {"any_": [flow_run]}}, "limit": 200}
    return [log["message"] for log in ask("/logs/filter", wanted)]


@pytest.fixture
def flows(prefect_server: str, case_folder: MakeCase, tmp_path: Path) -> Flows:
    assert prefect_server
    return Flows(case_folder, tmp_path)


def test_prefect_shows_the_stages_the_graph_of_the_case_and_the_log(flows: Flows) -> None:
    case = flows.case(
        process("begin", "true"),
        process("Left!", "true", needs=["begin"]),
        process("right", "true", needs=["begin"]),
        process("end", "true", needs=["Left!", "right"]),
    )

    seen = flows.execute(case, 2 * (OF_A_RUN + 4) + 2, runs=2, cooldown=0.01)

    assert seen.state.is_completed()
    assert seen.state.message == "2 runs done"
    steps = ["01-begin", "02-Left", "03-right", "04-end"]
    of_runs = {f"run{n}/{task}" for n in (1, 2) for task in [*STAGES, *steps, "checkpoint"]}
    assert set(seen.tasks) == of_runs | {"run2/cooldown", "summarize"}
    for task in seen.tasks.values():
        assert (task["state_type"], task["tags"]) == ("COMPLETED", []), task["name"]
    assert "run1/04-end" in seen.before("run1/stop")
    graph = {
        "start-collector": {"initialize"},
        "01-begin": {"start-collector"},
        "02-Left": {"01-begin"},
        "03-right": {"01-begin"},
        "04-end": {"02-Left", "03-right"},
        "stop-collector": {"stop"},
        "keep-outputs": {"stop-collector"},
        "record": {"keep-outputs"},
        "checkpoint": {"record"},
    }
    for task, needs in graph.items():
        assert seen.before(f"run1/{task}") == {f"run1/{need}" for need in needs}, task
    assert seen.before("run2/cooldown") == {"run1/checkpoint"}
    assert seen.before("run2/initialize") == {"run2/cooldown"}
    assert seen.before("summarize") == {"run2/checkpoint"}
    assert eventually(lambda: any("run 2: ✓ completed" in m for m in logs(seen.flow_run)), RECORDED)
    lines = [line for line in logs(seen.flow_run) if "run 1 step 1 begin: started" in line]
    assert lines == ["flow run 1 step 1 begin: started"]


def test_a_failed_flow_run_says_which_runs_and_a_second_one_executes_only_these(
    flows: Flows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs 2 and 3 fail while a file is there. Each is announced once it is done, or has failed."""
    bad = tmp_path / "bad"
    program = (
        f'case "$PWD" in */run_1/*) ;; *) [ ! -e {bad} ] || {{ echo refused >&2; exit 9; }} ;;'
    )
    case = flows.case(process("work", f"{program} esac"), process("next", "true"))
    announced: list[tuple[int, list[int]]] = []

    def announce(made: RunRecord, _: object) -> None:
        announced.append((made.run, done(case)))

    monkeypatch.setattr("tasks.showing.announce_run", announce)
    bad.touch()
    first = flows.execute(case, OF_A_RUN + 2 + 2 * (len(STAGES) + 2) + 1, runs=3)
    before = tree(case / "results" / "run_1")
    assert record(case, 2).steps[1].outcome is Outcome.SKIPPED
    bad.unlink()

    second = flows.execute(case, 2 * (OF_A_RUN + 2) + 1, runs=3)

    assert first.state.is_failed()
    told = f"{case.name} runs 2-3: step work: exit 9: refused; 1 run done"
    assert first.state.message == f"{told}; a retry goes on there"
    assert "run2/checkpoint" not in first.tasks
    assert first.tasks["run2/02-next"]["state_name"] == "Skipped"
    assert second.state.message == "3 runs done"
    assert not any(name.startswith("run1/") for name in second.tasks)
    assert announced == [(1, [1]), (2, [1]), (3, [1]), (2, [1, 2]), (3, [1, 2, 3])]
    assert tree(case / "results" / "run_1") == before
    assert [record(case, run).flow_run["id"] for run in (1, 2)] == [first.flow_run, second.flow_run]
    assert record(case).flow_run["name"] == case.name


# Prefect's store of results closes no client of its own.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("script", ["true", "exit 3"])
def test_cancel_stops_nothing_that_a_command_executes_and_its_true_end_is_shown(
    prefect_server: str, case_folder: MakeCase, tmp_path: Path, script: str
) -> None:
    def cancel(event: Event) -> None:
        if isinstance(event, StepStarted):
            ask(f"/flow_runs/{flow_run_id()}/set_state", {"state": {"type": "CANCELLING"}})

    request = Request(str(case_folder("flow", process("work", script))), runs=1, root=str(tmp_path))
    server = Server(prefect_server)
    with listening(cancel):
        ended = execute_one(request, server, caller_of(server))

    assert ended.how is (End.DONE if script == "true" else End.FAILED)
    (seen,) = ask("/flow_runs/filter", {"flow_runs": {"id": {"any_": [ended.flow_run]}}})
    assert seen["state_type"] == ("COMPLETED" if script == "true" else "FAILED")


def test_a_deadline_is_ours_and_the_task_run_says_it(flows: Flows) -> None:
    case = flows.case(process("late", "sleep 300 & sleep 300", timeout=0.2))

    seen = flows.execute(case, len(STAGES) + 1 + 1)

    assert "stopped after 0.2 s (timeout)" in seen.failure("run1/01-late")
    assert record(case).steps[0].outcome is Outcome.TIMED_OUT


def test_one_point_of_a_matrix_is_executed(flows: Flows) -> None:
    case = flows.case(process("work ${matrix.n}", "exit ${matrix.n}"), matrix={"n": [0, 1]})

    seen = flows.execute(f"{case}[n=0]", OF_A_RUN + 1 + 1)

    assert seen.state.is_completed()
    assert "run1/01-work-0" in seen.tasks
    assert [f.name for f in (case / "results").iterdir()] == ["n=0"]
    assert [*Results(case / "results" / "n=0").done()] == [1]


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


@pytest.mark.parametrize(
    ("where", "tasks"),
    [
        ("initialize", len(STAGES)),
        ("start", len(STAGES) + 2),
        ("work", len(STAGES) + 2),
        ("stop", OF_A_RUN + 2),
    ],
)
def test_a_secret_reaches_neither_prefects_database_nor_the_results(
    flows: Flows, monkeypatch: pytest.MonkeyPatch, where: str, tasks: int
) -> None:
    """And an ``initialize`` that fails fails the flow run, and nothing else of it begins."""
    monkeypatch.setenv("LEAKY_PASSWORD", SECRET)
    folder = flows.root / "classes"
    folder.mkdir()
    (folder / "leaky.py").write_text(LEAKY)
    login = {"name": "login", "resource": "Leaky", "command": "work", "retries": 1}
    settings = {"password": "${env:LEAKY_PASSWORD}", "where": where}
    case = flows.case(
        {**login, "parameters": {"text": "as ${env:LEAKY_PASSWORD}"}}, resources={"Leaky": settings}
    )

    seen = flows.execute(case, tasks, resources=(str(folder),))

    assert seen.state.is_failed() == (where != "stop")
    if where == "initialize":
        assert "login as ******" in seen.failure("run1/initialize")
        assert "run1/start-collector" not in seen.tasks
        assert "login as ******" in str(record(case).error)
    assert eventually(lambda: any("run 1" in line for line in logs(seen.flow_run)), RECORDED)
    database = Path(PREFECT_API_DATABASE_CONNECTION_URL.value().partition(":///")[2])
    stored = [*database.parent.glob(database.name + "*"), *(case / "results").rglob("*")]
    assert database in stored
    for path in stored:
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    assert os.environ["LEAKY_PASSWORD"] == SECRET
