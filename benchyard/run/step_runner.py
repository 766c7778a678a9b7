"""Executes the steps of one run: attempts and their times, outcomes, events."""

import contextlib
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import cast

from benchyard.core.clock import now
from benchyard.core.errors import RunInterruptedError, StepFailedError, StepNotBegunError
from benchyard.core.model import Json, Outcome, Step, with_ports
from benchyard.results.record import Attempt, ErrorRecord, Repetition
from benchyard.run.attempts import AttemptKit, execute_attempt
from benchyard.run.progress import (
    AttemptFailed,
    QuietMoment,
    Reporter,
    StepEnded,
    StepStarted,
    Waiting,
    tell,
)
from benchyard.run.run_context import RunContext
from benchyard.run.running_resources import LiveResources
from benchyard.run.step_book import StepBook
from benchyard.run.workspaces import Keeper


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the steps of a run use; made while the run is initialized."""

    resources: LiveResources
    bench: AttemptKit
    keeper: Keeper


class PlannedStep:
    """A step as its task is given it: Prefect would search the fields of a dataclass."""

    def __init__(self, runner: "StepRunner", step: Step) -> None:
        self._runner, self._step = runner, step
        self.run, self.label, self.id = runner.run, step.label, step.id
        self.needs, self.retries = step.needs, step.retries

    def execute(self) -> None:
        """Try the step's command once; the attempt is recorded however it ends.

        Raises:
            StepNotBegunError: If it is not tried.
            StepFailedError: If it failed.
        """
        self._runner.execute(self._step)

    def goes_on(self) -> bool:
        """Tell whether a further attempt may follow."""
        return not self._runner.stopping.is_set()

    def ask_user(self) -> None:
        """Wait until the user presses Enter, unless the run is being stopped.

        Raises:
            RunInterruptedError: If standard input is closed.
        """
        if self._runner.stopping.is_set():
            return
        tell(self._runner.listener, Waiting(f"press Enter to execute {self._step.name}"))
        try:
            input()
        except EOFError:
            raise RunInterruptedError("nobody is there to press Enter") from None


class StepRunner:
    """Tries and settles the steps of one run.

    Args:
        setting: What all runs have in common.
        run: Number of the run.
        reporter: Tells what happens.
        warn: Notes in the record what a reader of the numbers should know.

    Attributes:
        context: What the steps use; there once the run is initialized.
        stopping: Set when no further attempt shall begin.
        broke: Why the whole run broke off, if it did.
        abandoned: Whether steps under way were killed: then they did not fail.
    """

    context: StepContext

    def __init__(
        self, setting: RunContext, run: int, reporter: Reporter, warn: Callable[[str], None]
    ) -> None:
        self.run, self.stopping = run, threading.Event()
        self._steps, self.listener = setting.case.steps, setting.listener
        self._where = (setting.case.title, run)
        self._reporter, self._warn = reporter, warn
        self._secrets, self._resolve = setting.secrets, setting.resolve
        self._idle = threading.Condition()
        self._busy = 0
        self.book = StepBook(setting.case.steps)
        self.broke: str | None = None
        self.abandoned = False

    def planned(self) -> list[PlannedStep]:
        """Return the steps, in the order of the case."""
        return [PlannedStep(self, step) for step in self._steps]

    def execute(self, step: Step) -> None:
        """See ``PlannedStep.execute``."""
        if self.stopping.is_set() or not self.book.goes_on(step):
            raise StepNotBegunError(f"{step.name} was not begun")
        if self.book.is_alone(step):
            self.pause(f"step {step.index}, {step.name}")
        try:
            with self._counted():
                self._attempt(step)
        except StepFailedError:
            if self.stopping.is_set() or len(self.book.attempts(step)) > step.retries:
                self._settle(step)
            raise
        self._settle(step)

    def pause(self, following: str) -> None:
        """Let listeners work while nothing is measured."""
        share = self.book.share_settled
        tell(self.listener, QuietMoment(*self._where, share, following, self._warn))

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until no step is under way any more, but not for longer than ``seconds``."""
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, seconds)

    @contextlib.contextmanager
    def _counted(self) -> Generator[None]:
        """Count what is done as a step that is under way."""
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def _attempt(self, step: Step) -> None:
        number = len(self.book.attempts(step)) + 1
        # Waited for here and not by Prefect, which would not hear of a request to stop.
        if number > 1 and self.stopping.wait(step.retry_delay):
            raise StepFailedError(f"{step.name}: not tried again, the run is being stopped")
        timeline = self.context.bench.timeline
        start, started_at = timeline.now_ns(), now()
        if number == 1:
            self._reporter.tell(StepStarted(*self._where, step.index, step.name))
        repetitions: tuple[Repetition, ...] = ()
        error, outcome = None, Outcome.CANCELLED
        try:
            repetitions = self._execute(step, self.context)
            outcome = repetitions[-1].outcome
            error = repetitions[-1].error if outcome is not Outcome.COMPLETED else None
        except Exception as raised:  # noqa: BLE001 - a step that cannot begin has failed
            outcome, error = Outcome.FAILED, self._reporter.describe(raised)
        finally:
            if self.abandoned and outcome is not Outcome.COMPLETED:
                outcome = Outcome.CANCELLED  # it did not fail: it was killed
            span = (timeline.since_start(start), timeline.since_start(timeline.now_ns()))
            attempt = Attempt(number, started_at, *span, outcome, repetitions, error)
            self.book.note(step, attempt, start)
        if error is not None:
            raise self._told(step, number, error)

    def _told(self, step: Step, number: int, error: ErrorRecord) -> StepFailedError:
        left = max(0, step.retries + 1 - number)
        self._reporter.tell(AttemptFailed(*self._where, step.index, step.name, error.message, left))
        return StepFailedError(f"{step.name}: {error.message}")

    def _execute(self, step: Step, context: StepContext) -> tuple[Repetition, ...]:
        if not self.book.attempts(step):
            context.keeper.announce(step)

        def abort() -> None:
            context.resources.abort(step.resource, step.label)

        with (
            context.bench.leftovers.step(),
            context.resources.serving(step.ports_of, step.index, abort) as ports,
            context.resources.borrowed(step.resource, step.index) as resource,
        ):
            parameters = self._resolve(with_ports(dict(step.parameters), ports))
            given = cast("dict[str, Json]", parameters)
            repetitions = execute_attempt(step, resource, given, context.bench, abort)
            if repetitions[-1].error is not None:
                context.resources.note_failure(step.resource)
            if (error := context.resources.dead(step.ports_of)) is not None:
                repetitions = _failed(repetitions, self._reporter.describe(error))
        return tuple(replace(made, values=self._redacted(made.values)) for made in repetitions)

    def _redacted(self, values: Mapping[str, Json]) -> dict[str, Json]:
        return cast("dict[str, Json]", self._secrets.redact_json(dict(values)))

    @property
    def outcome(self) -> Outcome:
        """How the run went, as far as it is known."""
        outcome = self.book.outcome()
        if outcome is not Outcome.COMPLETED:
            return outcome
        if self.broke is not None:
            return Outcome.FAILED
        return Outcome.CANCELLED if self.abandoned else outcome

    def settle_rest(self, unless_tried: Outcome | None = None) -> None:
        """Decide how the steps ended that were not tried.

        Args:
            unless_tried: Their outcome; None derives it from the state of the run.
        """
        for step in self.book.unsettled():
            self._settle(step, unless_tried or self._outcome_of_untried(step))

    def _outcome_of_untried(self, step: Step) -> Outcome:
        if self.broke is not None or self.book.broken:
            return Outcome.SKIPPED
        if self.stopping.is_set():
            return Outcome.CANCELLED
        return Outcome.FAILED if self.book.goes_on(step) else Outcome.SKIPPED

    def _settle(self, step: Step, unless_tried: Outcome = Outcome.SKIPPED) -> None:
        """Decide how a step ended, after its last attempt or because it never began."""
        record = self.book.settle(step, unless_tried, self.broke)
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


def _failed(repetitions: tuple[Repetition, ...], error: ErrorRecord) -> tuple[Repetition, ...]:
    """Return repetitions of which the last one failed; a timeout stays one."""
    *before, last = repetitions
    outcome = Outcome.TIMED_OUT if last.outcome is Outcome.TIMED_OUT else Outcome.FAILED
    return (*before, replace(last, outcome=outcome, error=error))
