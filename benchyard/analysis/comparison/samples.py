"""One value a run, of each step and metric, and how many executions had to be left out.

Runs are what is independent. Repetitions inside a run share its process, caches and memory layout:
to count each of them would make a comparison look surer than it is. So a run's value is the median
of its repetitions, as in ``summary.json``.
Source: T. Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013, section 4.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import percent
from benchyard.results.record import Repetition, StepRecord
from benchyard.results.summary_metrics import (
    Kinds,
    counting,
    declared_kinds,
    left_out,
    unit_and_direction,
)
from benchyard.results.trust import FEWEST_TRUSTED, Suspect
from benchyard.statistics import median
from benchyard.statistics.pairs import fewest_pairs, smallest_paired_p
from benchyard.statistics.ranks import fewest_against, fewest_values, smallest_p

#: Outcomes of a step that was tried and did not do what it should.
FAILURES = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.TOLERATED)
DURATION = "duration_s"


@dataclass(frozen=True, slots=True)
class StepSample:
    """What the runs of one side say of one step.

    Args:
        measured: Whether its numbers count; False for set-up.
        executed: In how many runs it was tried to its end, failures included.
        failed: In how many of these it failed; tolerated failures are failures.
        left_out: Why executions do not count, to how many; the reasons of ``summary.json``.
        values: Metric to the run's values, one for each run that knows it, in order of the runs.
        by_run: The same by the run's number.
        kinds: Unit and direction of the metrics that the step declares.
        counted: How many executions the values are of.
        suspect: How many of these are suspect.
        doubts: Why, all reasons one after another.
    """

    index: int
    id: str
    name: str
    measured: bool
    executed: int
    failed: int
    left_out: Mapping[str, Json]
    values: Mapping[str, tuple[float, ...]]
    by_run: Mapping[str, Mapping[int, float]]
    kinds: Kinds = field(default_factory=dict[str, "tuple[str | None, str | None]"])
    counted: int = 0
    suspect: int = 0
    doubts: tuple[str, ...] = ()

    def unit_and_direction(self, metric: str) -> tuple[str | None, str | None]:
        """Return what the step declares of a metric, or what its name tells."""
        return self.kinds.get(metric) or unit_and_direction(metric)


def sample(run_set: RunSet, *, include_suspect: bool = False) -> dict[str, StepSample]:
    """Return the values of every step of one side, by the step's id.

    Args:
        include_suspect: Take executions in whose numbers are not to be trusted.
    """
    finished = run_set.steps(run_set.records)
    broken = run_set.steps(run_set.failed)
    return {
        step_id: _step(
            finished.get(step_id, {}),
            [*broken.get(step_id, {}).values()],
            include_suspect=include_suspect,
        )
        for step_id in finished | broken
    }


def _step(
    finished: Mapping[int, StepRecord], broken: Sequence[StepRecord], *, include_suspect: bool
) -> StepSample:
    """Sum up a step.

    Args:
        finished: Its records in finished runs, by the run's number.
        broken: Its records in failed runs.
    """
    steps = [*finished.values(), *broken]
    # What succeeded in a run that failed elsewhere is no measurement: that run did not happen.
    taken = {n: counting(one, include_suspect=include_suspect) for n, one in finished.items()}
    by_run = _by_run({n: repetitions for n, repetitions in taken.items() if repetitions})
    doubts = [finished[n].suspect for n, repetitions in taken.items() if repetitions]
    outcomes = Counter(step.outcome for step in steps)
    last = max(steps, key=lambda step: step.measure)
    return StepSample(
        index=last.index,
        id=last.id,
        name=last.name,
        measured=last.measure,
        executed=len(steps) - outcomes[Outcome.SKIPPED] - outcomes[Outcome.CANCELLED],
        failed=sum(outcomes[outcome] for outcome in FAILURES),
        left_out=left_out(finished, broken, include_suspect=include_suspect),
        values={name: tuple(values.values()) for name, values in by_run.items()},
        by_run=by_run,
        kinds=declared_kinds(last),
        counted=len(doubts),
        suspect=sum(map(bool, doubts)),
        doubts=tuple(reason for reasons in doubts for reason in reasons),
    )


def _by_run(runs: Mapping[int, Sequence[Repetition]]) -> dict[str, dict[int, float]]:
    """Return metric to the value of each run; ``runs``: number to the repetitions that count."""
    ours = {DURATION} | {name for run in runs.values() for made in run for name in made.used}
    found: dict[str, dict[int, float]] = {}
    for number, run in runs.items():
        for name, value in _medians([_numbers(made, ours) for made in run]).items():
            found.setdefault(name, {})[number] = value
    return found


def _medians(repetitions: Sequence[dict[str, float]]) -> dict[str, float]:
    if len(repetitions) == 1:
        return repetitions[0]
    names = dict.fromkeys(name for one in repetitions for name in one)
    return {name: median([one[name] for one in repetitions if name in one]) for name in names}


def _numbers(made: Repetition, ours: set[str]) -> dict[str, float]:
    """Return what one repetition knows in numbers, under the names of ``summary.json``."""
    found = {DURATION: float(made.duration_s)}
    found |= {name: float(value) for name, value in made.used.items() if value is not None}
    for name, value in made.values.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            # A command may report what the lab measures too; neither may hide the other.
            found[f"reported_{name}" if name in ours else name] = float(value)
    return found


# -- which values count where executions are suspect: of both sides alike


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


# -- what so few runs can never tell


def cannot_tell(n_baseline: int, n_candidate: int, level: float, comparisons: int = 1) -> str:
    """Say that so many runs cannot show any difference, however large, and how many can.

    The level is divided among the comparisons (Bonferroni): Holm's correction, which judges them
    later, asks for no more than that, and for as much from the first one that it calls.

    Args:
        n_baseline: Runs of the baseline that count, as ``n_candidate`` those of the candidate.
        level: Of all comparisons together, from 0 to 1.
        comparisons: Steps times metrics (and pairs of sides) that are tested together.

    Returns:
        A clause such as "5 and 5 runs cannot tell at the 1 % level over 22 comparisons; 8 and 8
        can, or 12 against the baseline's 5"; empty where they can tell.
    """
    each = level / max(1, comparisons)
    if n_baseline and n_candidate and smallest_p(n_baseline, n_candidate) <= each:
        return ""
    few = f"{n_baseline} and {n_candidate} runs cannot tell {_at(level, comparisons)}"
    return f"{few}; {_enough(n_baseline, each)}"


def pairs_cannot_tell(n: int, level: float, comparisons: int = 1) -> str:
    """Say the same of runs that both values are of, such as the durations of two of their steps."""
    each = level / max(1, comparisons)
    if smallest_paired_p(n) <= each:
        return ""
    return f"{n} runs cannot tell {_at(level, comparisons)}; {fewest_pairs(each)} can"


def _at(level: float, comparisons: int) -> str:
    over = f" over {comparisons:,} comparisons" if comparisons > 1 else ""
    return f"at the {percent(level, 4)} level{over}"


def _enough(n_baseline: int, level: float) -> str:
    equal, against = fewest_values(level), fewest_against(n_baseline, level)
    if against is not None and against <= equal:
        return f"{against} against the baseline's {n_baseline} can"
    more = f", or {against} against the baseline's {n_baseline}" if against else ""
    return f"{equal} and {equal} can{more}"
