"""Which values of a comparison count where executions are suspect: of both sides alike."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchyard.analysis.comparison.rows import Row
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import StepSample, sample
from benchyard.core.quantity import plural
from benchyard.core.wording import printable
from benchyard.results.trust import BUSY, FEWEST_TRUSTED, Suspect, causes
from benchyard.statistics.pairs import smallest_paired_p
from benchyard.statistics.ranks import smallest_p


@dataclass(frozen=True, slots=True)
class Samples:
    """The steps of one side by id: with the trusted values alone, and with all of them."""

    trusted: Mapping[str, StepSample]
    every: Mapping[str, StepSample]

    def of_one_side(self) -> Iterator[StepSample]:
        """Yield each step with the values that count where it is compared with nothing."""
        for step_id, trusted in self.trusted.items():
            yield trusted if trusted.counted >= FEWEST_TRUSTED else self.every[step_id]


def sampled(runs: RunSet, rule: Suspect) -> Samples:
    """Return the values of one side that can count by a rule."""
    doubted = any(step.suspect for record in runs.records for step in record.steps)
    every = sample(runs, include_suspect=doubted and rule is not Suspect.LEAVE_OUT)
    chooses = doubted and rule is Suspect.AUTO
    return Samples(sample(runs, include_suspect=False) if chooses else every, every)


def suffices(
    baseline: Collection[int], candidate: Collection[int], level: float, *, paired: bool
) -> bool:
    """Tell whether trusted values count alone.

    Args:
        baseline: Numbers of the runs with a trusted value, as ``candidate``.
        level: Of this comparison: its share of the level of all (Bonferroni).
        paired: Whether both values are of the same runs.
    """
    if paired:
        both = len({*baseline} & {*candidate})
        return both >= FEWEST_TRUSTED and smallest_paired_p(both) <= level
    numbers = len(baseline), len(candidate)
    return min(numbers) >= FEWEST_TRUSTED and smallest_p(*numbers) <= level


def busy_note(rows: Iterable[Row]) -> str:
    """Say once why figures carry the mark of a busy host; empty if none does."""
    sides = {id(side): side for row in rows for side in (row.baseline, row.candidate)}.values()
    doubted = sum(side.suspect for side in sides)
    if not doubted:
        return ""
    number = f"{doubted} of {plural(sum(side.counted for side in sides), 'execution')} suspect"
    reasons = "; ".join(causes(reason for side in sides for reason in side.doubts))
    return printable(
        f"{BUSY} on a busy host: {number} ({reasons}), and counted; quieten the host (benchyard "
        f"doctor says how), or leave them out with --suspect {Suspect.LEAVE_OUT}"
    )
