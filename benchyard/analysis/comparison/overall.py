"""All steps of two sides in one ratio: the geometric mean over the steps, run by run.

Each run gives one value, the geometric mean of its steps' values; the runs of both sides are then
compared as those of one step are. So every step weighs the same, however long it takes, the mean
does not depend on which side is the baseline, and what the steps of a run share (a slow moment) is
not counted as if it were independent.
These values have a test of their own, before those of the steps and apart from them: the lines over
all steps are one family (and those of metrics that explain another), the steps another, each at
the whole level. To test the steps only where
this one calls something (a fixed sequence) would lose steps that differ in opposite directions.
Source of the mean: Fleming and Wallace, 1986, "How not to lie with statistics: the correct way to
summarize benchmark results", Communications of the ACM 29 (3), 218-221. Of the ratio and its
interval: ``benchyard.statistics.ranks.ratio_of`` and ``benchyard.statistics.pairs.middle_ratio``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchyard.analysis.comparison.rows import Comparison, Row
from benchyard.analysis.comparison.sessions import BetweenSessions, SessionHistory
from benchyard.statistics.comparison import (
    Difference,
    Judgement,
    Verdict,
    compare_pairs,
    compare_samples,
    judge_families,
)

_UNJUDGED = Judgement(Verdict.CANNOT_TELL, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Overall:
    """One metric over all steps of two sides.

    Args:
        baseline_side: How the side is called; likewise ``candidate_side``.
        unit: Of the medians of the runs' geometric means.
        steps: How many steps it is the mean of.
        left_out: Names of the steps without values above 0 in half of the runs of a side or more.
        difference: Of the runs' geometric means; its interval is for this one alone.
        judgement: Among all lines over the steps.
        between: As of a row.
        busy: Whether suspect values count.
    """

    baseline_side: str
    candidate_side: str
    metric: str
    unit: str | None
    steps: int
    left_out: tuple[str, ...]
    difference: Difference
    judgement: Judgement = _UNJUDGED
    between: BetweenSessions | None = None
    busy: bool = False


def overall(comparison: Comparison) -> tuple[Overall, ...]:
    """Return every two sides and metric with at least two steps, in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in comparison.rows:
        key = (row.pair.baseline_side, row.pair.candidate_side, row.metric)
        groups.setdefault(key, []).append(row)
    level, history = comparison.rule.level, comparison.history
    made = [
        (one, all(row.explains for row in rows))
        for rows in groups.values()
        if len(rows) > 1 and (one := _of_rows(rows, level, history))
    ]
    judged = judge_families([one.difference for one, _ in made], [family for _, family in made])
    return tuple(replace(one, judgement=its) for (one, _), its in zip(made, judged, strict=True))


def _of_rows(rows: Sequence[Row], level: float, history: SessionHistory) -> Overall | None:
    counted = [row for row in rows if _counts(row)]
    if len(counted) < 2:
        return None
    cases: dict[str, list[Row]] = {}
    for row in counted:
        cases.setdefault(row.pair.key, []).append(row)
    sides = [
        _over_cases([_means([_values(row)[at] for row in of_case]) for of_case in cases.values()])
        for at in (0, 1)
    ]
    same_runs = all(row.pair.of_same_runs for row in counted)
    compare = compare_pairs if same_runs and len(sides[0]) == len(sides[1]) else compare_samples
    first = rows[0]
    inside = compare(
        *sides, smaller_is_better=None, level=level, threshold=first.difference.threshold
    )
    parts = [
        of_case[0].pair.steps(
            (row.baseline.id for row in of_case), (row.candidate.id for row in of_case)
        )
        for of_case in cases.values()
    ]
    between = history.between(parts, first.metric, sides, inside)
    return Overall(
        *(first.pair.baseline_side, first.pair.candidate_side, first.metric, first.unit),
        len(counted),
        tuple(row.candidate.name for row in rows if row not in counted),
        between.held_against(inside) if between else inside,
        between=between,
        busy=any(row.busy for row in counted),
    )


def _values(row: Row) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Return the values of both sides by the runs' numbers."""
    one, other = (side.by_run.get(row.metric, {}) for side in (row.baseline, row.candidate))
    return one, other


def _counts(row: Row) -> bool:
    """Tell whether a step has a logarithm in more than half of the runs of both sides."""
    runs = (len(row.pair.baseline.records), len(row.pair.candidate.records))
    return all(
        2 * len(values) > n and min(values.values()) > 0
        for values, n in zip(_values(row), runs, strict=True)
    )


def _means(steps: Sequence[Mapping[int, float]]) -> list[tuple[float, int]]:
    """Return the sum of the logarithms, and their number, of each run that has all steps."""
    runs = [run for run in steps[0] if all(run in step for step in steps)]
    return [(math.fsum(math.log(step[run]) for step in steps), len(steps)) for run in runs]


def _over_cases(cases: Sequence[Sequence[tuple[float, int]]]) -> list[float]:
    """Return the geometric mean of the n-th runs of all cases, as far as every case has one.

    Runs of two cases are independent: which of them are taken together changes nothing.
    """
    return [_mean(runs) for runs in zip(*cases, strict=False)]


def _mean(runs: Sequence[tuple[float, int]]) -> float:
    return math.exp(math.fsum(total for total, _ in runs) / sum(steps for _, steps in runs))
