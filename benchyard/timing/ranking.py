"""What the executions say: who is faster, by how much, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from benchyard.core.quantity import percent
from benchyard.statistics.comparison import (
    Difference,
    Judgement,
    Verdict,
    compare_samples,
    judge,
)
from benchyard.statistics.intervals import Interval, median_interval
from benchyard.statistics.measures import median
from benchyard.statistics.sequential import relative_half_width
from benchyard.timing.plan import Plan


@dataclass(frozen=True, slots=True)
class Pair:
    """Two commands against each other.

    Args:
        faster: Place of the one with the smaller median.
        slower: Place of the other.
        difference: The slower one's times against the faster one's.
        judgement: Corrected for all pairs and all looks.
    """

    faster: int
    slower: int
    difference: Difference
    judgement: Judgement

    @property
    def told_apart(self) -> bool:
        """Whether the one is shown to be faster than the other."""
        return self.judgement.verdict in {Verdict.REGRESSION, Verdict.IMPROVEMENT}

    @property
    def precision(self) -> float | None:
        """How far the ratio's interval reaches from it, relative to it; None without one."""
        ratio, ends = self.difference.ratio, self.difference.ratio_interval
        if not ratio or ends.low is None or ends.high is None:
            return None
        return max(ends.high - ratio, ratio - ends.low) / ratio


@dataclass(frozen=True, slots=True)
class Ranking:
    """The commands by their median time.

    Args:
        names: Of the commands, in the order given.
        order: Their places, the fastest first.
        medians: Seconds, in the order given.
        intervals: Of the medians.
        pairs: Each two of them.
        settled: Whether more executions would tell nothing that was asked.
        why: Why, as a sentence; empty while they are not.
        level: Chance of even one wrong verdict, all looks and pairs together.
        rounds: Executions of each that it stands on.
    """

    names: Sequence[str]
    order: Sequence[int]
    medians: Sequence[float]
    intervals: Sequence[Interval]
    pairs: Sequence[Pair]
    settled: bool
    why: str
    level: float
    rounds: int

    def pair(self, one: int, other: int) -> Pair:
        """Return the pair of two places."""
        return next(each for each in self.pairs if {each.faster, each.slower} == {one, other})


def rank(
    names: Sequence[str], times: Sequence[Sequence[float]], *, share: float, plan: Plan
) -> Ranking:
    """Rank commands by their times.

    Args:
        names: Of the commands.
        times: Of each the seconds of its executions.
        share: Chance of even one wrong verdict at this look.
        plan: What is wanted of the numbers.
    """
    medians = [median(some) for some in times]
    order = sorted(range(len(times)), key=medians.__getitem__)
    pairs = _pairs(order, times, share, plan)
    intervals = [median_interval(some, 1 - share / len(times)) for some in times]
    why = _settled(pairs, times, intervals, plan)
    return Ranking(
        names, order, medians, intervals, pairs, bool(why), why, plan.level, len(times[0])
    )


def _pairs(
    order: Sequence[int], times: Sequence[Sequence[float]], share: float, plan: Plan
) -> list[Pair]:
    places = list(combinations(order, 2))
    differences = [
        compare_samples(
            times[faster], times[slower], level=share / len(places), threshold=plan.threshold
        )
        for faster, slower in places
    ]
    judged = judge(differences, share)
    return [
        Pair(*place, difference, judgement)
        for place, difference, judgement in zip(places, differences, judged, strict=True)
    ]


def _settled(
    pairs: Sequence[Pair],
    times: Sequence[Sequence[float]],
    intervals: Sequence[Interval],
    plan: Plan,
) -> str:
    wanted = f"±{percent(plan.until, 6)}"
    if not pairs:
        width = relative_half_width(times[0], intervals[0])
        precise = width is not None and width <= plan.until
        return f"the median is known to {wanted}" if precise else ""
    open_pairs = [pair for pair in pairs if not pair.told_apart]
    if not open_pairs:
        return "all are told apart" if len(pairs) > 1 else "they are told apart"
    if all(pair.precision is not None and pair.precision <= plan.until for pair in open_pairs):
        return f"what is not told apart is known to {wanted}"
    return ""
