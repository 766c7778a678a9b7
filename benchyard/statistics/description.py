"""What a handful of repeated measurements says, in one value."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from benchyard.statistics.diagnostics import outliers
from benchyard.statistics.intervals import Interval, mean_interval, median_interval
from benchyard.statistics.measures import mad_around, mean, median, quantile, stdev
from benchyard.statistics.sensitivity import relative_spread, smallest_change

_NO_INTERVAL = Interval()


class Description(NamedTuple):
    """What is usually asked of a sample; in the unit of its values.

    Args:
        n: Number of values.
        median: None without values, as are mean, min and max.
        stdev: Sample standard deviation; None below two values, as are q1, q3, iqr and mad:
            one value has no spread, which is not the same as a spread of zero.
        q1: First quartile.
        q3: Third quartile.
        iqr: ``q3 - q1``.
        mad: Median absolute deviation from the median, not scaled.
        coefficient_of_variation: ``stdev`` by the mean; None unless all values are above 0.
        median_interval: Exact; without ends below 6 values at 95 %.
        mean_interval: By bootstrap; without ends below 5 values at 95 %.
        outliers: Positions, from 0 on, of values far from the others. They are in all figures.
        smallest_change: The smallest relative change that as many runs of a candidate would show
            at the 1 % level with a probability of 95 %; None where these runs cannot, and for a
            median of 0.
    """

    n: int
    median: float | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    stdev: float | None = None
    q1: float | None = None
    q3: float | None = None
    iqr: float | None = None
    mad: float | None = None
    coefficient_of_variation: float | None = None
    median_interval: Interval = _NO_INTERVAL
    mean_interval: Interval = _NO_INTERVAL
    outliers: tuple[int, ...] = ()
    smallest_change: float | None = None


def describe(values: Sequence[float]) -> Description:
    """Describe a sample of any size, none included.

    Args:
        values: Shape (n,), finite; as in records none is beyond 1e100.

    Raises:
        ValueError: If a value is not finite.
    """
    if not all(map(math.isfinite, values)):
        raise ValueError(f"only finite values can be described, not {list(values)}")
    if not values:
        return Description(0)
    known = list(map(float, values))
    return _described(known) if len(known) > 1 else _alone(known[0])


def _alone(value: float) -> Description:
    return Description(
        1,
        *(value, value, value, value),
        median_interval=median_interval([value]),
        mean_interval=mean_interval([value]),
    )


def _described(values: Sequence[float]) -> Description:
    # Each formula sorts, which takes no time where there is nothing to sort.
    ascending = sorted(values)
    n, centre, average = len(ascending), median(ascending), mean(ascending)
    deviation, relative = stdev(ascending), relative_spread(ascending)
    q1, q3 = quantile(ascending, 0.25), quantile(ascending, 0.75)
    return Description(
        n=n,
        median=centre,
        mean=average,
        min=ascending[0],
        max=ascending[-1],
        stdev=deviation,
        q1=q1,
        q3=q3,
        iqr=q3 - q1,
        mad=mad_around(centre, ascending),
        coefficient_of_variation=deviation / average if ascending[0] > 0 else None,
        median_interval=median_interval(ascending),
        mean_interval=mean_interval(ascending),
        outliers=outliers(values),
        smallest_change=None if relative is None else smallest_change(relative, n, n),
    )
