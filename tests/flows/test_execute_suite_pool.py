"""A suite on testbeds: through a deployment, by real process workers, one run at a time a host."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate, VariableCreate, WorkPoolCreate
from prefect.exceptions import ObjectNotFound
from prefect.flows import Flow
from prefect.states import Crashed, Failed, Pending, Running

from benchyard.analysis.comparison.control import control_results
from benchyard.results.folders import Results
from flows.execute_case import execute_case
from tasks import suite_there
from tasks.suite_testbeds import offer
from tests.conftest import eventually
from tests.flows.conftest import Suite, ask, children, done, flow_run_of, record

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]

CHECKOUT = Path(__file__).resolve().parents[2]
#: What the heartbeat automation of a lab says of a flow run that lost its host.
LOST = Crashed(message="no heartbeat: its process is gone; a retry goes on where it ended")

Worker = Callable[..., AbstractContextManager[None]]


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_there, "POLL_SECONDS", 0.3)
    monkeypatch.setattr(suite_there, "LOOK_SECONDS", 1.0)


@pytest.fixture
def pool(prefect_server: str) -> Generator[str]:
    """Make a pool with a deployment of execute-case, whose testbeds are to be told of."""
    assert prefect_server
    name = f"pool-{uuid4().hex[:8]}"
    # As prefect.yaml has it; a path alone would be copied for each flow run.
    pull = {"prefect.deployments.steps.set_working_directory": {"directory": str(CHECKOUT)}}
    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name=name, type="process"))
        client.create_deployment(
            flow_id=client.create_flow_from_name("execute-case"),
            name=f"testbed-{name}",
            work_pool_name=name,
            pull_steps=[pull],
            entrypoint="flows/execute_case.py:execute_case",
            parameter_openapi_schema=cast("Flow[..., Any]", execute_case).parameters.model_dump(),
            enforce_parameter_schema=True,
            job_variables={"stream_output": False},
        )
        yield name
        for variable in client.read_variables():
            if variable.name.startswith("benchyard_testbed_"):
                client.delete_variable_by_name(variable.name)


def tell(pool: str, *names: str, host: str = "", alive: bool = True, **more: Any) -> None:
    """Make testbeds' queues, variables and heartbeats, as the workers of a lab do."""
    size: dict[str, Any] = {"tags": [], "cores": 2, "memory_bytes": 2**33, "docker": False}
    with get_client(sync_client=True) as client:
        for name in names:
            told: dict[str, Any] = {"name": name, "host": host or name, "queue": name}
            told |= {**size, **more}
            client.create_work_queue(name, concurrency_limit=1, work_pool_name=pool)
            client.create_variable(VariableCreate(name=f"benchyard_testbed_{name}", value=told))
            if alive:
                beat = {"name": name, "heartbeat_interval_seconds": 3600}
                client.request("POST", f"/work_pools/{pool}/workers/heartbeat", json=beat)  # type: ignore[arg-type]


@pytest.fixture
def worker(pool: str, prefect_server: str, tmp_path: Path) -> Worker:
    """Run a worker of one testbed; testbeds of one host share its lock."""
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--limit", "1"]

    @contextmanager
    def running(name: str, host: str = "", tags: str = "") -> Generator[None]:
        environment = {
            **os.environ,
            "PREFECT_API_URL": prefect_server,
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "BENCHYARD_LOCK": str(tmp_path / f"{host or name}.lock"),
            "BENCHYARD_TESTBED": name,
            "BENCHYARD_TAGS": tags,
        }
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

    return running


def test_testbeds_share_the_work_and_no_host_ever_has_two_runs_at_once(
    suite: Suite, pool: str, worker: Worker
) -> None:
    """Three workers, two of them on one host; a case that fails; a case for one of them only."""
    hosts = {"one": "shared", "two": "shared", "three": "own"}
    good = ["picky", *(f"c{n}" for n in range(5))]
    suite.add(*good[1:], script="sleep 1")
    suite.add("bad", script="exit 3")
    suite.add("picky", requires={"tags": ["nvme"]})
    tags = {"three": "nvme"}
    with ExitStack() as workers:
        for name, host in hosts.items():
            tell(pool, name, host=host, tags=tags.get(name, "").split())
            workers.enter_context(worker(name, host, tags.get(name, "")))
        told = suite.run(pool=pool, succeeds=False).cases
    assert told["picky"]["testbeds"] == ["three"]
    assert told["bad"]["runs_failed"] == 1
    by_host: dict[str, list[tuple[str, str]]] = {}
    for name in good:
        assert told[name]["runs_done"] == 1
        assert done(suite.root / name) == [1]
        (testbed,) = told[name]["testbeds"]
        made = record(suite.root / name)
        by_host.setdefault(hosts[testbed], []).append((made.started_at, made.ended_at))
    assert set(by_host) == {"shared", "own"}
    for spans in by_host.values():
        assert all(end <= later for (_, end), (later, _) in pairwise(sorted(spans)))


