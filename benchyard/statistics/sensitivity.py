"""What a number of runs can show, and how many runs it takes: asked before and after measuring.

Spreads, changes and half-widths are relative: 0.01 is 1 % of the median.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from benchyard.statistics.diagnostics import drawn_in
from benchyard.statistics.distributions import normal_quantile, student_quantile
from benchyard.statistics.intervals import LEVEL, median_rank
from benchyard.statistics.measures import median_of_sorted, stdev
from benchyard.statistics.ranks import pair_rank

#: Level of the test that a change is to be shown by; that of comparisons.
TEST_LEVEL = 0.01
#: Probability of showing it if it is there.
POWER = 0.95
#: More runs than these are no plan.
MOST_RUNS = 10_000


def relative_spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation by the median, without what outliers add to it.

    One wild value hides nothing from a test by ranks, and says nothing about the other runs.
    Therefore outliers are drawn in to the nearest other value first.

    Args:
        values: Shape (n,), in any order.

    Returns:
        None below two values, and for a median of 0.
    """
    return spread_of_sorted(sorted(values))


def spread_of_sorted(ascending: Sequence[float]) -> float | None:
    """Return the ``relative_spread`` of values that are in ascending order already."""
    if len(ascending) < 2:
        return None
    centre = abs(median_of_sorted(ascending))
    return stdev(drawn_in(ascending)) / centre if centre else None


def smallest_change(spread: float, n: int, m: int, level: float = TEST_LEVEL) -> float | None:
    """Return the smallest relative change that n and m runs show with a probability of ``POWER``.

    Args:
        spread: Relative standard deviation of the runs, of both sides.
        n: Number of runs of the baseline.
        m: Number of runs of the candidate.
        level: Of the two-sided Mann-Whitney test; for many comparisons by their number.

    Returns:
        None if n and m runs cannot reach the level, however large the change.
    """
    known = _smallest_shift(n, m, level)
    return None if known is None else known * spread


@lru_cache(maxsize=1024)
def _smallest_shift(n: int, m: int, level: float) -> float | None:
    """Return the smallest shift that is shown, in standard deviations.

    That of the t test, widened by the rank test's efficiency for normal values, 3 / pi, and at the
    level that the rank test attains. Simulated with a power of 95 % and normal values, 11 % of
    such shifts are missed with 5 and 5 runs, 7 % with 8 or 10 of each, 5 % with 30
    (benchmarks/statistics_power.py).

    Source: Hodges and Lehmann, 1956, "The efficiency of some nonparametric competitors of the
    t-test", Annals of Mathematical Statistics 27 (2), 324-335; the sum of both quantiles of t:
    Snedecor and Cochran, 1980, Statistical Methods, 7th edition, chapter 6.
    """
    if n < 1 or m < 1:
        return None
    rank, coverage = pair_rank(n, m, 1 - level)
    if not rank:
        return None
    freedom = n + m - 2
    quantiles = student_quantile((1 - coverage) / 2, freedom) + student_quantile(1 - POWER, freedom)
    return quantiles * math.sqrt((1 / n + 1 / m) * math.pi / 3)


def runs_for_change(spread: float, change: float, level: float = TEST_LEVEL) -> int | None:
    """Return how many runs of each side show a relative change with a probability of ``POWER``.

    Args:
        spread: Relative standard deviation of the runs.
        change: Relative, above 0.
        level: As in ``smallest_change``.

    Returns:
        None if more than ``MOST_RUNS`` are needed.
    """

    def shows(n: int) -> bool:
        smallest = smallest_change(spread, n, n, level)
        return smallest is not None and smallest <= change

    return _fewest(shows)


def expected_half_width(spread: float, n: int) -> float | None:
    """Return how far the ends of the median's 95 % interval will be from it, in the mean.

    Args:
        spread: Relative standard deviation of the runs, taken as normal.
        n: Number of runs.

    Returns:
        None if n runs have no such interval.

    Source: the ends are order statistics; their expected values by Blom, 1958, Statistical
    Estimates and Transformed Beta-Variables: the normal quantile of (k - 3/8) / (n + 1/4).
    """
    rank, _ = median_rank(n, LEVEL)
    return -normal_quantile((rank - 0.375) / (n + 0.25)) * spread if rank else None


def runs_for_precision(spread: float, half_width: float) -> int | None:
    """Return how many runs tell the median to plus or minus a relative half-width.

    Args:
        spread: Relative standard deviation of the runs.
        half_width: Of the median's 95 % interval; relative, above 0.

    Returns:
        None if more than ``MOST_RUNS`` are needed.
    """

    def tells(n: int) -> bool:
        expected = expected_half_width(spread, n)
        return expected is not None and expected <= half_width

    return _fewest(tells, tried=64)


def _fewest(enough: Callable[[int], bool], tried: int = 1) -> int | None:
    """Return the smallest number of runs that is enough, by doubling and halving.

    Args:
        tried: Up to this number each is tried, as one above another that is enough may not be:
            ranks move in whole steps.
    """
    for n in range(2, tried + 1):
        if enough(n):
            return n
    low, high = tried, 2 * tried
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_RUNS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
