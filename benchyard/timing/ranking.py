"""How often the commands are executed, and what their times say: who is faster, and how surely.

A plan says after how many rounds their numbers are looked at, and what may go wrong at each look.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Annotated

from benchyard.core.fields import Share
from benchyard.core.quantity import percent, plural
from benchyard.statistics.comparison import Difference, compare_samples
from benchyard.statistics.intervals import Interval, median_interval
from benchyard.statistics.measures import median
from benchyard.statistics.ranks import fewest_values, smallest_p
from benchyard.statistics.sensitivity import (
    level_at,
    looks,
    open_level,
    open_looks,
    relative_half_width,
)

#: Executions of each command before the first look, unless they take longer than ``FIRST_S``.
FIRST = 10
#: Seconds after which the first look is taken, if six executions of each are there by then: with
#: fewer the test cannot reach the level that it has at the first look.
FIRST_S = 3.0
_FEWEST = 6
#: More executions of each add nothing to what a second-long look at them costs.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """When to look, and what may stop the executions.

    Args:
        minimum: Rounds before the first look; a round executes each command once.
        maximum: Rounds after which no more follow; None where only the numbers and the clock stop.
        until: Relative precision of the difference that is enough.
        level: Chance of even one wrong verdict, over all pairs and looks together.
        threshold: Smallest relative difference that is called.
        min_time: Seconds of each, at least.
        max_time: Seconds after which no further round begins.
    """

    minimum: int = FIRST
    maximum: int | None = None
    until: Annotated[float, Share()] = 0.01
    level: Annotated[float, Share()] = 0.01
    threshold: float = 0.01
    min_time: float = 0.0
    max_time: float = 60.0

    def levels(self) -> Iterator[tuple[int, float]]:
        """Yield after how many rounds to look, ascending, and what may go wrong at that look."""
        if self.maximum is None:
            yield from self._open()
            return
        declared = looks(self.minimum, self.maximum, 1 - self.level)
        share = 1 - level_at(declared, 1 - self.level)
        yield from ((at, share) for at in declared)

    def _open(self) -> Iterator[tuple[int, float]]:
        for number, at in enumerate(open_looks(self.minimum), start=1):
            yield min(at, MOST), 1 - open_level(number, 1 - self.level)
            if at >= MOST:
                return


def cannot_tell(plan: Plan, commands: int) -> str:
    """Say that so many executions can tell no two commands apart, however they differ.

    Returns:
        A sentence, with how many can; empty where they can, and where no number is given.
    """
    if plan.maximum is None or commands < 2:
        return ""
    *_, (n, share) = plan.levels()
    pairs = math.comb(commands, 2)
    if smallest_p(n, n) <= share / pairs:
        return ""
    over = f" over {pairs:,} comparisons" if pairs > 1 else ""
    return (
        f"{plural(n, 'execution')} of each cannot tell at the {percent(plan.level, 4)} level"
        f"{over}; {fewest_values(share / pairs)} can"
    )


def minimum_for(round_s: float) -> int:
    """Return the rounds before the first look, where one takes so many seconds.

    It is fixed by the first round alone, before any numbers are compared.
    """
    return max(_FEWEST, min(FIRST, math.floor(FIRST_S / max(round_s, 1e-9))))


def last_level(plan: Plan, looks_taken: int) -> float:
    """Return what may go wrong at a look that was not declared, because time ran out.

    It spends what the next look would have had, which then is never taken.
    """
    shares = [share for _, share in islice(plan.levels(), looks_taken + 1)]
    return shares[-1]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two commands against each other.

    Args:
        first: Place of the one whose times are shorter, by the ratio's estimate.
        second: Place of the other.
        difference: The second one's times against the first one's; its interval holds for all
            pairs and looks together.
    """

    first: int
    second: int
    difference: Difference

    @property
    def told_apart(self) -> bool:
        """Whether the first is shown to be faster, by its interval, and by enough to matter."""
        return self.differ and self.difference.matters

    @property
    def differ(self) -> bool:
        """Whether the interval of the ratio leaves out 1."""
        return (self.difference.ratio_interval.low or 0.0) > 1

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
        order: Their places, the fastest first; last those that have no times.
        intervals: Of the medians, in the order given.
        pairs: Each two of them that have times.
        why: Why more executions would tell nothing that was asked, as a sentence; empty while
            they would.
        level: Chance of even one wrong verdict, all looks and pairs together.
        rounds: Executions of each that it stands on, failed ones included.
    """

    names: Sequence[str]
    order: Sequence[int]
    intervals: Sequence[Interval]
    pairs: Sequence[Pair]
    why: str
    level: float
    rounds: int


def rank(
    names: Sequence[str], times: Sequence[Sequence[float]], *, share: float, plan: Plan
) -> Ranking:
    """Rank commands by their times.

    Args:
        names: Of the commands.
        times: Of each the seconds of its executions that did not fail; may be empty.
        share: Chance of even one wrong verdict at this look.
        plan: What is wanted of the numbers.
    """
    timed = sorted((at for at, some in enumerate(times) if some), key=lambda at: median(times[at]))
    order = [*timed, *(at for at, some in enumerate(times) if not some)]
    pairs = _pairs(timed, times, share, plan)
    intervals = [
        median_interval(some, 1 - share / len(times)) if some else Interval() for some in times
    ]
    why = _settled(pairs, [times[at] for at in timed], [intervals[at] for at in timed], plan)
    rounds = max(map(len, times))
    return Ranking(names, order, intervals, pairs, why, plan.level, rounds)


def _pairs(
    order: Sequence[int], times: Sequence[Sequence[float]], share: float, plan: Plan
) -> list[Pair]:
    """Compare each two with intervals that hold together, by Bonferroni's inequality.

    A verdict by Holm's correction would contradict some of them.
    """
    places = list(combinations(order, 2))
    return [_pair(place, times, share / len(places), plan) for place in places]


def _pair(
    place: tuple[int, int], times: Sequence[Sequence[float]], level: float, plan: Plan
) -> Pair:
    first, second = place
    difference = compare_samples(times[first], times[second], level=level, threshold=plan.threshold)
    if difference.ratio and difference.ratio < 1:
        # The ratio goes by all values, and may say the reverse of two medians.
        return _pair((second, first), times, level, plan)
    return Pair(first, second, difference)


def _settled(
    pairs: Sequence[Pair],
    times: Sequence[Sequence[float]],
    intervals: Sequence[Interval],
    plan: Plan,
) -> str:
    wanted = f"±{percent(plan.until, 6)}"
    if not times:
        return "all executions failed"
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
