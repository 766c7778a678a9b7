"""The stages as Prefect tasks: names, edges, retries, and what failures become."""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterId
from prefect.client.schemas.objects import TaskRun
from prefect.context import FlowRunContext

from benchyard.core.errors import CaseFailedError, ResourceError, StepFailedError
from benchyard.core.model import Outcome, Step
from benchyard.results.record import RunRecord
from benchyard.run import stages as stages_of_a_case
from benchyard.run.engine import Executed
from benchyard.run.session import Session
from benchyard.run.stages import (
    CHECKPOINT,
    INITIALIZE,
    KEEP_OUTPUTS,
    RECORD,
    STOP,
    Handle,
    Stage,
)
from tasks.flow_run import (
    baseline_of_flow_run,
    campaign_of_flow_run,
    final_state,
    first_start,
    this_flow_run,
)
from tasks.prefect_internals import UNCACHED, EndedFuture
from tasks.stages import PrefectStages, task_of, watched_stages
from tests.conftest import RECORDED, eventually


class FakeSession:
    """Notes what is asked of it, and fails where it is told to."""

    def __init__(self, run: int = 2) -> None:
        self.run = run
        self.stopping = threading.Event()
        self.asked: list[str] = []
        self.trouble: dict[str, list[Exception]] = {}
        self.folder = Path("run_2")
        self.written = RunRecord({"title": "case"}, run, Outcome.COMPLETED, "", "", 0.0, ())
        self.threads: list[str] = []

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        self.threads.append(threading.current_thread().name)
        if self.trouble.get(what):
            raise self.trouble[what].pop(0)

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Return what stands in for a method of a session."""
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *of: self._ask(" ".join([name, *map(str, of)]))

    def attempt(self, step: Step) -> None:
        self._ask(step.id)

    def write_record(self) -> RunRecord:
        self._ask("write_record")
        return self.written


def load(index: int = 3, **keys: Any) -> Step:
    return Step(index=index, id="load", name="Load it", resource="R", command="c", **keys)


STAGES = watched_stages()

Act = Callable[[Session], Any]


@pytest.fixture
def fake() -> FakeSession:
    return FakeSession()


@pytest.fixture
def in_flow(prefect_server: str, fake: FakeSession) -> Callable[[Act], Any]:
    """Execute something inside a flow run; return what it returns."""
    del prefect_server

    def execute(act: Act) -> Any:
        answers: list[Any] = []

        @flow(name="stages", persist_result=False)
        def stages() -> str:
            answers.append(act(cast("Session", fake)))
            return "done"

        assert stages() == "done"
        return answers[0]

    return execute


def run_one(stage: Stage[Session], session: Session, *after: Handle) -> Handle:
    """Execute a stage; return its handle."""
    (handle,) = STAGES.run(stage, session, after=after)
    return handle


def task_run(handle: Handle) -> TaskRun:
    """Return what Prefect knows of the task run behind a handle, once it does."""
    identifier = cast("EndedFuture", handle).task_run_id
    found: list[TaskRun] = []

    def known() -> bool:
        chosen = TaskRunFilter(id=TaskRunFilterId(any_=[identifier]))
        with get_client(sync_client=True) as client:
            found.extend(client.read_task_runs(task_run_filter=chosen))
        return bool(found) and found[-1].state is not None and found[-1].state.is_final()

    assert eventually(known, RECORDED)
    return found[-1]


def before(run: TaskRun) -> TaskRun:
    """Return the one task run that this one waited for."""
    (waited,) = cast("list[Any]", run.task_inputs["wait_for"])
    with get_client(sync_client=True) as client:
        return client.read_task_run(waited.id)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outcome", "trouble", "told_after"),
    [
        (Outcome.COMPLETED, [], ["write_record", "checkpoint"]),
        (Outcome.COMPLETED, [OSError(28, "No space left on device")], None),
        (Outcome.FAILED, [], ["write_record"]),
    ],
)
def test_a_run_is_announced_once_it_is_known_how_it_ended(
    in_flow: Callable[[Act], Any],
    fake: FakeSession,
    monkeypatch: pytest.MonkeyPatch,
    outcome: Outcome,
    trouble: list[Exception],
    told_after: list[str] | None,
) -> None:
    fake.written = replace(fake.written, outcome=outcome)
    fake.trouble["checkpoint"] = trouble
    announced: list[list[str]] = []

    def announce(*_: object) -> None:
        announced.append(list(fake.asked))

    monkeypatch.setattr("tasks.stages.announce_run", announce)

    def act(session: Session) -> None:
        handle = run_one(RECORD, session)
        if outcome is Outcome.COMPLETED:
            with suppress(OSError):
                run_one(CHECKPOINT, session, handle)

    in_flow(act)
    assert announced == ([] if told_after is None else [told_after])


@pytest.mark.slow
def test_after_a_wish_to_stop_no_attempt_follows(
    in_flow: Callable[[Act], Any], fake: FakeSession
) -> None:
    fake.trouble["load"] = [StepFailedError(str(n)) for n in range(9)]
    fake.stopping.set()

    in_flow(lambda session: STAGES.step(session, load(retries=5, retry_delay=3600), ()))

    assert fake.asked == ["load"]


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [[], [StepFailedError("no")], [ZeroDivisionError("a bug")]])
def test_a_submitted_step_reports_its_end_however_it_ends(
    in_flow: Callable[[Act], Any], fake: FakeSession, trouble: list[Exception]
) -> None:
    fake.trouble["load"] = list(trouble)
    step = load()

    def act(session: Session) -> tuple[Step, Handle]:
        done: queue.Queue[Step] = queue.Queue()
        handle = STAGES.submit(session, step, (), done)
        ended = done.get(timeout=30)
        return ended, run_one(STOP, session, handle)

    ended, after = in_flow(act)

    assert ended is step
    assert after.state.is_completed()
    assert len(task_run(after).task_inputs["wait_for"]) == 1
    assert fake.threads[0] != "MainThread"


@pytest.mark.slow
def test_nothing_of_the_runs_before_is_remembered(in_flow: Callable[[Act], Any]) -> None:
    def act(session: Session) -> list[tuple[int, int]]:
        sizes: list[tuple[int, int]] = []
        for _ in range(3):
            run_one(INITIALIZE, session)
            context = FlowRunContext.get()
            assert context is not None
            sizes.append((len(context.run_results), len(context.task_run_assets)))
            run_one(KEEP_OUTPUTS, session)
        return sizes

    assert len(set(in_flow(act))) == 1


@pytest.mark.slow
def test_in_a_lab_it_names_what_its_worker_executes(
    in_flow: Callable[[Act], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(_: Session) -> object:
        monkeypatch.setenv("PREFECT__FLOW_RUN_ID", "of-a-suite")
        return this_flow_run()["retry"]

    assert in_flow(act) == "of-a-suite"


def test_outside_of_a_flow_run_there_is_none() -> None:
    assert this_flow_run() == {}
    assert first_start() is None


@pytest.mark.slow
@pytest.mark.parametrize("scheduled", [True, False])
def test_what_a_schedule_starts_begins_a_campaign(
    in_flow: Callable[[Act], Any], *, scheduled: bool
) -> None:
    def act(_: Session) -> list[str]:
        context = FlowRunContext.get()
        assert context is not None
        assert context.flow_run is not None
        context.flow_run.auto_scheduled = scheduled
        assert first_start() == context.flow_run.start_time
        assert campaign_of_flow_run("auto", filtered=True) == "auto"
        assert baseline_of_flow_run("old") == "old"
        assert baseline_of_flow_run(None) == ("previous" if scheduled else None)
        return [campaign_of_flow_run(asked) for asked in ("auto", "new", "keep")]

    assert in_flow(act) == ["new" if scheduled else "auto", "new", "keep"]


def test_a_measurement_is_never_answered_from_a_cache() -> None:
    assert UNCACHED["persist_result"] is False
    assert type(UNCACHED["cache_policy"]).__name__ == "_None"


def record(run: int, outcome: Outcome) -> RunRecord:
    return RunRecord({}, run, outcome, "", "", 1.0, ())


def test_the_final_state_says_why() -> None:
    done, failed = record(1, Outcome.COMPLETED), record(2, Outcome.FAILED)

    completed = final_state(Executed((done,), (1,), interrupted=False), "words")
    broken = final_state(Executed((done, failed), (1, 3), interrupted=False), "words")
    stopped = final_state(Executed((failed,), (), interrupted=True), "words")

    assert (completed.is_completed(), completed.message) == (True, "1 run done")
    assert (broken.is_failed(), broken.message) == (
        True,
        "words run 2: failed; 2 runs done; a retry goes on there",
    )
    assert isinstance(cast("Any", broken).data, CaseFailedError)
    assert (stopped.is_cancelled(), stopped.message) == (
        True,
        "stopped by the user; 0 runs done",
    )


@pytest.mark.slow
def test_what_is_added_acts_before_and_after_its_stage_alone(
    in_flow: Callable[[Act], Any], fake: FakeSession
) -> None:
    stages = PrefectStages()
    stages.before(STOP, lambda _: fake.asked.append("inner"))
    stages.before(STOP, lambda _: fake.asked.append("outer"))
    stages.after(STOP, lambda _: fake.asked.append("behind"))
    stages.after(INITIALIZE, lambda _: fake.asked.append("never, it failed"))
    fake.trouble["initialize"] = [ResourceError("no such image")]

    def act(session: Session) -> None:
        with pytest.raises(ResourceError):
            stages.run(INITIALIZE, session, after=())
        stages.run(STOP, session, after=())
        stages.run(KEEP_OUTPUTS, session, after=())

    in_flow(act)

    assert fake.asked == [
        *("initialize", "outer", "inner", "stop_resources", "behind", "keep_outputs")
    ]


def test_no_task_carries_tags_or_a_timeout() -> None:
    """A tag costs 45 ms a task run; a timeout of Prefect's stops nothing for sure."""
    values: list[Any] = list(vars(stages_of_a_case).values())
    found: list[Any] = [value for value in values if isinstance(value, Stage)]
    assert len(found) == 12
    for stage in found:
        task = task_of(stage)
        assert task.name == stage.name
        assert task is task_of(stage), "making one reads and hashes its source"
        assert task.tags == set()
        assert task.timeout_seconds is None
        assert task.cache_policy is UNCACHED["cache_policy"]
        assert task.persist_result is False
        assert task.retries == 0
