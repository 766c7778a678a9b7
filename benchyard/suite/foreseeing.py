"""What is known of a plan before it is executed: how long it takes, what it can never tell."""

from collections import Counter
from collections.abc import Sequence

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import DURATION, cannot_tell, sample
from benchyard.analysis.regressions import Baseline
from benchyard.core.errors import InputError
from benchyard.core.quantity import percent
from benchyard.core.wording import printable, some
from benchyard.run.request import FEWEST, Campaigning, ExecutionOptions, comparisons_of
from benchyard.statistics.comparison import LEVEL
from benchyard.suite.plan import ChosenCase, SuitePlan


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
    return [*said, *foresee_comparison(request.baseline, plan.entries)]


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


def foresee_comparison(baseline: str, cases: Sequence[ChosenCase]) -> list[str]:
    """Say of which cases the baseline has nothing, and where so many runs cannot tell.

    Each measured step counts as one comparison, as durations alone are compared, and all cases are
    one family. Runs that will be suspect are not foreseen.

    Args:
        baseline: As the user wrote it, and checked.
        cases: Their results folders need not be there yet.
    """
    before = Baseline(baseline)
    try:
        found = [
            (one, before.before(one.title, results, begins=one.campaign == Campaigning.NEW))
            for one in cases
            if (results := one.results)
        ]
    except (InputError, OSError) as error:
        return [f"a comparison with the baseline is not possible: {error}"]
    without = [one.title for one, runs in found if runs is None]
    steps = {one.title: _values(runs) for one, runs in found if runs is not None}
    over = sum(map(len, steps.values()))
    beyond: dict[str, list[str]] = {}
    for one, runs in found:
        if runs is not None and steps[one.title]:
            own = _others(one, runs)
            text = cannot_tell(max(steps[one.title]), own, Rule().level, over)
            beyond.setdefault(text, []).append(one.title)
    said = [f"{printable(some(titles))}: {text}" for text, titles in beyond.items() if text]
    if without:
        said.append(f"nothing to compare with: {printable(some(without))}")
    return [f"against {printable(baseline)}: {text}" for text in said]


def _values(before: RunSet) -> list[int]:
    """Return how many runs of the baseline can count, for each measured step."""
    steps = (one for one in sample(before, include_suspect=True).values() if one.measured)
    return [len(step.values.get(DURATION, ())) for step in steps]


def _others(case: ChosenCase, before: RunSet) -> int:
    """Return how many runs there will be that are not the baseline's own."""
    here = case.results and before.folder.resolve() == case.results.resolve()
    own = before.numbers if here and case.campaign != Campaigning.NEW else ()
    return len({*range(1, case.wanted + 1)} - {*own})
