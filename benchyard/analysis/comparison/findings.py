"""What a comparison finds beside numbers: steps that fail, are skipped, or are on one side only.

Whether a step fails is not left to a test of significance. A step that fails where it never failed
before has to be looked at, however often it still succeeds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import FAILURES, StepSample
from benchyard.core.model import JsonObject
from benchyard.core.wording import in_short, printable
from benchyard.statistics.comparison import Verdict


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Something that no number tells.

    Args:
        step: Id of the step; None if it is about whole runs.
        verdict: Regression, improvement or neither (change).
        text: The whole of it as a sentence.
        paired_by: The id that the step is paired by.
    """

    step: str | None
    verdict: Verdict
    text: str
    paired_by: str | None = None

    def to_json(self) -> JsonObject:
        """Return it as the document has it."""
        return {"step": self.step, "verdict": self.verdict.value, "text": self.text}


@dataclass(frozen=True, slots=True)
class _Failures:
    """How often something was tried on one side, and how often it failed."""

    failed: int
    tried: int

    def __str__(self) -> str:
        return f"{self.failed} of {self.tried} run{'s' * (self.tried != 1)}"


def findings(
    baseline: RunSet,
    candidate: RunSet,
    one: Mapping[str, StepSample],
    other: Mapping[str, StepSample],
) -> tuple[Difficulty, ...]:
    """Return what there is to say about failures and about steps without a partner.

    Args:
        one: The baseline's steps by id.
        other: The candidate's.
    """
    return (
        *_broken_runs(baseline, candidate),
        *(
            replace(found, paired_by=i)
            for i in one
            if i in other
            for found in _of_step(one[i], other[i])
        ),
        *(_alone(step, "baseline", "candidate") for i, step in one.items() if i not in other),
        *(_alone(step, "candidate", "baseline") for i, step in other.items() if i not in one),
    )


def _broken_runs(baseline: RunSet, candidate: RunSet) -> Iterator[Difficulty]:
    before, after = (
        _Failures(len(_broken_off(side)), len(side.everything)) for side in (baseline, candidate)
    )
    runs = in_short(_broken_off(candidate) or _broken_off(baseline))
    what = f"the lab or a resource could not go on (run {runs})"
    yield from _changed(None, what, before, after)


def _broken_off(side: RunSet) -> list[int]:
    """Return the failed runs without a failed step: the lab or a resource could not go on."""
    return [
        record.run
        for record in side.failed
        if not any(step.outcome in FAILURES for step in record.steps)
    ]


def _of_step(one: StepSample, other: StepSample) -> Iterator[Difficulty]:
    before, after = (_Failures(side.failed, side.executed) for side in (one, other))
    yield from _changed(other.id, f"step {other.name} fails", before, after)
    for name, here, there in (("candidate", other, one), ("baseline", one, other)):
        if there.executed and not here.executed:
            text = f"step {other.name} was never executed in the {name}: skipped each time"
            yield Difficulty(other.id, Verdict.CHANGE, printable(text))


def _changed(
    step: str | None, what: str, before: _Failures, after: _Failures
) -> Iterator[Difficulty]:
    if not (before.failed or after.failed):
        return
    text = f"{what} in {after} of the candidate, in {before} of the baseline"
    yield Difficulty(step, _verdict(before, after), printable(text))


def _verdict(before: _Failures, after: _Failures) -> Verdict:
    """Tell whether failing began or ended; in between lies chance, which is not judged here."""
    if not (before.tried and after.tried):
        return Verdict.CHANGE
    if not before.failed or (before.failed < before.tried and after.failed == after.tried):
        return Verdict.REGRESSION
    if not after.failed or (after.failed < after.tried and before.failed == before.tried):
        return Verdict.IMPROVEMENT
    return Verdict.CHANGE


def _alone(step: StepSample, here: str, there: str) -> Difficulty:
    text = f"step {step.name} is in the {here} only; the {there} has no step with the id {step.id}"
    return Difficulty(step.id, Verdict.CHANGE, printable(text))
