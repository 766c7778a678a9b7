"""The stages of a run as Prefect tasks: named after run and step, joined into the case's graph."""

import queue
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from prefect import State, Task, allow_failure
from prefect.client.schemas.objects import TaskRun
from prefect.futures import PrefectFuture

from benchyard.core.model import Case, Step
from benchyard.core.model import Outcome as RunOutcome
from benchyard.publish import Outcome, Uploaded
from benchyard.results.record import RunRecord
from benchyard.run.engine import Handle
from benchyard.run.session import Session
from tasks.archive import archive
from tasks.checkpoint import checkpoint
from tasks.collector import start_collector, stop_collector
from tasks.cooldown import cooldown
from tasks.ended import Ended, Ticket
from tasks.events import announce_run
from tasks.flow_run import forget_results
from tasks.initialize import initialize
from tasks.keep import keep_outputs
from tasks.outage import Watch
from tasks.record import write_record
from tasks.step import execute_step
from tasks.stop import stop_resources
from tasks.summarize import summarize
from tasks.upload import upload


class PrefectStages:
    """Executes each stage as a task run of the flow run under way.

    Tasks are called in the main thread; only steps that really run side by side are submitted.
    """

    def __init__(self) -> None:
        self._watch = Watch()

    def initialize(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        self._watch.before_run(session)
        forget_results()  # those of the runs before
        return _call(initialize, f"run{session.run}/initialize", after, session)

    def start_collector(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(start_collector, f"run{session.run}/start-collector", after, session)

    def step(self, session: Session, step: Step, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        task, ticket = _step_task(session, step), Ticket(step)
        state = task(session, ticket, wait_for=_edges(after), return_state=True)
        self._watch.between(session)
        return ticket if state.is_completed() else Ended(state)

    def submit(
        self, session: Session, step: Step, after: Sequence[Handle], done: "queue.Queue[Step]"
    ) -> Handle:
        """See ``Stages``."""
        task = cast("Any", _step_task(session, step))
        future: PrefectFuture[Ticket] = task.submit(session, Ticket(step), wait_for=_edges(after))
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
        self._watch.before_record(session)
        ended = _call(write_record, f"run{session.run}/record", after, session)
        if session.written.outcome is not RunOutcome.COMPLETED:
            announce_run(session.written, session.folder)
        return session.written, ended

    def checkpoint(self, session: Session, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        ended = _call(checkpoint, f"run{session.run}/checkpoint", after, session)
        announce_run(session.written, session.folder)
        return ended

    def cooldown(self, session: Session, seconds: float, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(cooldown, f"run{session.run}/cooldown", after, session, seconds)

    def summarize(self, case: Case, results: Path, after: Sequence[Handle]) -> Handle:
        """See ``Stages``."""
        return _call(summarize, "summarize", after, case.title, results)

    def upload(
        self, runs: Sequence[Path], sinks: Sequence[str], after: Sequence[Handle]
    ) -> tuple[Uploaded, Handle]:
        """See ``Stages``."""
        ended = _call(upload, "upload", after, list(runs), list(sinks))
        return ended.result(), ended

    def archive(
        self, uploaded: Uploaded, after: Sequence[Handle]
    ) -> tuple[Sequence[Outcome], Handle]:
        """See ``Stages``."""
        ended = _call(archive, "archive", after, uploaded)
        return ended.result(), ended


def _call(task: Task[..., Any], name: str, after: Sequence[Handle], *arguments: object) -> Ended:
    named = task.with_options(task_run_name=name)
    state = cast("State[Any]", named(*arguments, wait_for=_edges(after), return_state=True))
    if not state.is_completed():
        state.result()  # raises what the task raised
    return Ended(state)


def _step_task(session: Session, step: Step) -> Task[[Session, Ticket], Ticket]:
    if not step.retries:
        return execute_step

    def try_again(_task: Task[..., Any], _run: TaskRun, _state: State[Any]) -> bool:
        return not session.stopping.is_set()

    return execute_step.with_options(retries=step.retries, retry_condition_fn=try_again)


def _edges(after: Sequence[Handle]) -> list[Any]:
    """Return what to wait for: a tolerated failure must not keep the next step from starting."""
    return [allow_failure(cast("Any", handle)) for handle in after]
