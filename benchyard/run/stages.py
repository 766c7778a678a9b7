"""The stages of a case as data: how each is shown, and what it does.

Which follows which is the engine's business. How a stage is executed, by a plain call
(``DirectStages``) or as a Prefect task run (``tasks.stages``), is that of ``Stages``.
"""

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVarTuple

from benchyard.core.errors import StepFailedError
from benchyard.core.model import Step
from benchyard.publish import PublishResult, archive_uploaded, upload_runs
from benchyard.publish.outcome import advice, problems
from benchyard.results.campaigns import publishable_runs
from benchyard.run.progress import Notice, tell
from benchyard.run.run_context import RunContext
from benchyard.run.session import Session
from benchyard.run.summarize import summarize

Of = TypeVarTuple("Of")

#: Stands for a stage that was executed, so that a later one can wait for it.
Handle = object
Handles = Sequence[Handle]


@dataclass(frozen=True, eq=False)
class Stage(Generic[*Of]):
    """One thing to do in the course of a case.

    Args:
        name: What it is called.
        work: Does it; raises where it fails.
        shown: How Prefect's UI names its task run: ``stage`` stands for the name, a number for
            what the work is given.
    """

    name: str
    work: Callable[[*Of], object]
    shown: str = "run{0.run}/{stage}"

    def title(self, *of: *Of) -> str:
        """Return the name of one execution of it, such as ``run2/03-load``."""
        return self.shown.format(*of, stage=self.name)


class Publication:
    """The finished runs of a case on their way to the sinks.

    Attributes:
        runs: Folders of those that are not published; none where no sink is wanted.
    """

    def __init__(self, setting: RunContext) -> None:
        self._setting = setting
        self.runs = publishable_runs(setting.results) if setting.sinks else ()
        self._uploaded: tuple[PublishResult, ...] = ()
        self._outcomes: Sequence[PublishResult] = ()

    def upload(self) -> None:
        """Put the runs into the spools, and upload what waits of them; trouble is not raised."""
        self._uploaded = upload_runs(self.runs, self._setting.sinks)

    def archive(self) -> None:
        """Move what the sinks have confirmed to the archives, out of the spools."""
        self._outcomes = archive_uploaded(self._uploaded)

    def tell(self) -> None:
        """Tell what went wrong, sink by sink."""
        for outcome in self._outcomes:
            for text in (*problems(outcome), *advice(outcome)):
                tell(self._setting.listener, Notice(text))


INITIALIZE = Stage[Session]("initialize", lambda session: session.initialize())
START_COLLECTOR = Stage[Session]("start-collector", lambda session: session.start_collector())
#: One attempt; it is repeated as often as the step may be.
STEP = Stage[Session, Step](
    "step", lambda session, step: session.attempt(step), "run{0.run}/{1.label}"
)
STOP = Stage[Session]("stop", lambda session: session.stop_resources())
STOP_COLLECTOR = Stage[Session]("stop-collector", lambda session: session.stop_collector())
KEEP_OUTPUTS = Stage[Session]("keep-outputs", lambda session: session.keep_outputs())
RECORD = Stage[Session]("record", lambda session: session.write_record())
CHECKPOINT = Stage[Session]("checkpoint", lambda session: session.checkpoint())
COOLDOWN = Stage[Session, float]("cooldown", lambda session, seconds: session.rest(seconds))
SUMMARIZE = Stage[RunContext](
    "summarize",
    lambda setting: summarize(setting.case.title, setting.results, suspect=setting.suspect),
    "{stage}",
)
UPLOAD = Stage[Publication]("upload", lambda publication: publication.upload(), "{stage}")
ARCHIVE = Stage[Publication]("archive", lambda publication: publication.archive(), "{stage}")


class Stages(Protocol):
    """How stages are executed, each once those have ended that it waits for."""

    def run(self, stage: Stage[*Of], /, *of: *Of, after: Handles) -> Handles:
        """Execute a stage here and now; raises what its work raises.

        Args:
            stage: The stage.
            of: What its work is given.
            after: What it waits for.

        Returns:
            What the next stage waits for.
        """
        ...

    def step(self, session: Session, step: Step, after: Handles, /) -> Handle:
        """Execute a step with all its attempts, here and now; a failure is not raised."""
        ...

    def submit(
        self, session: Session, step: Step, after: Handles, done: "queue.Queue[Step]", /
    ) -> Handle:
        """Execute a step beside others; it is put on ``done`` when it has ended."""
        ...


class DirectStages:
    """Executes each stage as a call."""

    def run(self, stage: Stage[*Of], /, *of: *Of, after: Handles) -> Handles:
        """See ``Stages``."""
        del after
        stage.work(*of)
        return [stage]

    def step(self, session: Session, step: Step, _after: Handles) -> Handle:
        """See ``Stages``."""
        for left in range(step.retries, -1, -1):
            try:
                STEP.work(session, step)
                break
            except StepFailedError:
                if not left or session.stopping.is_set():
                    break
        return step.id

    def submit(
        self, session: Session, step: Step, after: Handles, done: "queue.Queue[Step]"
    ) -> Handle:
        """See ``Stages``."""

        def work() -> None:
            try:
                self.step(session, step, after)
            finally:
                done.put(step)

        threading.Thread(target=work, name=step.label, daemon=True).start()
        return step.id
