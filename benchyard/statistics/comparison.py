"""A candidate's values against a baseline's: what differs, and what may be said about it.

A difference is called only if it is significant *and* large enough to matter. Significance alone
calls any trifle with enough runs; size alone calls noise with few.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from benchyard.statistics.intervals import Interval
from benchyard.statistics.measures import median
from benchyard.statistics.pairs import (
    middle_difference,
    middle_ratio,
    signed_rank_test,
    smallest_paired_p,
)
from benchyard.statistics.ranks import (
    RankTest,
    Shift,
    difference_of,
    rank_test,
    ratio_of,
    smallest_p,
)

#: Probability of calling even one difference where there is none, over all that is compared.
LEVEL = 0.01
#: Smaller changes are not called. Mytkowicz, Diwan, Hauswirth and Sweeney, 2009, "Producing wrong
#: data without doing anything obviously wrong!", ASPLOS, measure biases of some percent from the
#: size of the environment and the order of linking alone; 1 % is the least that is worth a look.
THRESHOLD = 0.01


class Verdict(Enum):
    """What a comparison comes to."""

    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    CHANGE = "change"
    NO_CHANGE_SHOWN = "no change shown"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Difference:
    """How two samples of one metric differ; before any correction for many comparisons.

    Args:
        baseline_n: Number of the baseline's values.
        candidate_n: Number of the candidate's values.
        baseline_median: None without values, as are all figures below that need them.
        candidate_median: In the unit of the values.
        shift: Candidate minus baseline (Hodges-Lehmann), in the unit of the values.
        shift_interval: Of the shift; its level is 1 - level.
        ratio: Candidate by baseline: 1.02 is 2 % more. None where the baseline's median is 0, or
            below and not all values are.
        ratio_interval: Of the ratio; where the values have no common sign it is the shift's
            interval by the baseline's median, which is then taken as known.
        p_value: Two-sided, exact unless ``exact`` is False; 1 without values.
        reachable_p: The smallest p-value that samples of these sizes can have.
        exact: Whether the p-value was counted out.
        smaller_is_better: None where neither direction is better.
        level: Probability of a false call that is accepted, over the whole family.
        threshold: Smallest relative change that is called.
    """

    baseline_n: int
    candidate_n: int
    baseline_median: float | None
    candidate_median: float | None
    shift: float | None
    shift_interval: Interval
    ratio: float | None
    ratio_interval: Interval
    p_value: float
    reachable_p: float
    exact: bool
    smaller_is_better: bool | None
    level: float
    threshold: float

    @property
    def change(self) -> float | None:
        """The change by the size of the baseline's median: 0.02 is 2 % more; None if that is 0."""
        if self.shift is None or not self.baseline_median:
            return None
        if self.ratio is None:
            return self.shift / abs(self.baseline_median)
        return math.copysign(self.ratio - 1, (self.ratio - 1) * self.baseline_median)

    @property
    def matters(self) -> bool:
        """Whether the change is as large as the threshold; any change from 0 is."""
        return bool(self.shift) if self.change is None else abs(self.change) >= self.threshold


@dataclass(frozen=True, slots=True)
class Judgement:
    """A difference among all that it was looked at with.

    Args:
        verdict: What it comes to.
        p_value: Adjusted for the family, by Holm.
        needed_p: How small the unadjusted p-value had to be to be called, given the others.
    """

    verdict: Verdict
    p_value: float
    needed_p: float


def compare_samples(
    baseline: Sequence[float],
    candidate: Sequence[float],
    *,
    smaller_is_better: bool | None = True,
    level: float = LEVEL,
    threshold: float = THRESHOLD,
) -> Difference:
    """Compare one metric's values, one for each run; ``judge`` says what to make of many of these.

    Args:
        baseline: Shape (n,), finite; may be empty.
        candidate: Shape (m,), finite; may be empty.
        smaller_is_better: None where neither direction is better.
        level: From 0 to 1; the intervals cover with 1 - level.
        threshold: Relative, 0 or more.
    """
    n, m = len(baseline), len(candidate)
    nothing = Interval(level=1 - level)
    shift, ratio = Shift(None, nothing), Shift(None, nothing)
    test = RankTest(0.0, 1.0, 1.0, 1.0, exact=True)
    if n and m:
        shift = difference_of(baseline, candidate, 1 - level)
        ratio = _ratio(baseline, candidate, shift, 1 - level)
        test = rank_test(baseline, candidate)
    found = _Found(shift, ratio, test, smallest_p(n, m) if n and m else 1.0)
    return _difference(baseline, candidate, found, smaller_is_better, level, threshold)


