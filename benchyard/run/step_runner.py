"""Executes the steps of one run: attempts and their times, outcomes, events."""

import contextlib
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from statistics import median
from typing import cast

from benchyard.core.clock import now
from benchyard.core.errors import StepFailedError
from benchyard.core.model import Json, Outcome, Step, with_ports
from benchyard.host.collector import StepWindow
from benchyard.results.record import Attempt, ErrorRecord, Repetition, StepRecord
from benchyard.run.attempts import AttemptKit, execute_attempt
from benchyard.run.progress import AttemptFailed, Reporter, StepEnded, StepStarted
from benchyard.run.run_context import RunContext
from benchyard.run.running_resources import LiveResources
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

    Attributes:
        broken: Whether a step ended in a way that ends the run.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._attempts: dict[int, list[Attempt]] = {step.index: [] for step in steps}
        self._settled: dict[int, StepRecord] = {}
        self._ids = {step.id: step.index for step in steps}
        self._graph = TopologicalSorter({step.id: step.needs for step in steps})
        self._graph.prepare()
        self._ready = {*self._graph.get_ready()}
        self._lock = threading.Lock()
        self.broken = False
        self._windows: dict[int, StepWindow] = {}

    def attempts(self, step: Step) -> tuple[Attempt, ...]:
        """Return the attempts so far."""
        return tuple(self._attempts[step.index])

    def note(self, step: Step, attempt: Attempt, span: tuple[int, int]) -> None:
        """Write down an attempt.

        Args:
            step: The step.
            attempt: How it went.
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
        """Decide how a step ended, after its last attempt or because it never began.

        Args:
            step: The step.
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
        with self._lock:
            self._settled[step.index] = record
            self.broken = self.broken or not outcome.lets_the_case_go_on
            if step.id in self._ready:
                self._ready.remove(step.id)
                self._graph.done(step.id)
                self._ready.update(self._graph.get_ready())
        return record

    def goes_on(self, step: Step) -> bool:
        """Tell whether a step may begin: nothing failed, and what it needs has ended."""
        return not self.broken and all(self._ids[i] in self._settled for i in step.needs)

    def is_alone(self, step: Step) -> bool:
        """Tell whether no other step is under way or may begin beside this one."""
        return self._ready == {step.id}

    @property
    def share_settled(self) -> float:
        """How many of the steps have ended, 0 to 1."""
        return len(self._settled) / len(self._steps) if self._steps else 0.0

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
    """What the steps of a run use; made while the run is initialized."""

    resources: LiveResources
    bench: AttemptKit
    keeper: Keeper


class StepRunner:
    """Tries and settles the steps of one run.

    Args:
        setting: What all runs have in common.
        run: Number of the run.
        reporter: Tells what happens.
        stopping: Set when no further attempt shall begin.

    Attributes:
        abandoned: Whether steps under way were killed: then they did not fail.
    """

    def __init__(
        self, setting: RunContext, run: int, reporter: Reporter, stopping: threading.Event
    ) -> None:
        self._where = (setting.case.title, run)
        self._reporter = reporter
        self._secrets, self._resolve = setting.secrets, setting.resolve
        self._stopping = stopping
        self._idle = threading.Condition()
        self._busy = 0
        self.book = StepBook(setting.case.steps)
        self.abandoned = False

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until no step is under way any more, but not for longer than ``seconds``."""
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, seconds)

    @contextlib.contextmanager
    def counted(self) -> Generator[None]:
        """Count what is done as a step that is under way."""
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def attempt(self, step: Step, context: StepContext) -> None:
        """Try a step's command once; the attempt is recorded however it ends.

        Raises:
            StepFailedError: If it failed.
        """
        number = len(self.book.attempts(step)) + 1
        # Waited for here and not by Prefect, which would not hear of a request to stop.
        if number > 1 and self._stopping.wait(step.retry_delay):
            raise StepFailedError(f"{step.name}: not tried again, the run is being stopped")
        timeline = context.bench.timeline
        start, started_at = timeline.now_ns(), now()
        if number == 1:
            self._reporter.tell(StepStarted(*self._where, step.index, step.name))
        repetitions: tuple[Repetition, ...] = ()
        error, outcome = None, Outcome.CANCELLED
        try:
            repetitions = self._execute(step, context)
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
            self.book.note(step, attempt, (start, end))
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

    def settle(self, step: Step, unless_tried: Outcome, broke: str | None) -> StepRecord:
        """Decide how a step ended, after its last attempt or because it never began.

        Args:
            step: The step.
            unless_tried: The outcome of a step that never began.
            broke: Why the whole run broke off, if it did.
        """
        record = self.book.settle(step, unless_tried, broke)
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


def _failed(repetitions: tuple[Repetition, ...], error: ErrorRecord) -> tuple[Repetition, ...]:
    """Return repetitions of which the last one failed; a timeout stays one."""
    *before, last = repetitions
    outcome = Outcome.TIMED_OUT if last.outcome is Outcome.TIMED_OUT else Outcome.FAILED
    return (*before, replace(last, outcome=outcome, error=error))
