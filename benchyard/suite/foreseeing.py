"""What is known of a plan before it is executed: how long it takes, what it can never tell."""

from collections import Counter

from benchyard.analysis.foresight import ForeseenCase, foresee_comparison
from benchyard.core.quantity import percent
from benchyard.run.beginning import Campaigning
from benchyard.run.default_runs import FEWEST, comparisons_of
from benchyard.run.request import ExecutionOptions
from benchyard.statistics.comparison import LEVEL
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


def foresee(plan: SuitePlan, request: ExecutionOptions) -> list[str]:
    """Say why each case has so many runs by default, and what its baseline can never tell."""
    said = [] if request.runs else _runs_by_default(plan, request)
    if request.baseline is None:
        return said
    cases = [
        ForeseenCase(
            entry.title,
            entry.results,
            range(1, entry.wanted + 1),
            entry.campaign == Campaigning.NEW,
        )
        for entry in plan.entries
        if entry.results is not None
    ]
    return [*said, *foresee_comparison(request.baseline, cases)]


def _runs_by_default(plan: SuitePlan, request: ExecutionOptions) -> list[str]:
    """Say each number of runs that comparisons ask for; the fewest serve the median alone."""
    chosen = [case for case, _ in plan.cases]
    family = chosen if request.baseline else ()
    needs = {
        (entry.wanted, comparisons_of(entry.case, family))
        for entry in plan.entries
        if entry.case and entry.runs and entry.wanted > FEWEST
    }
    return [
        f"{runs} runs: so many can tell {n:,} comparisons apart at the {percent(LEVEL)} level"
        for runs, n in sorted(needs)
    ]