def test_a_testbed_executes_its_control_case_once_in_a_suite(
    suite: Suite, pool: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although its user allows no other folder than that of the cases."""
    monkeypatch.setenv("BENCHYARD_ALLOWED", str(suite.root))
    suite.add("a", "b")
    tell(pool, "one")
    with worker("one"):
        ended = suite.run(pool=pool, no_control=False)
    turns = children(flow_run_of(ended.state))
    below = {turn["name"]: [one["name"] for one in children(turn["id"])] for turn in turns}
    assert sorted(below) == ["a", "b"]
    assert sorted(below.values()) == [[], ["control"]]
    assert [*Results(control_results(os.uname().nodename)).done()] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("states", "there"),
    [([], "Cancelled"), ([Pending()], "Cancelled"), ([Running(), LOST], "Crashed")],
    ids=["waited", "taken and not begun", "lost its host"],
)
def test_what_a_dead_testbed_had_is_done_elsewhere_once(
    suite: Suite, pool: str, worker: Worker, states: list[State[Any]], there: str
) -> None:
    """The worker of ``a`` dies after the first look; that of ``never`` never lived."""
    suite.add("only")
    tell(pool, "a", "z")
    tell(pool, "never", alive=False)
    with worker("z"), playing(pool, "a", *states):
        ended = suite.run(pool=pool)
    assert ended.cases["only"]["testbeds"] == ["z"]
    found = children(flow_run_of(ended.state))
    seen = sorted((child["work_queue_name"], child["state_name"]) for child in found)
    assert seen == [("a", there), ("z", "Completed")]


def test_what_only_a_dead_testbed_is_fit_for_fails_soon_and_says_so(
    suite: Suite, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_there, "GONE_SECONDS", 2.0)
    suite.add("picky", requires={"tags": ["nvme"]})
    tell(pool, "plain")
    tell(pool, "fast", tags=["nvme"])

    with playing(pool, "fast"):
        ended = suite.run(pool=pool, succeeds=False)

    why = ended.cases["picky"]["why"]
    assert why.startswith("the testbed fast is dead, no worker answers, and no other")
    (child,) = children(flow_run_of(ended.state))
    assert child["state_name"] == "Cancelled"
    assert child["state"]["message"] == "the testbed fast has gone"


def test_what_loses_its_host_again_and_again_is_given_up(suite: Suite, pool: str) -> None:
    suite.add("only")
    tell(pool, "a")
    with playing(pool, "a", Running(), LOST, dies=False):
        ended = suite.run(pool=pool, succeeds=False)
    assert "no heartbeat" in ended.cases["only"]["why"]
    found = children(flow_run_of(ended.state))
    assert [child["state_name"] for child in found] == ["Crashed", "Crashed"]


@contextmanager
def playing(
    pool: str, queue: str, *states: State[Any], dies: bool = True, once: bool = False
) -> Generator[None]:
    """Play a testbed: take each flow run that waits in its queue through some states.

    Args:
        dies: Whether its worker is dead after the first one. Prefect's own service that marks
            workers as offline is not there in tests: a worker that is deleted is gone as well.
        once: Whether it does so with one flow run only.
    """
    ended = threading.Event()
    waiting = {
        "work_pools": {"name": {"any_": [pool]}},
        "work_pool_queues": {"name": {"any_": [queue]}},
        "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
    }

    def play() -> None:
        with get_client(sync_client=True) as client:
            while not ended.wait(0.2):
                for flow_run in ask("/flow_runs/filter", waiting):
                    for number, state in enumerate([*states, None]):
                        if dies and number in (1, len(states)):
                            with suppress(ObjectNotFound):
                                client.request("DELETE", f"/work_pools/{pool}/workers/{queue}")  # type: ignore[arg-type]
                        if state is not None:
                            client.set_flow_run_state(UUID(flow_run["id"]), state, force=True)
                    if dies or once:
                        return

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_failure_that_is_the_end_cancels_what_waits(suite: Suite, pool: str) -> None:
    suite.add("a", "b", "c")
    tell(pool, "bed")
    with playing(pool, "bed", Failed(message="it broke"), dies=False, once=True):
        ended = suite.run(pool=pool, fail_fast=True, succeeds=False)
    found = children(flow_run_of(ended.state))
    assert sorted(child["state_name"] for child in found) == ["Cancelled", "Failed"]
    assert sum(case["runs_left_out"] for case in ended.cases.values()) == 2


def test_what_no_testbed_is_fit_for_is_left_out_after_a_while(
    suite: Suite, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_there, "PATIENCE_SECONDS", 0.5)
    suite.add("demanding", requires={"cores": 1000})
    tell(pool, "bed")
    ended = suite.run(pool=pool, succeeds=False)
    assert "bed: it has 2 of 1000 cores" in ended.cases["demanding"]["why"]
    assert children(flow_run_of(ended.state)) == []


def test_a_case_that_is_new_since_the_deployment_is_offered_and_executed(
    suite: Suite, pool: str
) -> None:
    new = str(suite.add("new"))
    with get_client(sync_client=True) as client:
        (deployment,) = [d for d in client.read_deployments() if d.name == f"testbed-{pool}"]
        schema = deployment.parameter_openapi_schema or {}
        schema["properties"]["case"]["enum"] = ["cases/old"]
        client.update_deployment(deployment.id, DeploymentUpdate(parameter_openapi_schema=schema))
        for case in (new, "cases/old"):
            offer(client, deployment.id, case)
        after = client.read_deployment(deployment.id).parameter_openapi_schema or {}
        assert after["properties"]["case"]["enum"] == ["cases/old", new]


def test_a_suite_that_ends_early_cancels_what_waits(
    suite: Suite, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody executes anything in this pool; the suite is interrupted while two wait."""
    suite.add("a", "b", "c")
    tell(pool, "bed")

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    # Its own sleep alone: Prefect sleeps, too.
    stand_in = SimpleNamespace(sleep=interrupt, monotonic=time.monotonic)
    monkeypatch.setattr(suite_there, "time", stand_in)
    with pytest.raises(KeyboardInterrupt):
        suite.state(pool=pool)
    monkeypatch.undo()
    found = ask("/flow_runs/filter", {"flows": {"name": {"any_": ["execute-suite"]}}})
    (flow_run,) = [one["id"] for one in found if one["parameters"].get("pool") == pool]
    assert eventually(lambda: len(children(flow_run)) == 2)
    states = sorted((child["name"], child["state_name"]) for child in children(flow_run))
    assert states == [("a", "Cancelled"), ("b", "Cancelled")]
