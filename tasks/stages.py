"""The stages of a run as Prefect tasks: named after run and step, joined into the case's graph."""

import queue
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from prefect import State, Task, allow_failure
from prefect.client.schemas.objects import TaskRun
from prefect.futures import PrefectFuture

from benchyard.execution.engine import Handle
from benchyard.execution.session import Session
from benchyard.model import Case, Step
from benchyard.record import RunRecord
from tasks.checkpoint import checkpoint
from tasks.collector import start_collector, stop_collector
from tasks.cooldown import cooldown
from tasks.initialize import initialize
from tasks.keep import keep_outputs
from tasks.record import write_record
from tasks.step import execute_step
from tasks.stop import stop_resources
from tasks.summarize import summarize


class PrefectStages:
    """Executes each stage as a task run of the flow run under way.

    Tasks are called in the main thread; only steps that really run side by side are submitted.
    """

    def initialize(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(initialize, f"run{session.run}/initialize", after, session)

    def start_collector(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(start_collector, f"run{session.run}/start-collector", after, session)

    def step(self, session: Session, step: Step, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _step_task(session, step)(session, step, wait_for=_edges(after), return_state=True)

    def submit(
        self, session: Session, step: Step, after: Sequence[Handle], done: "queue.Queue[Step]"
    ) -> Handle:
        """See ``Stages``."""
        task = cast("Any", _step_task(session, step))
        future: PrefectFuture[None] = task.submit(session, step, wait_for=_edges(after))
        future.add_done_callback(lambda _: done.put(step))
        return future

    def stop_resources(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(stop_resources, f"run{session.run}/stop", after, session)

    def stop_collector(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(stop_collector, f"run{session.run}/stop-collector", after, session)

    def keep_outputs(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(keep_outputs, f"run{session.run}/keep-outputs", after, session)

    def record(self, session: Session, after: Sequence[Handle]) -> tuple[RunRecord, Handle]:
        """See ``Stages``."""
        state = _call(write_record, f"run{session.run}/record", after, session)
        return session.written, state

    def checkpoint(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(checkpoint, f"run{session.run}/checkpoint", after, session)

    def cooldown(self, session: Session, seconds: float, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(cooldown, f"run{session.run}/cooldown", after, session, seconds)

    def summarize(self, case: Case, results: Path, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(summarize, "summarize", after, case.title, results)


def _call(
    task: Task[..., Any], name: str, after: Sequence[Handle], *arguments: object
) -> State[Any]:
    named = task.with_options(task_run_name=name)
    state = cast("State[Any]", named(*arguments, wait_for=_edges(after), return_state=True))
    if not state.is_completed():
        state.result()  # raises what the task raised
    return state


def _step_task(session: Session, step: Step) -> Task[[Session, Step], None]:
    def try_again(_task: Task[..., Any], _run: TaskRun, _state: State[Any]) -> bool:
        return not session.stopping.is_set()

    return execute_step.with_options(
        task_run_name=f"run{session.run}/{step.label}",
        retries=step.retries,
        retry_condition_fn=try_again,
    )


def _edges(after: Sequence[Handle]) -> list[Any]:
    """Return what to wait for: a tolerated failure must not keep the next step from starting."""
    return [allow_failure(cast("Any", handle)) for handle in after]
