"""A suite on testbeds: through a deployment, by real process workers, one run at a time a host."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate, VariableCreate, WorkPoolCreate
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ObjectNotFound
from prefect.flows import Flow
from prefect.states import Crashed, Pending, Running

from benchyard.results.folders import Results
from benchyard.results.record import read_record
from flows.execute_case import execute_case
from flows.execute_suite import execute_suite
from tasks import suite_there
from tests.conftest import MakeCase, eventually, process
from tests.flows.test_execute_suite import children

pytestmark = [
    pytest.mark.slow,
    pytest.mark.lab,
    pytest.mark.long,
    pytest.mark.usefixtures("prefect_server"),
]

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(suite_there, "POLL_SECONDS", 0.3)
    monkeypatch.setattr(suite_there, "LOOK_SECONDS", 1.0)
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cases"


@pytest.fixture
def pool() -> Generator[str]:
    """Make a pool with a deployment of execute-case, whose testbeds are to be told of."""
    name = f"pool-{uuid4().hex[:8]}"
    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name=name, type="process"))
        flow = cast("Flow[..., Any]", execute_case)
        client.create_deployment(
            flow_id=client.create_flow_from_name("execute-case"),
            name=f"testbed-{name}",
            work_pool_name=name,
            # As prefect.yaml has it; a path alone would be copied for each flow run.
            pull_steps=[
                {"prefect.deployments.steps.set_working_directory": {"directory": str(CHECKOUT)}}
            ],
            entrypoint="flows/execute_case.py:execute_case",
            parameter_openapi_schema=flow.parameters.model_dump(),
            enforce_parameter_schema=True,
            job_variables={"stream_output": False},
        )
        yield name
        for variable in client.read_variables():
            if variable.name.startswith("benchyard_testbed_"):
                client.delete_variable_by_name(variable.name)


def tell(pool: str, name: str, *, host: str = "", alive: bool = True, **more: Any) -> None:
    """Make a testbed's queue, its variable and its heartbeat, as the worker of a lab does."""
    told: dict[str, Any] = {
        "name": name,
        "host": host or name,
        "tags": [],
        "cores": 2,
        "memory_bytes": 2**33,
    }
    told |= {"docker": False, "queue": name, **more}
    with get_client(sync_client=True) as client:
        client.create_work_queue(name, concurrency_limit=1, work_pool_name=pool)
        client.create_variable(VariableCreate(name=f"benchyard_testbed_{name}", value=told))
        if alive:
            beat = {"name": name, "heartbeat_interval_seconds": 3600}
            path = "/work_pools/{work_pool_name}/workers/heartbeat"
            client.request("POST", path, path_params={"work_pool_name": pool}, json=beat)


