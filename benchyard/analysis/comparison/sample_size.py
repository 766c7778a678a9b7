"""How many runs a wanted sensitivity takes, told from the spread of a baseline.

The document, format ``benchyard-comparison-plan``:

baseline: as the user wrote it. sensitivity: the wanted one; relative, as all below. level: of all
comparisons together. power: the probability of showing a change of that size.
needed_runs: of each side, for every step; null if one of them cannot be told. summary: a sentence.
steps: the most demanding first, each with case, step (id), name, metric, runs (that there are),
  median, unit, spread (standard deviation by median, outliers drawn in), smallest_change (that as
  many runs on both sides show) and needed_runs; null is unknown, or more than can be planned.

Versions of the format:
1: the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import StepSample, sampled
from benchyard.analysis.comparison.verdicts import Rule, choose_metrics
from benchyard.core.errors import InputError
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import UNKNOWN, number, percent
from benchyard.core.table import NUMBER, TEXT, Cell, Field, Table
from benchyard.statistics import median
from benchyard.statistics.ranks import fewest_values
from benchyard.statistics.sensitivity import (
    MOST_RUNS,
    POWER,
    relative_spread,
    runs_for_change,
    smallest_change,
)

FORMAT = "benchyard-comparison-plan"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Demand:
    """What one step and metric takes.

    Args:
        step: Its id.
        runs: How many there are.
        unit: Of the median.
        spread: Relative standard deviation; None below two runs, and for a median of 0.
        smallest_change: Smallest relative change that as many runs on both sides show; None if they
            cannot reach the level.
        needed_runs: Runs of each side; None if unknown, or more than can be planned.
    """

    case: str
    step: str
    name: str
    metric: str
    runs: int
    median: float
    unit: str | None
    spread: float | None
    smallest_change: float | None
    needed_runs: int | None


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """What all steps take.

    Args:
        demands: The most demanding first.
        level_of_each: The level that is left for each comparison.
    """

    sensitivity: float
    level: float
    level_of_each: float
    demands: tuple[Demand, ...]

    @property
    def needed(self) -> int | None:
        """Runs of each side for every step; None if one of them cannot be told."""
        every = [demand.needed_runs for demand in self.demands]
        known = [needed for needed in every if needed is not None]
        return max(known) if len(known) == len(every) else None


def make_plan(run_sets: Mapping[str, RunSet], rule: Rule, sensitivity: float) -> SamplePlan:
    """Tell how many runs each step takes to show a change.

    The level is divided among all comparisons (Bonferroni). Holm's correction, which judges them
    later, asks for no more than that, and for as much from the first one that it calls.

    Args:
        run_sets: The baseline's runs by case.
        sensitivity: The change to be shown, relative.

    Raises:
        InputError: If no step has a value, or none has a metric that is asked for.
    """
    series = [
        (title, step, metric, values)
        for title, runs in run_sets.items()
        for step in sampled(runs, rule.suspect).of_one_side()
        for metric, values in step.values.items()
    ]
    if not series:
        raise InputError("there is nothing to plan with: no measured step succeeded in these runs")
    wanted = choose_metrics([metric for _, _, metric, _ in series], rule.metrics)
    chosen = [one for one in series if one[2] in wanted and rule.asks(one[2], one[1].kinds)]
    each = rule.level / len(chosen)
    demands = [_demand(*one, each, sensitivity) for one in chosen]
    return SamplePlan(sensitivity, rule.level, each, tuple(sorted(demands, key=_ease)))


def _demand(
    case: str,
    step: StepSample,
    metric: str,
    values: Sequence[float],
    level: float,
    sensitivity: float,
) -> Demand:
    spread, n = relative_spread(values), len(values)
    unit, _ = step.unit_and_direction(metric)
    smallest = needed = None
    if spread is not None:
        smallest = smallest_change(spread, n, n, level)
        needed = runs_for_change(spread, sensitivity, level)
    known = (n, median(values), unit, spread, smallest, needed)
    return Demand(case, step.id, step.name, metric, *known)


def _ease(demand: Demand) -> tuple[int, float]:
    """Sort what cannot be told first, then what takes most runs."""
    if demand.needed_runs is None:
        return (0, -(demand.spread or 0.0))
    return (1, -demand.needed_runs)


# -- in words


def _relative(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return percent(value) if value < 1 else f"{number(value)}-fold"


def _needed(demand: Demand) -> str:
    if demand.needed_runs is not None:
        return str(demand.needed_runs)
    return UNKNOWN if demand.spread is None else f"> {MOST_RUNS:,}"


_FIELDS: Sequence[Field] = (
    ("case", "CASE", TEXT, lambda one: one.case),
    ("step", "STEP", TEXT, lambda one: one.name),
    ("metric", "METRIC", TEXT, lambda one: one.metric),
    ("runs", "N", NUMBER, lambda one: one.runs),
    ("median", "MEDIAN", NUMBER, lambda one: Cell.measured(one.median, one.unit)),
    ("spread", "SPREAD", NUMBER, lambda one: _relative(one.spread)),
    ("smallest_change", "SHOWS NOW", NUMBER, lambda one: _relative(one.smallest_change)),
    ("needed_runs", "RUNS NEEDED", NUMBER, _needed),
)


def plan_table(plan: SamplePlan) -> Table:
    """Return the table; columns that say nothing are left out."""
    unsaid = ["CASE"] if len({demand.case for demand in plan.demands}) <= 1 else []
    unsaid += ["METRIC"] if len({demand.metric for demand in plan.demands}) <= 1 else []
    return Table.of_things("plan", "Runs that are needed", _FIELDS, plan.demands).without(unsaid)


def plan_summary(plan: SamplePlan) -> str:
    """Return the whole in a sentence."""
    change, many = percent(plan.sensitivity, 4), len(plan.demands)
    over = f" over {many} comparisons" if many > 1 else ""
    rule = (
        f"in one session, with a probability of {percent(POWER, 4)}, at the "
        f"{percent(plan.level, 4)} level{over}"
    )
    if plan.needed is not None:
        return (
            f"about {plan.needed} runs of each side are needed to show a change of {change} {rule}"
        )
    if any(demand.spread is None for demand in plan.demands):
        few = fewest_values(plan.level_of_each)
        return (
            "of some steps nothing is known: one run has no spread; "
            f"start with {few} runs, the fewest that can show anything{over}, to show a change of "
            f"{change}"
        )
    return f"more than {MOST_RUNS:,} runs would be needed to show a change of {change} {rule}"


def plan_document(plan: SamplePlan, baseline: str) -> JsonObject:
    """Return the document.

    Args:
        baseline: As the user wrote it.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "baseline": baseline,
        "sensitivity": plan.sensitivity,
        "level": plan.level,
        "power": POWER,
        "needed_runs": plan.needed,
        "summary": plan_summary(plan),
        "steps": [cast("Json", asdict(demand)) for demand in plan.demands],
    }
