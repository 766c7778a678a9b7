"""Measures of location and scale: the formulas that everything else here is made of.

After them the distributions that tests and intervals stand on, without a library for them.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from statistics import mean as exact_mean
from statistics import stdev as exact_stdev

#: Sums of squares of larger numbers, or of differences below its inverse, leave a float's range.
_SQUARABLE = 2.0**500


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two in the middle.

    Args:
        values: Shape (n,), n >= 1.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.1, "Measures of location".
    """
    ascending = sorted(values)
    half, odd = divmod(len(ascending), 2)
    if odd:
        return ascending[half]
    below, above = ascending[half - 1], ascending[half]
    # Halves first where the sum of both would overflow; otherwise last, so that no digit is lost.
    middle = (below + above) / 2
    return middle if math.isfinite(middle) else below / 2 + above / 2


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, summed exactly.

    Args:
        values: Shape (n,), n >= 1.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.1, "Measures of location".
    """
    least, most = min(values), max(values)
    if least == most:
        return least
    if not -_SQUARABLE < least <= most < _SQUARABLE:
        return exact_mean(values)
    return math.fsum(values) / len(values)


def stdev(values: Sequence[float]) -> float:
    """Return the sample standard deviation, with n - 1 below the sum of squares.

    Args:
        values: Shape (n,), n >= 2.

    Raises:
        OverflowError: If it is larger than a float can be.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.6, "Measures of scale"; the
    correction for the rounding of the mean: Chan, Golub and LeVeque, 1983, "Algorithms for
    computing the sample variance", The American Statistician 37 (3), 242-247, equation 1.7.
    """
    width = max(values) - min(values)
    if width == 0:
        return 0.0
    if not 1 / _SQUARABLE < width < _SQUARABLE:
        return exact_stdev(values)
    centre, n = mean(values), len(values)
    deviations = [value - centre for value in values]
    squares = math.fsum([deviation * deviation for deviation in deviations])
    return math.sqrt((squares - math.fsum(deviations) ** 2 / n) / (n - 1))


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


def mad_around(centre: float, values: Sequence[float]) -> float:
    """Return the median of the absolute deviations from the median, not scaled.

    Args:
        centre: Their median.
        values: Shape (n,), n >= 1.

    Source: Hampel, 1974, "The influence curve and its role in robust estimation", Journal of the
    American Statistical Association 69 (346), 383-393.
    """
    return median([abs(value - centre) for value in values])


_NORMAL = NormalDist()
_SUMMED = 300


def normal_cdf(z: float) -> float:
    """Return the probability that a standard normal value is at most ``z``.

    By the complementary error function, whose relative error stays small far out in the tails.

    Source: Abramowitz and Stegun, 1964, Handbook of Mathematical Functions, 7.1.22 and 26.2.29.
    """
    return math.erfc(-z / math.sqrt(2)) / 2


@lru_cache(maxsize=1024)
def normal_quantile(probability: float) -> float:
    """Return the z below which a standard normal value lies with this probability, in (0, 1).

    Source: Wichura, 1988, "Algorithm AS 241: the percentage points of the normal distribution",
    Applied Statistics 37 (3), 477-484, as implemented by Python's ``statistics``.
    """
    return _NORMAL.inv_cdf(probability)


@lru_cache(maxsize=1024)
def coin_quantile(probability: float, tosses: int) -> tuple[int, float]:
    """Return the most heads of which fewer come up with at most this probability, and that one.

    Exact up to one rounding: the binomial coefficients are integers.

    Args:
        probability: From 0 to 0.5.
        tosses: Of a fair coin, >= 0.

    Returns:
        The largest k with P(heads < k) <= probability, and P(heads < k); 0 and 0.0 where that is
        only so for no heads.
    """
    # Held against an integer: there are more ways than a float has digits.
    allowed = int(Fraction(probability) * (1 << tosses))
    heads, ways, total = 0, 1, 0
    while total + ways <= allowed:
        total += ways
        ways = ways * (tosses - heads) // (heads + 1)
        heads += 1
    return heads, total / (1 << tosses)


def student_tail(t: float, freedom: int) -> float:
    """Return the probability that Student's t is above ``t``.

    Args:
        t: Any finite number.
        freedom: Degrees of freedom, >= 1.

    Source: Abramowitz and Stegun, 1964, Handbook of Mathematical Functions, 26.7.3 and 26.7.4: a
    finite sum, as the degrees of freedom are an integer.
    """
    if t < 0:
        return 1 - student_tail(-t, freedom)
    angle = math.atan2(t, math.sqrt(freedom))
    cosine = math.cos(angle) ** 2
    odd = freedom % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for power in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine * (power - 1) / power
    if odd:
        return 0.5 - (angle + math.sin(angle) * total) / math.pi
    return 0.5 - math.sin(angle) * total / 2


@lru_cache(maxsize=1024)
def student_quantile(tail: float, freedom: int) -> float:
    """Return the t above which Student's t lies with probability ``tail``, in (0, 0.5].

    Found by bisection on ``student_tail``, to the last digits of a float; above 300 degrees of
    freedom, where that is slow, by the first terms of a series, to 6 digits.

    Source: Abramowitz and Stegun, 1964, Handbook of Mathematical Functions, 26.7.5.
    """
    if freedom > _SUMMED:
        z = -normal_quantile(tail)
        first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + first / freedom + second / freedom**2
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > tail:
        low, high = high, high * 2
    for _ in range(64):
        middle = (low + high) / 2
        if student_tail(middle, freedom) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2