def compare_pairs(
    baseline: Sequence[float],
    candidate: Sequence[float],
    *,
    smaller_is_better: bool | None = True,
    level: float = LEVEL,
    threshold: float = THRESHOLD,
) -> Difference:
    """Compare two metrics of the same runs, such as the durations of two of their steps.

    Args:
        baseline: Shape (n,), n >= 1, finite.
        candidate: Shape (n,): of the same run at the same place.
        smaller_is_better: As ``level`` and ``threshold`` in ``compare_samples``.
    """
    moved = [after - before for before, after in zip(baseline, candidate, strict=True)]
    shift = middle_difference(moved, 1 - level)
    if _same_sign(baseline, candidate):
        ratios = [after / before for before, after in zip(baseline, candidate, strict=True)]
        ratio, test = middle_ratio(ratios, 1 - level), signed_rank_test(list(map(math.log, ratios)))
    else:
        ratio = _ratio_of_shift(median(baseline), shift, 1 - level)
        test = signed_rank_test(moved)
    found = _Found(shift, ratio, test, smallest_paired_p(len(moved)))
    return _difference(baseline, candidate, found, smaller_is_better, level, threshold)


class _Found(NamedTuple):
    """What a test says of two samples."""

    shift: Shift
    ratio: Shift
    test: RankTest
    reachable_p: float


def _difference(
    baseline: Sequence[float],
    candidate: Sequence[float],
    found: _Found,
    smaller_is_better: bool | None,  # noqa: FBT001
    level: float,
    threshold: float,
) -> Difference:
    return Difference(
        baseline_n=len(baseline),
        candidate_n=len(candidate),
        baseline_median=median(baseline) if baseline else None,
        candidate_median=median(candidate) if candidate else None,
        shift=found.shift.estimate,
        shift_interval=found.shift.interval,
        ratio=found.ratio.estimate,
        ratio_interval=found.ratio.interval,
        p_value=found.test.p_two_sided,
        reachable_p=found.reachable_p,
        exact=found.test.exact,
        smaller_is_better=smaller_is_better,
        level=level,
        threshold=threshold,
    )


def judge(differences: Sequence[Difference], level: float | None = None) -> tuple[Judgement, ...]:
    """Return the verdict of each difference, in their order, corrected for all of them together.

    The probability that one or more of them is called a regression or an improvement although
    nothing differs is at most the level, whatever the number of steps and metrics compared.

    Args:
        differences: Shape (comparisons,): everything that was looked at, not only what is striking.
        level: Of the whole family; None takes the smallest of the differences' own.
    """
    if not differences:
        return ()
    family = min(one.level for one in differences) if level is None else level
    adjusted = holm([one.p_value for one in differences])
    needed = needed_p(adjusted, family)
    return tuple(
        Judgement(_verdict(one, p <= family, one.reachable_p <= needed), p, needed)
        for one, p in zip(differences, adjusted, strict=True)
    )


def judge_families(
    differences: Sequence[Difference], families: Sequence[Hashable]
) -> list[Judgement]:
    """Return the verdict of each difference, in their order, each family judged by itself.

    Args:
        families: Of each difference the family it belongs to.
    """
    members: dict[Hashable, list[Difference]] = {}
    for one, family in zip(differences, families, strict=True):
        members.setdefault(family, []).append(one)
    judged = {family: iter(judge(of_family)) for family, of_family in members.items()}
    return [next(judged[family]) for family in families]


def _verdict(one: Difference, significant: bool, could_be: bool) -> Verdict:  # noqa: FBT001
    if significant and one.matters and one.shift:
        if one.smaller_is_better is None:
            return Verdict.CHANGE
        worse = (one.shift > 0) is one.smaller_is_better
        return Verdict.REGRESSION if worse else Verdict.IMPROVEMENT
    return Verdict.NO_CHANGE_SHOWN if significant or could_be else Verdict.CANNOT_TELL


def _ratio(
    baseline: Sequence[float], candidate: Sequence[float], shift: Shift, level: float
) -> Shift:
    if _same_sign(baseline, candidate):
        return ratio_of(list(map(abs, baseline)), list(map(abs, candidate)), level)
    return _ratio_of_shift(median(baseline), shift, level)


def _same_sign(baseline: Sequence[float], candidate: Sequence[float]) -> bool:
    return min(*baseline, *candidate) > 0 or max(*baseline, *candidate) < 0


def _ratio_of_shift(scale: float, shift: Shift, level: float) -> Shift:
    ends = shift.interval
    if scale <= 0 or shift.estimate is None:
        return Shift(None, Interval(level=level))
    low, high = (None if end is None else 1 + end / scale for end in (ends.low, ends.high))
    return Shift(1 + shift.estimate / scale, Interval(low, high, level, ends.coverage))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values adjusted for being looked at together, in the order given.

    Calling a difference shown where its adjusted p-value is at most the level keeps the
    probability of even one false call, over all of them and however they depend on each other, at
    most the level. That is what a build that fails on any regression needs. The false discovery
    rate (Benjamini and Hochberg) promises less: some of the calls may be false.

    Args:
        p_values: Shape (tests,), from 0 to 1.

    Source: Holm, 1979, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (2), 65-70.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for done, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - done) * p_values[position]))
        adjusted[position] = highest
    return tuple(adjusted)


def needed_p(adjusted: Sequence[float], level: float) -> float:
    """Return how small a p-value had to be for one more of the tests to be called.

    Args:
        adjusted: What ``holm`` returned.
        level: The level of the whole family.

    Source: Holm, 1979, section 2: with R of k tests called, the next is held against
    level / (k - R).
    """
    left = sum(p > level for p in adjusted)
    return level / left if left else level
