"""Whether values in the order of their making are independent of it, as all else here assumes."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, combinations

from benchyard.statistics.distributions import normal_cdf, student_tail
from benchyard.statistics.measures import mean, stdev

#: Up to so many values the orders are counted out; the normal approximation serves beyond, where it
#: errs on the safe side, by 9 % of a p-value of 1 % (tests/benchyard/statistics/test_trend.py).
_COUNTED = 30


def drift_p(values: Sequence[float]) -> float:
    """Return the two-sided p-value of a trend: values that tend to rise, or to fall.

    Exact without ties, on the safe side with them, as a pair of equals is counted for neither.

    Args:
        values: Shape (n,), in the order of their making.

    Source: Mann, 1945, "Nonparametric tests against trend", Econometrica 13 (3), 245-259; Kendall,
    1970, Rank Correlation Methods, 4th edition, chapters 4 and 5.
    """
    n = len(values)
    if n < 2:
        return 1.0
    score = abs(sum((b > a) - (b < a) for a, b in combinations(values, 2)))
    if n > _COUNTED:
        spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
        return min(1.0, 2 * normal_cdf((1 - score) / spread))
    # A score is the number of all pairs less twice that of the pairs that are the wrong way round.
    wrong = (n * (n - 1) // 2 - score) // 2
    return min(1.0, 2 * sum(_orders(n)[: wrong + 1]) / math.factorial(n))


@lru_cache(maxsize=64)
def _orders(n: int) -> tuple[int, ...]:
    """Return how many orders of n values have 0, 1, 2, … pairs the wrong way round.

    The n-th value can stand behind any number of the others, from none to n - 1.

    Source: Kendall, 1970, chapter 5.
    """
    if n < 2:
        return (1,)
    fewer = _orders(n - 1)
    sums = list(accumulate(fewer + (0,) * (n - 1)))
    return tuple(total - (sums[at - n] if at >= n else 0) for at, total in enumerate(sums))


def first_p(values: Sequence[float]) -> float:
    """Return the one-sided p-value of the first value being above what the others predict.

    Args:
        values: Shape (n,), in the order of their making.

    Source: Hahn and Meeker, 1991, Statistical Intervals, chapter 4: the prediction interval for one
    further observation of a normal population, read as a test.
    """
    first, others = values[0], values[1:]
    if len(others) < 2:
        return 1.0
    away, spread = first - mean(others), stdev(others) * math.sqrt(1 + 1 / len(others))
    if spread == 0:
        return 0.0 if away > 0 else 1.0
    return student_tail(away / spread, len(others) - 1)
