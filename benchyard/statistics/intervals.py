"""Between which numbers the truth lies, and how sure that is: of the median, and of the mean.

The mean's interval is a bootstrap that is computed instead of drawn. Drawing resamples leaves a
noise of its own in the ends of the interval (some percent of its width for 1,000 resamples) and
needs a seed to hide it. Up to 6 values all resamples that matter are counted here; from 7 on the
distribution of their means is taken by saddlepoint, which is what ever more resamples tend to.
Nothing is random, so the same values give the same interval everywhere.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, count
from operator import itemgetter, mul
from typing import NamedTuple, TypeAlias, cast

from benchyard.statistics.measures import (
    coin_quantile,
    normal_cdf,
    normal_quantile,
    stdev,
    student_quantile,
)

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
    ascending = sorted(values)
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


@lru_cache(maxsize=64)
def fewest_for_median(level: float = LEVEL) -> int:
    """Return the smallest number of values whose median has an interval of this level.

    From the smallest to the largest value it misses only if all lie on one side of the median:
    2 * 0.5^n must be at most 1 - level, which is 6 at 95 % (it covers 96.9 % then).

    Args:
        level: Above 0 and below 1.

    Source: as of ``median_interval``.
    """
    return next(n for n in count(1) if median_rank(n, level)[0])


def allowed_miss(level: float) -> float:
    """Return ``1 - level``, a shade above: 1 - 0.9 must not be less than 0.1.

    A shade is 1e-12, far below anything that a probability is asked for.
    """
    return 1 - level + 1e-12


#: Takes a resample's values out of the sample.
_Take: TypeAlias = Callable[[Sequence[float]], tuple[float, ...]]

#: Up to so many values the resamples are counted: 17 of 6 values can be an end, of 7 already 116,
#: and the saddlepoint's ends differ from theirs by some percent of the interval's width at most.
_RESAMPLED = 6

#: The saddlepoint is found as soon as its normal deviate is this near: 0.01 % of a tail.
_NEAR = 1e-5
_STEPS = 60


def mean_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return the bootstrap interval of the mean of what the values are drawn from.

    The expanded percentile interval: of the resamples' means the share beyond each end is not
    (1 - level) / 2 but the normal tail beyond t sqrt(n / (n - 1)), with Student's t of n - 1
    degrees of freedom. The plain percentiles are too near to each other for few values. It follows
    the skewness of the values; for a heavy right tail it still covers less than it promises
    (benchmarks/statistics_power.py), as the sample cannot know a tail that it has not seen.

    Args:
        values: Shape (n,), in any order, finite.
        level: From 0 to 1.

    Returns:
        No interval below 5 values at 95 %: all resamples' means together do not have such tails.

    Source: Efron and Tibshirani, 1993, An Introduction to the Bootstrap, chapter 13; the expanded
    percentiles: Hesterberg, 2015, "What teachers should know about the bootstrap", The American
    Statistician 69 (4), 371-386.
    """
    ascending, n = sorted(values), len(values)
    away, tail = expanded_tail(n, level)
    # The rarest resample takes the smallest value n times; as logarithms, as n to the n overflows.
    if tail <= 0 or math.log(tail) < -n * math.log(n):
        return Interval(level=level)
    if ascending[0] == ascending[-1]:
        return Interval(ascending[0], ascending[0], level, level)
    if n <= _RESAMPLED:
        low = _counted_end(ascending, tail)
        high = _counted_end(ascending[::-1], tail, falling=True)
    else:
        low, high = (_saddlepoint_end(ascending, z, tail) for z in (-away, away))
    return Interval(low, high, level, level)


@lru_cache(maxsize=1024)
def expanded_tail(n: int, level: float) -> tuple[float, float]:
    """Return the normal deviate of an end of the interval, above 0, and the tail beyond it."""
    if n < 2:
        return math.inf, 0.0
    away = student_quantile(allowed_miss(level) / 2, n - 1) * math.sqrt(n / (n - 1))
    return away, normal_cdf(-away)


