"""Values far away from the others. They are pointed at, never removed: they happened."""

import math
from collections.abc import Sequence

from benchyard.statistics.measures import mean, median_of_sorted, quantile_of_sorted

#: In interquartile ranges beyond the quartiles: Tukey's outer fences. The inner ones, at 1.5, call
#: a value of every fourth normal sample of 10; these of 13 % of those of 5, and of 5 % or less from
#: 7 on (benchmarks/statistics_power.py).
FENCE = 3.0

#: Fewer values have no middle half that the others could be far from.
FEWEST = 5

#: In mean absolute deviations, as estimates of the standard deviation, from the median; serves
#: where more than half of the values are equal.
_FAR_FROM_EQUALS = 3.5


def outliers(values: Sequence[float], bounds: tuple[float, float] | None = None) -> tuple[int, ...]:
    """Return the positions, from 0 on, of the values that are far from the others.

    Args:
        values: Shape (n,), in any order, finite; below 5 none is far.
        bounds: Their ``fences`` where these are known already.

    Source: Tukey, 1977, Exploratory Data Analysis, 2D, "fences"; where the quartiles are equal,
    the cut at 3.5 deviations: Iglewicz and Hoaglin, 1993, How to Detect and Handle Outliers.
    """
    low, high = fences(sorted(values)) if bounds is None else bounds
    return tuple([at for at, value in enumerate(values) if not low <= value <= high])


def fences(
    ascending: Sequence[float], quartiles: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Return the lowest and the highest value that is not far from the others.

    Args:
        ascending: Shape (n,), in ascending order.
        quartiles: The first and the third where they are known already.
    """
    if len(ascending) < FEWEST:
        return -math.inf, math.inf
    q1, q3 = quartiles or (quantile_of_sorted(ascending, share) for share in (0.25, 0.75))
    if q1 == q3:
        return _around_equals(ascending)
    return q1 - FENCE * (q3 - q1), q3 + FENCE * (q3 - q1)


def _around_equals(ascending: Sequence[float]) -> tuple[float, float]:
    centre = median_of_sorted(ascending)
    deviation = mean([abs(value - centre) for value in ascending])
    reach = _FAR_FROM_EQUALS * math.sqrt(math.pi / 2) * deviation
    return centre - reach, centre + reach


def drawn_in(ascending: Sequence[float]) -> Sequence[float]:
    """Return the values with those beyond a fence replaced by the nearest one within.

    Source: winsorizing; Tukey, 1962, "The future of data analysis", Annals of Mathematical
    Statistics 33 (1), 1-67.
    """
    low, high = fences(ascending)
    if low <= ascending[0] and ascending[-1] <= high:
        return ascending
    within = [value for value in ascending if low <= value <= high]
    return [min(max(value, within[0]), within[-1]) for value in ascending]
