"""The steps of one run: each attempt executed, timed, told, and written down with how it ended."""

import contextlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import cast

from benchyard.core.clock import Timeline, now
from benchyard.core.errors import StepFailedError
from benchyard.core.model import Json, Outcome, Step
from benchyard.host.collector import StepWindow
from benchyard.results.record import Attempt, ErrorRecord, Repetition, StepRecord
from benchyard.run.attempts import AttemptKit, execute_attempt
from benchyard.run.progress import AttemptFailed, StepEnded, StepStarted
from benchyard.run.reporter import Reporter
from benchyard.run.running_resources import LiveResources
from benchyard.run.secrets import Secrets
from benchyard.run.workspaces import Keeper

_REASONS = {
    Outcome.FAILED: "it was started and never began; the log of the flow run may say why",
    Outcome.SKIPPED: "a step that it needs did not succeed",
    Outcome.CANCELLED: "the run was stopped before it",
}


class StepBook:
    """Attempts and outcomes of the steps of one run.

    Args:
        steps: All steps of the case.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._attempts: dict[int, list[Attempt]] = {step.index: [] for step in steps}
        self._settled: dict[int, StepRecord] = {}
        self._windows: dict[int, StepWindow] = {}

    def attempts(self, step: Step) -> tuple[Attempt, ...]:
        """Return the attempts so far."""
        return tuple(self._attempts[step.index])

    def note(self, step: Step, attempt: Attempt, span: tuple[int, int]) -> None:
        """Write down an attempt.

        Args:
            span: Monotonic nanoseconds of its start and end.
        """
        self._attempts[step.index].append(attempt)
        begun, end = span
        known = self._windows.get(step.index)
        first = begun if known is None else known.start_ns
        self._windows[step.index] = StepWindow(step.index, first, end, begun)

    def windows(self) -> list[StepWindow]:
        """Return when each step that began was under way."""
        return [window for _, window in sorted(self._windows.items())]

    def settle(self, step: Step, unless_tried: Outcome, reason: str | None = None) -> StepRecord:
        """Decide how a step ended, after its last attempt or instead of its first.

        Args:
            unless_tried: The outcome of a step that never began.
            reason: Why it never began, if that is not said by the outcome.
        """
        attempts = self.attempts(step)
        outcome = attempts[-1].outcome if attempts else unless_tried
        if step.may_fail and outcome in (Outcome.FAILED, Outcome.TIMED_OUT):
            outcome = Outcome.TOLERATED
        record = StepRecord(
            index=step.index,
            id=step.id,
            name=step.name,
            resource=step.resource,
            command=step.command,
            parameters=step.parameters,
            measure=step.measure,
            outcome=outcome,
            attempts=attempts,
            reason=None if attempts else reason or _REASONS[unless_tried],
        )
        self._settled[step.index] = record
        return record

    def unsettled(self) -> list[Step]:
        """Return the steps of which it is not known how they ended."""
        return [step for step in self._steps if step.index not in self._settled]

    def records(self, sampled: Mapping[int, Mapping[str, Json]]) -> tuple[StepRecord, ...]:
        """Return the records of the settled steps, in the order of the case.

        Args:
            sampled: What the samples of each step show, by its index.
        """
        ordered = sorted(self._settled.items())
        return tuple(replace(record, sampled=sampled.get(i, {})) for i, record in ordered)

    def outcome(self) -> Outcome:
        """Return how the run went, as far as its steps tell."""
        outcomes = {record.outcome for record in self._settled.values()}
        if Outcome.CANCELLED in outcomes:
            return Outcome.CANCELLED
        fine = all(outcome.lets_the_case_go_on for outcome in outcomes)
        return Outcome.COMPLETED if fine else Outcome.FAILED


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the steps of a run stand on; made while the run is initialized."""

    resources: LiveResources
    bench: AttemptKit
    keeper: Keeper


class StepRunner:
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
        ground: Callable[[], StepContext],
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
