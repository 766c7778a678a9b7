"""Numbers in, numbers out: what a handful of repeated measurements says.

Every value is expected to be finite. Nothing is rounded, nothing is thrown away as an outlier.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Description:
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


def describe(values: Sequence[float]) -> Description:
    """Describe a sample of any size, none included.

    Args:
        values: Shape (n,), finite.

    Raises:
        ValueError: If a value is not finite.
    """
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"only finite values can be described, not {list(values)}")
    if not values:
        return Description(0)
    centre = {"median": median(values), "mean": mean(values)}
    extremes = {"min": min(values), "max": max(values)}
    if len(values) < 2:
        return Description(len(values), **centre, **extremes)
    q1, q3 = quantile(values, 0.25), quantile(values, 0.75)
    spread = {"stdev": stdev(values), "q1": q1, "q3": q3, "iqr": q3 - q1, "mad": mad(values)}
    return Description(len(values), **centre, **extremes, **spread)


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two in the middle.

    Args:
        values: Shape (n,), n >= 1.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.1, "Measures of location".
    """
    return statistics.median(values)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, summed exactly.

    Args:
        values: Shape (n,), n >= 1.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.1, "Measures of location".
    """
    return statistics.mean(values)


def stdev(values: Sequence[float]) -> float:
    """Return the sample standard deviation, with n - 1 below the sum of squares.

    Args:
        values: Shape (n,), n >= 2.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.6, "Measures of scale".
    """
    return statistics.stdev(values)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the sample lies, interpolated linearly.

    It is x[k] + (h - k) (x[k+1] - x[k]) with h = (n - 1) share, k = floor(h), x ascending from 0;
    the default of R and NumPy.

    Args:
        values: Shape (n,), n >= 1.
        share: From 0 to 1.

    Source: Hyndman and Fan, 1996, "Sample quantiles in statistical packages", definition 7,
    The American Statistician 50 (4), 361-365.
    """
    ascending = sorted(values)
    height = (len(ascending) - 1) * share
    below = math.floor(height)
    above = min(below + 1, len(ascending) - 1)
    weight = height - below
    # Two products instead of a difference: equal neighbours give their own value, bit for bit,
    # and the difference of two huge ones cannot overflow.
    if ascending[below] == ascending[above]:
        return ascending[below]
    return ascending[below] * (1 - weight) + ascending[above] * weight


def mad(values: Sequence[float]) -> float:
    """Return the median of the absolute deviations from the median, not scaled.

    Args:
        values: Shape (n,), n >= 1.

    Source: Hampel, 1974, "The influence curve and its role in robust estimation", Journal of the
    American Statistical Association 69 (346), 383-393.
    """
    centre = median(values)
    return median([abs(value - centre) for value in values])
