"""The steps of one run: each attempt executed, timed, told and written into the book."""

import contextlib
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import cast

from benchyard.core.clock import Timeline, now
from benchyard.core.errors import StepFailedError
from benchyard.core.model import Json, Outcome, Step
from benchyard.results.record import Attempt, ErrorRecord, Repetition, StepRecord
from benchyard.run.attempts import Bench, execute_attempt
from benchyard.run.keeping import Keeper
from benchyard.run.live import LiveResources
from benchyard.run.progress import AttemptFailed, StepEnded, StepStarted
from benchyard.run.reporter import Reporter
from benchyard.run.secrets import Secrets
from benchyard.run.stepbook import StepBook


@dataclass(frozen=True, slots=True)
class Ground:
    """What the steps of a run stand on; made while the run is initialized."""

    resources: LiveResources
    bench: Bench
    keeper: Keeper


class Stepper:
    """Tries and settles the steps of one run.

    Args:
        where: Title of the case and number of the run, for who listens.
        ground: Returns what the steps stand on; raises if it could not be made.
        timeline: Returns the time of the run, known once it was prepared.
        stopping: Set when no further attempt shall begin.
    """

    def __init__(
        self,
        where: tuple[str, int],
        book: StepBook,
        ground: Callable[[], Ground],
        timeline: Callable[[], Timeline],
        reporter: Reporter,
        secrets: Secrets,
        stopping: threading.Event,
    ) -> None:
        self._where = where
        self._book = book
        self._ground = ground
        self._timeline = timeline
        self._reporter = reporter
        self._secrets = secrets
        self._stopping = stopping
        self._idle = threading.Condition()
        self._busy = 0
        #: Whether what is under way was killed: then it did not fail.
        self.abandoned = False

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until no step is under way any more, but not for longer than ``seconds``."""
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, seconds)

    @contextlib.contextmanager
    def _counted(self) -> Generator[None]:
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def attempt(self, step: Step) -> None:
        """Try a step's command once; the attempt is recorded however it ends.

        Raises:
            StepFailedError: If it failed.
        """
        with self._counted():
            self._attempt(step)

    def _attempt(self, step: Step) -> None:
        number = len(self._book.attempts(step)) + 1
        # Waited for here and not by Prefect, which would not hear of a wish to stop.
        if number > 1 and self._stopping.wait(step.retry_delay):
            raise StepFailedError(f"{step.name}: not tried again, the run is being stopped")
        timeline = self._timeline()
        start, started_at = timeline.now_ns(), now()
        if number == 1:
            self._reporter.tell(StepStarted(*self._where, step.index, step.name))
        repetitions: tuple[Repetition, ...] = ()
        error, outcome = None, Outcome.CANCELLED
        try:
            repetitions = self._execute(step)
            outcome = repetitions[-1].outcome
            error = repetitions[-1].error if outcome is not Outcome.COMPLETED else None
        except Exception as raised:  # noqa: BLE001 - a step that cannot begin has failed
            outcome, error = Outcome.FAILED, self._reporter.describe(raised)
        finally:
            if self.abandoned and outcome is not Outcome.COMPLETED:
                outcome = Outcome.CANCELLED  # it did not fail: it was killed
            end = timeline.now_ns()
            span = (timeline.since_start(start), timeline.since_start(end))
            attempt = Attempt(number, started_at, *span, outcome, repetitions, error)
            self._book.note(step, attempt, (start, end))
        if error is not None:
            raise self._told(step, number, error)

    def _told(self, step: Step, number: int, error: ErrorRecord) -> StepFailedError:
        left = max(0, step.retries + 1 - number)
        self._reporter.tell(AttemptFailed(*self._where, step.index, step.name, error.message, left))
        return StepFailedError(f"{step.name}: {error.message}")

    def _execute(self, step: Step) -> tuple[Repetition, ...]:
        ground = self._ground()
        parameters = self._secrets.resolve(dict(step.parameters))
        if not self._book.attempts(step):
            ground.keeper.announce(step)
        with (
            ground.bench.leftovers.step(),
            ground.resources.borrowed(step.resource, step.index) as resource,
        ):
            repetitions = execute_attempt(
                step,
                resource,
                cast("dict[str, Json]", parameters),
                ground.bench,
                lambda: ground.resources.abort(step.resource, step.label),
            )
            if repetitions[-1].error is not None:
                ground.resources.note_failure(step.resource)
        return tuple(replace(made, values=self._redacted(made.values)) for made in repetitions)

    def _redacted(self, values: Mapping[str, Json]) -> dict[str, Json]:
        return cast("dict[str, Json]", self._secrets.redact_json(dict(values)))

    def settle(self, step: Step, unless_tried: Outcome, broke: str | None) -> StepRecord:
        """Decide how a step ended, after its last attempt or instead of its first.

        Args:
            unless_tried: The outcome of a step that never began.
            broke: Why the whole run broke off, if it did.
        """
        record = self._book.settle(step, unless_tried, broke)
        durations, attempts = record.durations_s, record.attempts
        failed = attempts and record.outcome is not Outcome.COMPLETED
        error = attempts[-1].error if failed else None
        self._reporter.tell(
            StepEnded(
                *self._where,
                step.index,
                step.name,
                record.outcome,
                median(durations) if durations else None,
                record.reason or (error.message if error else None),
            )
        )
        return record
