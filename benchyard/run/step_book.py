"""Attempts and outcomes of the steps of one run, and which of them may begin."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from benchyard.core.model import Json, Outcome, Step
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
        #: Index of a step to the start of its last attempt, monotonic nanoseconds.
        self.began: dict[int, int] = {}

    def attempts(self, step: Step) -> tuple[Attempt, ...]:
        """Return the attempts so far."""
        return tuple(self._attempts[step.index])

    def note(self, step: Step, attempt: Attempt, began_ns: int) -> None:
        """Write down how an attempt went, and when it began."""
        self._attempts[step.index].append(attempt)
        self.began[step.index] = began_ns

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
