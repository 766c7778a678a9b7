"""What is known of a plan before it is executed: how long it takes, what it can never tell."""

from collections import Counter
from collections.abc import Sequence

from benchyard.analysis.foresight import Compared, foresee
from benchyard.run.beginning import Campaigning
from benchyard.suite.plan import SuitePlan


def expected_seconds(plan: SuitePlan, cooldown: float | None) -> tuple[float, list[str]]:
    """Return how long all runs take (s), and the titles of cases of which nobody knows.

    Args:
        cooldown: That is asked for, in seconds; None leaves it to the cases.
    """
    counted = Counter(place for place, _ in plan.runs)
    took = {at: plan.entries[at].expected_seconds(n, cooldown) for at, n in counted.items()}
    unknown = [plan.entries[at].title for at, seconds in took.items() if seconds is None]
    return sum(seconds or 0.0 for seconds in took.values()), unknown


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
