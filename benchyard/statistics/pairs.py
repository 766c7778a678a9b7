"""Two values of each run, such as of two of its steps: which is larger, by how much.

What two steps of one run share (its process, its caches, the moment) is in both values. The tests
of ``ranks`` take the samples for independent; these look at the difference inside each run.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from benchyard.statistics.distributions import normal_cdf, normal_quantile
from benchyard.statistics.intervals import Interval, allowed_miss
from benchyard.statistics.measures import median_of_sorted
from benchyard.statistics.ranks import RankTest, Shift, doubled_midranks

#: Up to so many pairs the distribution is counted out; beyond, the normal approximation serves.
EXACT = 100


def signed_rank_test(differences: Sequence[float]) -> RankTest:
    """Test whether the differences lie around 0: Wilcoxon's signed rank test.

    Exact, also with ties: the observed sizes get their signs in all ways, each as likely as the
    other. Differences of 0 are left out. That the differences are symmetric around 0 is what
    "nothing differs" means here: both steps of a run could as well be exchanged.

    Args:
        differences: Shape (n,), candidate minus baseline of each run, finite.

    Source: Wilcoxon, 1945, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (6),
    80-83; with ties: Lehmann, 1975, Nonparametrics, chapter 3.
    """
    moved = [one for one in differences if one]
    ranks = doubled_midranks([abs(one) for one in moved])
    above = sum(ranks[one] for one in moved if one > 0)
    doubled = tuple(sorted(ranks[abs(one)] for one in moved))
    if len(moved) > EXACT:
        spread = math.sqrt(sum(rank * rank for rank in doubled)) / 2
        away = above - sum(doubled) / 2
        less, greater = normal_cdf((away + 1) / spread), normal_cdf((1 - away) / spread)
    else:
        less, greater = _share_up_to(above, doubled), _share_up_to(sum(doubled) - above, doubled)
    return RankTest(above / 2, less, greater, min(1.0, 2 * min(less, greater)), len(moved) <= EXACT)


def smallest_paired_p(n: int) -> float:
    """Return the smallest two-sided p-value of n pairs, 2 / 2^n: all differ in one direction."""
    return min(1.0, 2 * 0.5**n)


def fewest_pairs(level: float) -> int:
    """Return the smallest number of pairs that can reach a level."""
    return max(1, math.ceil(1 - math.log2(level)))


def middle_difference(differences: Sequence[float], level: float) -> Shift:
    """Return the Hodges-Lehmann estimate of the differences' centre, with its exact interval.

    It is the median of the means of every two of them, each with itself included. The interval
    leaves out 0 exactly if ``signed_rank_test`` is significant, where no sizes are equal.

    Args:
        differences: Shape (n,), n >= 1, finite.
        level: What the interval is to cover, from 0 to 1.

    Source: Hodges and Lehmann, 1963, "Estimates of location based on rank tests", Annals of
    Mathematical Statistics 34 (2), 598-611; the interval, of Tukey: Hollander and Wolfe, 1999,
    Nonparametric Statistical Methods, 2nd edition, 3.2 and 3.3.
    """
    means = sorted((a + b) / 2 for at, a in enumerate(differences) for b in differences[at:])
    rank, coverage = _end(len(differences), level)
    ends = (means[rank - 1], means[-rank]) if rank else (None, None)
    return Shift(median_of_sorted(means), Interval(*ends, level, coverage))


def middle_ratio(ratios: Sequence[float], level: float) -> Shift:
    """Return the same of ratios, all above 0: of their logarithms, taken back."""
    made = middle_difference([math.log(one) for one in ratios], level)
    low, high = (None if end is None else math.exp(end) for end in made.interval[:2])
    estimate = None if made.estimate is None else math.exp(made.estimate)
    return Shift(estimate, made.interval._replace(low=low, high=high))


@lru_cache(maxsize=256)
def _end(n: int, level: float) -> tuple[int, float]:
    """Return which of the means in order ends the interval, from 1 on (0: none), and coverage."""
    half = allowed_miss(level) / 2
    if n > EXACT:
        away = -normal_quantile(half) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return math.floor(n * (n + 1) / 4 - away), level
    ranks = tuple(range(1, n + 1))
    rank, beyond = 0, 0.0
    while (share := _share_up_to(rank, ranks)) <= half:
        rank, beyond = rank + 1, share
    return rank, 1 - 2 * (beyond if rank else 0.5**n)


def _share_up_to(most: int, ranks: tuple[int, ...]) -> float:
    """Return in which share of all ways the ranks that get a plus sum up to at most ``most``."""
    ways = _ways(ranks)
    return ways[min(most, len(ways) - 1)] / ways[-1]


@lru_cache(maxsize=64)
def _ways(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Return in how many ways the ranks with a plus sum up to at most 0, 1, and so on."""
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        ways = [one + (ways[at - rank] if at >= rank else 0) for at, one in enumerate(ways)]
    return tuple(accumulate(ways))
