"""What is out of order in a sample: values far from the others, and an order that matters."""

import math
from bisect import bisect_left, bisect_right, insort_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from benchyard.statistics.measures import (
    mean,
    median,
    normal_cdf,
    quantile,
    stdev,
    student_tail,
)

#: In interquartile ranges beyond the quartiles: Tukey's outer fences. The inner ones, at 1.5, call
#: a value of every fourth normal sample of 10; these of 13 % of those of 5, and of 5 % or less from
#: 7 on (benchmarks/statistics_power.py).
FENCE = 3.0
#: Fewer values have no middle half that the others could be far from.
FEWEST = 5
#: In mean absolute deviations, as estimates of the standard deviation, from the median; serves
#: where more than half of the values are equal.
_FAR_FROM_EQUALS = 3.5
#: Up to so many values the orders are counted out; the normal approximation serves beyond, where it
#: errs on the safe side, by 9 % of a p-value of 1 %
#: (tests/benchyard/statistics/test_diagnostics.py).
_COUNTED = 30


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Return the positions, from 0 on, of the values that are far from the others.

    Args:
        values: Shape (n,), in any order, finite; below 5 none is far.

    Source: Tukey, 1977, Exploratory Data Analysis, 2D, "fences"; where the quartiles are equal,
    the cut at 3.5 deviations: Iglewicz and Hoaglin, 1993, How to Detect and Handle Outliers.
    """
    low, high = fences(values)
    return tuple([at for at, value in enumerate(values) if not low <= value <= high])


def fences(values: Sequence[float]) -> tuple[float, float]:
    """Return the bounds outside of which a value is an outlier."""
    if len(values) < FEWEST:
        return -math.inf, math.inf
    q1, q3 = quantile(values, 0.25), quantile(values, 0.75)
    if q1 == q3:
        return _around_equals(values)
    return q1 - FENCE * (q3 - q1), q3 + FENCE * (q3 - q1)


def _around_equals(values: Sequence[float]) -> tuple[float, float]:
    centre = median(values)
    deviation = mean([abs(value - centre) for value in values])
    reach = _FAR_FROM_EQUALS * math.sqrt(math.pi / 2) * deviation
    return centre - reach, centre + reach


def drawn_in(values: Sequence[float]) -> Sequence[float]:
    """Return the values with those beyond a fence replaced by the nearest one within.

    Source: winsorizing; Tukey, 1962, "The future of data analysis", Annals of Mathematical
    Statistics 33 (1), 1-67.
    """
    low, high = fences(values)
    within = [value for value in values if low <= value <= high]
    if len(within) == len(values):
        return values
    least, most = min(within), max(within)
    return [min(max(value, least), most) for value in values]


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
    score = abs(_score(values))
    if n > _COUNTED:
        spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
        return min(1.0, 2 * normal_cdf((1 - score) / spread))
    # A score is the number of all pairs less twice that of the pairs that are the wrong way round.
    wrong = (n * (n - 1) // 2 - score) // 2
    return min(1.0, 2 * sum(_orders(n)[: wrong + 1]) / math.factorial(n))


def _score(values: Sequence[float]) -> int:
    """Return how many pairs rise, less those that fall, in O(n log n)."""
    score, before = 0, list[float]()
    for value in values:
        score += bisect_left(before, value) - (len(before) - bisect_right(before, value))
        insort_right(before, value)
    return score


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
    """Test whether the first value exceeds what the others predict; return the one-sided p-value.

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
