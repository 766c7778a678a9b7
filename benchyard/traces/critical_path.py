"""Which steps a run waited for: the chain that determined how long it took."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord, StepRecord


@dataclass(frozen=True, slots=True)
class CriticalStep:
    """A step on the critical path.

    Args:
        index: Its position in the case, from 1.
        start_s: Since the run's start: of its first attempt.
        end_s: Of its last one; delays between attempts are inside.
        waited_s: From the end of the step before on this path until it began; of the first one
            from the run's start.
        share: Of the run's time that it took, 0 to 1; waiting is not in it.
    """

    index: int
    name: str
    resource: str
    outcome: Outcome
    start_s: float
    end_s: float
    waited_s: float
    share: float

    @property
    def duration_s(self) -> float:
        """How long it took."""
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The chain of steps that determined how long a run took.

    What its steps took, ``waited_s`` and ``after_s`` come to ``duration_s`` together.

    Args:
        steps: In the order of time; none if no step began.
        duration_s: Of the whole run.
        after_s: From the end of its last step to the end of the run.
    """

    steps: tuple[CriticalStep, ...]
    duration_s: float
    after_s: float

    @property
    def waited_s(self) -> float:
        """All waiting before steps, that before the first one included."""
        return sum(step.waited_s for step in self.steps)


class _Span(NamedTuple):
    end_s: float
    start_s: float
    step: StepRecord


def critical_path(record: RunRecord) -> CriticalPath:
    """Return the critical path through the steps of a run.

    Records do not tell which step needs which, so it goes by the times: the step that ended last
    is the last one, and the one before each is the step that ended last before it began. That is
    what it waited for, whether it needs it or its resource was not free. A run that broke off has
    one too, up to where it did.
    """
    spans = sorted(_spans(record), key=lambda span: (*span[:2], span.step.index))
    chain = _chain(spans)
    last_s = chain[-1].end_s if chain else 0.0
    duration_s = max(record.duration_s, last_s)
    steps: list[CriticalStep] = []
    before_s = 0.0
    for end_s, start_s, step in chain:
        about = (step.index, step.name, step.resource, step.outcome)
        share = (end_s - start_s) / duration_s if duration_s > 0 else 0.0
        steps.append(CriticalStep(*about, start_s, end_s, start_s - before_s, share))
        before_s = end_s
    return CriticalPath(tuple(steps), duration_s, duration_s - last_s)


def _spans(record: RunRecord) -> Iterator[_Span]:
    for step in record.steps:
        if step.attempts:
            start_s = max(min(one.start_s for one in step.attempts), 0.0)
            end_s = max(start_s, *(one.end_s for one in step.attempts))
            yield _Span(end_s, start_s, step)


def _chain(spans: Sequence[_Span]) -> list[_Span]:
    """Return the last of the spans, and before each the last that ended when it began.

    Args:
        spans: By their ends.
    """
    ends = [span.end_s for span in spans]
    chain: list[_Span] = []
    place = len(spans) - 1
    while place >= 0:
        chain.append(spans[place])
        # Of steps that took no time one may end when another begins, and the other way round.
        place = min(bisect_right(ends, spans[place].start_s), place) - 1
    return chain[::-1]
