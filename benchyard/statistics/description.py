"""What a handful of repeated measurements says, in one value."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from benchyard.statistics.diagnostics import fences, outliers
from benchyard.statistics.intervals import (
    Interval,
    mean_interval_of_sorted,
    median_interval_of_sorted,
)
from benchyard.statistics.measures import (
    mad_around,
    mean_of_sorted,
    median_of_sorted,
    quantile_of_sorted,
    stdev_of_sorted,
)
from benchyard.statistics.sensitivity import smallest_change, spread_of_sorted

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
    ascending = sorted(map(float, values))
    if len(ascending) < 2:
        return _alone(ascending[0])
    return _described(values, ascending)


def _alone(value: float) -> Description:
    return Description(
        1,
        *(value, value, value, value),
        median_interval=median_interval_of_sorted([value]),
        mean_interval=mean_interval_of_sorted([value]),
    )


def _described(values: Sequence[float], ascending: Sequence[float]) -> Description:
    n, centre, average = len(ascending), median_of_sorted(ascending), mean_of_sorted(ascending)
    deviation = stdev_of_sorted(ascending, average)
    q1, q3 = quantile_of_sorted(ascending, 0.25), quantile_of_sorted(ascending, 0.75)
    far = outliers(values, fences(ascending, (q1, q3)))
    # The deviation of all values serves for the changes too, but where some of them are far away.
    relative = spread_of_sorted(ascending) if far else _by(deviation, centre)
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
        median_interval=median_interval_of_sorted(ascending),
        mean_interval=mean_interval_of_sorted(ascending),
        outliers=far,
        smallest_change=None if relative is None else smallest_change(relative, n, n),
    )


def _by(deviation: float, centre: float) -> float | None:
    return deviation / abs(centre) if centre else None
