"""What comparing the cases of a plan with a baseline can never tell, before it is executed."""

from collections.abc import Sequence

from benchyard.analysis.foresight import Compared, foresee
from benchyard.run.beginning import Campaigning
from benchyard.suite.plan import SuitePlan


def foresee_comparison(plan: SuitePlan, baseline: str | None, runs: Sequence[int]) -> list[str]:
    """Return a sentence for each thing that it cannot tell; nothing without a baseline.

    Args:
        baseline: As the user wrote it, and checked.
        runs: Numbers of the runs that each case will have.
    """
    if baseline is None:
        return []
    cases = [
        Compared(entry.title, entry.results, runs, entry.campaign == Campaigning.NEW)
        for entry in plan.entries
        if entry.results is not None
    ]
    return foresee(baseline, cases)