@contextmanager
def worker(
    pool: str, server: str, tmp_path: Path, name: str, host: str = "", tags: str = ""
) -> Generator[None]:
    """Run a worker of one testbed; testbeds of one host share its lock."""
    environment = {
        **os.environ,
        "PREFECT_API_URL": server,
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "BENCHYARD_LOCK": str(tmp_path / f"{host or name}.lock"),
        "BENCHYARD_TESTBED": name,
        "BENCHYARD_TAGS": tags,
    }
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--limit", "1"]
    with (tmp_path / f"{name}.worker.log").open("wb") as log:
        started = subprocess.Popen(
            [*command, "--work-queue", name, "--name", name, "--type", "process"],
            cwd=CHECKOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield
    finally:
        started.terminate()
        try:
            started.wait(30)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def run(root: Path, pool: str, **parameters: Any) -> State[Any]:
    given = {"root": str(root), "runs": 1, "cooldown": 0.0, "publish": (), **parameters}
    return cast("State[Any]", execute_suite(pool=pool, **given, return_state=True))


def summary(home: Path, state: State[Any]) -> dict[str, Any]:
    return json.loads((home / "suites" / f"{state.state_details.flow_run_id}.json").read_text())


def span(root: Path, case: str) -> tuple[datetime, datetime]:
    record = read_record(root / case / "results" / "run_1")
    return datetime.fromisoformat(record.started_at), datetime.fromisoformat(record.ended_at)


def test_testbeds_share_the_work_and_no_host_ever_has_two_runs_at_once(
    case_folder: MakeCase, root: Path, home: Path, pool: str, prefect_server: str, tmp_path: Path
) -> None:
    """Three workers, two of them on one host; a case that fails; a case for one of them only."""
    hosts = {"one": "shared", "two": "shared", "three": "own"}
    for n in range(5):
        case_folder(f"c{n}", process("s", "sleep 1"))
    case_folder("bad", process("s", "exit 3"))
    case_folder("picky", process("s", "true"), requires={"tags": ["nvme"]})
    tags = {"three": "nvme"}
    with ExitStack() as workers:
        for name, host in hosts.items():
            tell(pool, name, host=host, tags=tags.get(name, "").split())
            workers.enter_context(
                worker(pool, prefect_server, tmp_path, name, host, tags.get(name, ""))
            )
        state = run(root, pool)
    told = {line["case"]: line for line in summary(home, state)["cases"]}
    assert told["picky"]["testbeds"] == ["three"]
    assert told["bad"]["runs_failed"] == 1
    assert state.is_failed()
    good = ["picky", *(f"c{n}" for n in range(5))]
    assert all(told[name]["runs_done"] == 1 for name in good)
    assert all([*Results(root / name / "results").done()] == [1] for name in good)
    by_host: dict[str, list[tuple[datetime, datetime]]] = {}
    for name in good:
        (testbed,) = told[name]["testbeds"]
        by_host.setdefault(hosts[testbed], []).append(span(root, name))
    assert set(by_host) == {"shared", "own"}
    for spans in by_host.values():
        assert all(end <= later for (_, end), (later, _) in pairwise(sorted(spans)))


def test_who_is_gone_gets_nothing_and_what_waits_there_is_taken_back(
    case_folder: MakeCase, root: Path, home: Path, pool: str, prefect_server: str, tmp_path: Path
) -> None:
    """The worker of ``a`` is dead, which is not known at the first look."""
    case_folder("only", process("s", "true"))
    for name in ("a", "z"):
        tell(pool, name)
    tell(pool, "never", alive=False)
    with worker(pool, prefect_server, tmp_path, "z"), playing(pool, "a"):
        state = run(root, pool)
    assert state.is_completed()
    assert summary(home, state)["cases"][0]["testbeds"] == ["z"]
    there = [(child.work_queue_name, child.state_name) for child in of_suite(flow_run_of(state))]
    assert sorted(there) == [("a", "Cancelled"), ("z", "Completed")]


def test_what_only_a_dead_testbed_is_fit_for_fails_soon_and_says_so(
    case_folder: MakeCase, root: Path, home: Path, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_there, "GONE_SECONDS", 2.0)
    case_folder("picky", process("s", "true"), requires={"tags": ["nvme"]})
    tell(pool, "plain")
    tell(pool, "fast", tags=["nvme"])

    with playing(pool, "fast"):
        state = run(root, pool)

    assert state.is_failed()
    why = summary(home, state)["cases"][0]["why"]
    assert why.startswith("the testbed fast is dead, no worker answers, and no other")
    (child,) = of_suite(flow_run_of(state))
    assert child.state_name == "Cancelled"
    assert child.state is not None
    assert child.state.message == "the testbed fast has gone"


def test_what_a_dead_testbed_had_taken_and_not_begun_is_done_elsewhere(
    case_folder: MakeCase, root: Path, home: Path, pool: str, prefect_server: str, tmp_path: Path
) -> None:
    case_folder("only", process("s", "true"))
    for name in ("a", "z"):
        tell(pool, name)
    with worker(pool, prefect_server, tmp_path, "z"), playing(pool, "a", Pending()):
        state = run(root, pool)
    assert state.is_completed()
    assert summary(home, state)["cases"][0]["testbeds"] == ["z"]


def test_what_lost_its_host_is_done_elsewhere_once(
    case_folder: MakeCase, root: Path, home: Path, pool: str, prefect_server: str, tmp_path: Path
) -> None:
    """The heartbeat automation of a lab says of ``a`` what is said here."""
    case_folder("only", process("s", "true"))
    for name in ("a", "z"):
        tell(pool, name)
    lost = Crashed(message="no heartbeat: its process is gone; a retry goes on where it ended")
    with worker(pool, prefect_server, tmp_path, "z"), playing(pool, "a", Running(), lost):
        state = run(root, pool)
    assert state.is_completed()
    assert summary(home, state)["cases"][0]["testbeds"] == ["z"]


def test_what_loses_its_host_again_and_again_is_given_up(
    case_folder: MakeCase, root: Path, home: Path, pool: str
) -> None:
    case_folder("only", process("s", "true"))
    lost = Crashed(message="no heartbeat: its process is gone; a retry goes on where it ended")
    tell(pool, "a")
    with playing(pool, "a", Running(), lost, dies=False):
        state = run(root, pool)
    assert state.is_failed()
    assert "no heartbeat" in summary(home, state)["cases"][0]["why"]
    assert [child.state_name for child in of_suite(flow_run_of(state))] == ["Crashed", "Crashed"]


@contextmanager
def playing(pool: str, queue: str, *states: State[Any], dies: bool = True) -> Generator[None]:
    """Play a testbed: take each flow run that waits in its queue through some states.

    Args:
        dies: Whether its worker is dead after the first one. Prefect's own service that marks
            workers as offline is not there in tests: a worker that is deleted is gone as well.
    """
    ended = threading.Event()

    def play() -> None:
        with get_client(sync_client=True) as client:
            while not ended.wait(0.2):
                body = {
                    "work_pools": {"name": {"any_": [pool]}},
                    "work_pool_queues": {"name": {"any_": [queue]}},
                    "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
                }
                for one in client.request("POST", "/flow_runs/filter", json=body).json():
                    for state in states:
                        client.set_flow_run_state(UUID(one["id"]), state, force=True)
                    if dies:
                        path = "/work_pools/{work_pool_name}/workers/{name}"
                        with suppress(ObjectNotFound):
                            client.request(
                                "DELETE", path, path_params={"work_pool_name": pool, "name": queue}
                            )
                        return

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def flow_run_of(state: State[Any]) -> UUID:
    assert state.state_details.flow_run_id is not None
    return state.state_details.flow_run_id


def test_what_no_testbed_is_fit_for_is_left_out_after_a_while(
    case_folder: MakeCase, root: Path, home: Path, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_there, "PATIENCE_SECONDS", 0.5)
    case_folder("demanding", process("s", "true"), requires={"cores": 1000})
    tell(pool, "bed")
    state = run(root, pool)
    assert state.is_failed()
    assert "bed: it has 2 of 1000 cores" in summary(home, state)["cases"][0]["why"]
    assert children(state) == []


def test_a_case_that_is_new_since_the_deployment_is_offered_and_executed(
    case_folder: MakeCase, root: Path, pool: str
) -> None:
    case_folder("new", process("s", "true"))
    with get_client(sync_client=True) as client:
        (deployment,) = [d for d in client.read_deployments() if d.name == f"testbed-{pool}"]
        schema = deployment.parameter_openapi_schema or {}
        schema["properties"]["case"]["enum"] = ["cases/old"]
        client.update_deployment(deployment.id, DeploymentUpdate(parameter_openapi_schema=schema))
        suite_there.offer(client, deployment, [str(root / "new"), "cases/old"])
        after = client.read_deployment(deployment.id).parameter_openapi_schema or {}
        offered = after["properties"]["case"]["enum"]
        assert offered == ["cases/old", str(root / "new")]


def test_a_suite_that_ends_early_cancels_what_waits(
    case_folder: MakeCase, root: Path, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody executes anything in this pool; the suite is interrupted while two wait."""
    for name in ("a", "b", "c"):
        case_folder(name, process("s", "true"))
    tell(pool, "bed")

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(suite_there.time, "sleep", interrupt)
    before = {run.id for run in suites()}
    with pytest.raises(KeyboardInterrupt):
        run(root, pool)
    (suite,) = [run for run in suites() if run.id not in before]
    monkeypatch.undo()
    assert eventually(lambda: len(of_suite(suite.id)) == 2)
    assert {child.state_name for child in of_suite(suite.id)} == {"Cancelled"}
    assert {child.name for child in of_suite(suite.id)} == {"a", "b"}


def suites() -> list[FlowRun]:
    with get_client(sync_client=True) as client:
        names = {flow.id for flow in client.read_flows() if flow.name == "execute-suite"}
        return [run for run in client.read_flow_runs(limit=200) if run.flow_id in names]


def of_suite(suite: UUID) -> list[FlowRun]:
    body = {"flow_runs": {"parent_flow_run_id": {"any_": [str(suite)]}}}
    with get_client(sync_client=True) as client:
        found = client.request("POST", "/flow_runs/filter", json=body).json()
        return [client.read_flow_run(UUID(one["id"])) for one in found]