def _counted_end(ordered: Sequence[float], tail: float, *, falling: bool = False) -> float:
    """Return the mean of the resample at which the tail at the order's beginning is full."""
    n = len(ordered)
    full = tail * n**n
    totals = [(sum(take(ordered)), weight) for take, weight in _resamples(n, full)]
    totals.sort(reverse=falling)
    seen = list(accumulate([weight for _, weight in totals]))
    return totals[bisect_left(seen, full)][0] / n


@lru_cache(maxsize=64)
def _resamples(n: int, full: float) -> tuple[tuple[_Take, int], ...]:
    """Return the resamples whose mean can be the one at which a tail is full, and their weights.

    A resample is a tuple of places in ascending order. One that is below another at every place has
    a mean not above the other's, whatever the values are. So a resample with a whole tail of such
    ones below it is beyond the end, and with it all that are above it.
    """
    found: dict[tuple[int, ...], int] = {}
    level = {(0,) * n}
    while level:
        kept = [one for one in sorted(level) if _weight_below(one, found) < full]
        found |= {one: _weight(one) for one in kept}
        level = {more for one in kept for more in _next_above(one)}
    return tuple((cast("_Take", itemgetter(*at)), weight) for at, weight in found.items())


def _weight_below(places: tuple[int, ...], found: dict[tuple[int, ...], int]) -> int:
    lower = (
        weight
        for other, weight in found.items()
        if all(a <= b for a, b in zip(other, places, strict=True))
    )
    return sum(lower)


def _weight(places: tuple[int, ...]) -> int:
    """Return how many of the n to the power of n resamples take these places, in any order."""
    repeated = math.prod(math.factorial(count) for count in Counter(places).values())
    return math.factorial(len(places)) // repeated


def _next_above(places: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the resamples with one place moved up by one."""
    n = len(places)
    movable = [
        at for at in range(n) if places[at] < n - 1 and (at == n - 1 or places[at + 1] > places[at])
    ]
    return [(*places[:at], places[at] + 1, *places[at + 1 :]) for at in movable]


def _saddlepoint_end(ascending: Sequence[float], z: float, tail: float) -> float:
    """Return the value below which the resamples' means lie with the probability of a deviate z.

    Solves r* = z for the tilt s of the sample, by Newton's method on r with its correction
    log(u / r) / r held for a step.

    Source: Davison and Hinkley, 1988, "Saddlepoint approximations in resampling methods",
    Biometrika 75 (3), 417-431; r*: Barndorff-Nielsen, 1986, Biometrika 73 (2), 307-322.
    """
    n, edge = len(ascending), ascending[0] if z < 0 else ascending[-1]
    # Where the outermost value alone fills the tail, it is the end.
    if (ascending.count(edge) / n) ** n >= tail:
        return edge
    # From the edge, so that values that lie close together there keep their differences.
    scale = stdev(ascending)
    if not scale:  # they differ by less than a float can be
        return edge
    units = [(value - edge) / scale for value in ascending]
    s, at = z / math.sqrt(n), 0.0
    for _ in range(_STEPS):
        r, u, at = _tilted(units, s)
        # Beyond what the sample can be tilted to there is only its edge.
        if u * r <= 0:
            return edge
        off = r + math.log(u / r) / r - z
        if abs(off) < _NEAR:
            break
        # A longer step would overshoot where the sample's edge is near.
        step = off * r * s / u**2
        s -= math.copysign(min(abs(step), abs(s) / 2), step)
    return edge + scale * at


def _tilted(units: Sequence[float], s: float) -> tuple[float, float, float]:
    """Return r, u and the mean of the sample tilted by s."""
    n = len(units)
    # The edge is at 0 and the tilt towards it, so the weights are 1 at most and one of them is 1.
    weights = [math.exp(s * unit) for unit in units]
    total = math.fsum(weights)
    centre = math.fsum(map(mul, weights, units)) / total
    squares = math.fsum([w * (unit - centre) ** 2 for w, unit in zip(weights, units, strict=True)])
    r = math.sqrt(max(0.0, 2 * n * (s * centre - math.log(total / n))))
    return math.copysign(r, s), s * math.sqrt(n * squares / total), centre
