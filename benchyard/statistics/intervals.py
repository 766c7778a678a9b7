"""Between which numbers the truth lies, and how sure that is."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from benchyard.statistics.distributions import coin_quantile, normal_quantile

#: What an interval is asked to cover unless said otherwise: the custom of the trade.
LEVEL = 0.95

#: Above so many values the coin's normal approximation is within one rank, of 5,000.
_COUNTED = 10_000


class Interval(NamedTuple):
    """A confidence interval, or how far a sample is from having one.

    Args:
        low: None, as is high, where the sample is too small to reach the level.
        high: In the unit of the values.
        level: What it was asked to cover the truth with: a probability.
        coverage: What it does cover it with. Without an interval what the whole range of the
            sample would reach, which is then below the level.
    """

    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    coverage: float = 0.0

    def holds(self, value: float) -> bool | None:
        """Tell whether a value lies inside, ends included; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= value <= self.high


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return the interval of the median of what the values are drawn from.

    From the k-th smallest value to the k-th largest, with the largest k that keeps the level. It
    assumes nothing about the shape, only that the values are independent and alike.

    Args:
        values: Shape (n,), in any order.
        level: From 0 to 1.

    Source: Thompson, 1936, "On confidence ranges for the median and other expectation
    distributions for populations of unknown distribution form", Annals of Mathematical Statistics
    7 (3), 122-128; David and Nagaraja, 2003, Order Statistics, 3rd edition, 7.1.
    """
    return median_interval_of_sorted(sorted(values), level)


def median_interval_of_sorted(ascending: Sequence[float], level: float = LEVEL) -> Interval:
    """Return the ``median_interval`` of values that are in ascending order already."""
    rank, coverage = median_rank(len(ascending), level)
    if not rank:
        return Interval(None, None, level, coverage)
    return Interval(ascending[rank - 1], ascending[-rank], level, coverage)


@lru_cache(maxsize=1024)
def median_rank(n: int, level: float) -> tuple[int, float]:
    """Return the k of ``median_interval`` and what it covers; k is 0 where n is too small.

    The interval from the k-th smallest to the k-th largest misses the median if fewer than k of n
    tosses of a coin show heads, or fewer than k tails.
    """
    if n < 1:
        return 0, 0.0
    half = allowed_miss(level) / 2
    if n > _COUNTED:
        away = -normal_quantile(half) * math.sqrt(n)
        return math.floor((n - away) / 2), level
    rank, beyond = coin_quantile(half, n)
    return rank, 1 - 2 * (beyond if rank else 0.5**n)


def allowed_miss(level: float) -> float:
    """Return ``1 - level``, a shade above: 1 - 0.9 must not be less than 0.1.

    A shade is 1e-12, far below anything that a probability is asked for.
    """
    return 1 - level + 1e-12
