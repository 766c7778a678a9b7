"""The book of a run's steps: attempts as they are made, and how each step ended."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchyard.core.model import Json, Outcome, Step
from benchyard.host.collector import StepWindow
from benchyard.results.record import Attempt, StepRecord

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
