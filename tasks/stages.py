"""The stages of a case as Prefect task runs: named after run and step, joined into its graph."""

import queue
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

from prefect import State, Task, allow_failure, task
from prefect.client.schemas.objects import TaskRun
from prefect.futures import PrefectFuture

from benchyard.core.model import Outcome, Step
from benchyard.run.session import Session
from benchyard.run.stages import CHECKPOINT, INITIALIZE, RECORD, STEP, Handle, Handles, Of, Stage
from tasks.events import announce_run
from tasks.prefect_internals import UNCACHED, EndedFuture, forget_results
from tasks.server import Watch

_AnyStage = Stage[*tuple[Any, ...]]
_Acts = defaultdict[_AnyStage, Sequence[Callable[..., object]]]


class StageCall:
    """One execution of a stage: what its task run gets and returns, and later ones wait for.

    Prefect remembers by ``id()`` which task run returned an object. It would search a dataclass.

    Attributes:
        stage: The stage.
        of: What its work is given.
        title: Of the task run.
    """

    def __init__(self, stage: Stage[*tuple[Any, ...]], of: tuple[Any, ...]) -> None:
        self.stage = stage
        self.of = of
        self.title = stage.title(*of)


@task(name="stage", task_run_name="{call.title}", **UNCACHED)
def execute(call: StageCall) -> StageCall:
    """Execute a stage; of a step, one attempt.

    What the stage yields is not returned: Prefect would take whatever later task is given a part
    of it for a dependent of this one, and draw an edge.
    """
    call.stage.work(*call.of)
    return call


@cache
def task_of(stage: _AnyStage) -> Task[[StageCall], StageCall]:
    """Return the task of a stage: the one above, under the stage's name."""
    return execute.with_options(name=stage.name)


class PrefectStages:
    """Executes each stage as a task run of the flow run under way.

    Tasks are called in the main thread; only steps that really run side by side are submitted, and
    nothing is done before or after these.
    """

    def __init__(self) -> None:
        self._before: _Acts = defaultdict(tuple)
        self._after: _Acts = defaultdict(tuple)

    def before(self, stage: Stage[*Of], *acts: Callable[[*Of], object]) -> None:
        """Do something before each execution of a stage; what is added later comes first."""
        self._before[stage] = (*acts, *self._before[stage])

    def after(self, stage: Stage[*Of], *acts: Callable[[*Of], object]) -> None:
        """Do something after each execution of a stage that did not fail."""
        self._after[stage] = (*self._after[stage], *acts)

    def run(self, stage: Stage[*Of], /, *of: *Of, after: Handles) -> Handles:
        """See ``Stages``."""
        call = StageCall(stage, of)
        _act(self._before, call)
        state = task_of(stage)(call, wait_for=_edges(after), return_state=True)
        if not state.is_completed():
            state.result()  # raises what the stage raised
        _act(self._after, call)
        return [EndedFuture(state)]

    def step(self, session: Session, step: Step, after: Handles) -> Handle:
        """See ``Stages``."""
        call = StageCall(STEP, (session, step))
        _act(self._before, call)
        state = _step_task(session, step)(call, wait_for=_edges(after), return_state=True)
        _act(self._after, call)
        return call if state.is_completed() else EndedFuture(state)

    def submit(
        self, session: Session, step: Step, after: Handles, done: "queue.Queue[Step]"
    ) -> Handle:
        """See ``Stages``."""
        attempt = cast("Any", _step_task(session, step))
        call = StageCall(STEP, (session, step))
        future: PrefectFuture[StageCall] = attempt.submit(call, wait_for=_edges(after))
        future.add_done_callback(lambda _: done.put(step))
        return future


def watched_stages() -> PrefectStages:
    """Return stages that note when the server is away, and announce how each run ended."""
    stages, watch = PrefectStages(), Watch()
    stages.before(INITIALIZE, watch.before_run, lambda _: forget_results())  # of the runs before
    stages.after(STEP, lambda session, _: watch.between(session))
    stages.before(RECORD, watch.before_record)
    stages.after(RECORD, _announce_if_failed)
    stages.after(CHECKPOINT, _announce)
    return stages


def _announce_if_failed(session: Session) -> None:
    if session.written.outcome is not Outcome.COMPLETED:
        _announce(session)


def _announce(session: Session) -> None:
    announce_run(session.written, session.folder)


def _act(acts: _Acts, call: StageCall) -> None:
    for act in acts[call.stage]:
        act(*call.of)


def _step_task(session: Session, step: Step) -> Task[[StageCall], StageCall]:
    if not step.retries:
        return task_of(STEP)

    def try_again(_task: Task[..., Any], _run: TaskRun, _state: State[Any]) -> bool:
        return not session.stopping.is_set()

    return task_of(STEP).with_options(retries=step.retries, retry_condition_fn=try_again)


def _edges(after: Handles) -> list[Any]:
    """Return what to wait for: a tolerated failure must not keep the next step from starting."""
    return [allow_failure(cast("Any", handle)) for handle in after]
