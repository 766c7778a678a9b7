"""What a number of runs can show, and how many runs it takes: asked before and after measuring.

Spreads, changes and half-widths are relative: 0.01 is 1 % of the median.

Also stopping as soon as the numbers are good enough, without the lie that looking again tells.
Whoever looks after every run and stops at the first interval that pleases has an interval that
covers less than it says. Here it is looked a few times, after numbers of runs fixed up front, each
time with an interval at a stricter level, so that whichever look is the last, its interval covers
the median at least with the level that was promised.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchyard.core.quantity import percent
from benchyard.statistics.diagnostics import drawn_in
from benchyard.statistics.intervals import (
    LEVEL,
    Interval,
    fewest_for_median,
    median_interval,
    median_rank,
)
from benchyard.statistics.measures import (
    median,
    normal_quantile,
    stdev,
    student_quantile,
)
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
    if len(values) < 2:
        return None
    centre = abs(median(values))
    return stdev(drawn_in(values)) / centre if centre else None


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


#: More looks make each so strict that the runs which one saves are lost to the others.
MOST_LOOKS = 6
#: Each look comes after so many times the runs of the one before: a width shrinks by their root,
#: so at a nearer one there is little new to see.
_APART = 1.4


@dataclass(frozen=True, slots=True)
class Decision:
    """What a look at one metric of one step says.

    Args:
        stop: Whether it is precise, or this was the last look.
        precise: Whether the whole interval is as near to the median as wanted.
        half_width: How far the farther end of the interval is from the median, relative to it;
            None without an interval, and for a median of 0 that the interval is wider than.
        interval: Of the median, at ``level_used``; this is the one to report.
        level_used: Corrected for the number of looks.
        why: The decision as a sentence.
    """

    stop: bool
    precise: bool
    half_width: float | None
    interval: Interval
    level_used: float
    why: str


def looks(minimum: int, maximum: int, level: float = LEVEL) -> tuple[int, ...]:
    """Return after how many runs to look, ascending; the last is the maximum.

    As many looks, up to 6, as stand 1.4 times apart. The first is the minimum, or the fewest runs
    that have an interval at the corrected level, if these are more: 5..30 looks after 8, 12, 19
    and 30 runs, as 5 runs have no interval of 95 % even if looked at once.

    Args:
        minimum: Fewest runs, >= 1.
        maximum: Most runs, >= minimum.
        level: What the intervals are to cover, all looks together.

    Raises:
        ValueError: If they are not in this order.
    """
    if not 1 <= minimum <= maximum:
        raise ValueError(f"looks go from 1 or more up, not from {minimum} to {maximum}")
    for count in range(MOST_LOOKS, 1, -1):
        first = max(minimum, fewest_for_median(1 - (1 - level) / count))
        if first * _APART ** (count - 1) <= maximum:
            growth = (maximum / first) ** (1 / (count - 1))
            return (*(round(first * growth**at) for at in range(count - 1)), maximum)
    return (maximum,)


def level_at(declared: Sequence[int], level: float = LEVEL) -> float:
    """Return the level that each look's interval must have.

    What may be missed, 1 - level, is shared by all looks evenly. The probability that any of the
    intervals misses the median is then at most 1 - level, and so is that of the last one, whatever
    made it the last.

    Source: Bonferroni's inequality; for looks: Jennison and Turnbull, 2000, Group Sequential
    Methods with Applications to Clinical Trials, chapter 9, "repeated confidence intervals".
    """
    return 1 - (1 - level) / len(declared)


def open_looks(first: int) -> Iterator[int]:
    """Yield after how many runs to look where nobody says how many there may be at most.

    Args:
        first: After how many runs to look first, >= 1; each later look has 1.4 times the runs.
    """
    at = float(first)
    while True:
        yield round(at)
        at = max(at * _APART, at + 1)


def open_level(look: int, level: float = LEVEL) -> float:
    """Return the level of a look's interval among looks without an end.

    The k-th look may miss with (1 - level) / (k (k + 1)), which adds up to 1 - level over all of
    them: by Bonferroni's inequality the last look keeps the level, whatever made it the last.

    Args:
        look: Which one, from 1 on.
        level: What was promised.

    Source: as for ``level_at``; spending what may be missed over an unlimited number of looks: Lan
    and DeMets, 1983, "Discrete sequential boundaries for clinical trials", Biometrika 70 (3),
    659-663.
    """
    return 1 - (1 - level) / (look * (look + 1))


def decide(
    values: Sequence[float],
    declared: Sequence[int],
    at: int,
    until: float,
    level: float = LEVEL,
) -> Decision:
    """Decide after a look whether to go on.

    Args:
        values: One for each run that yielded one, at most ``at`` of them.
        declared: What ``looks`` returned before the first run.
        at: Which of the looks this is: the number of runs after which it is taken.
        until: Wanted relative half-width; 0.01 is plus or minus 1 %.
        level: What was promised.

    Raises:
        ValueError: If no look was declared for this number of runs: it would not be corrected for.
    """
    if at not in declared:
        raise ValueError(f"no look was declared after {at} runs, only after {tuple(declared)}")
    corrected = level_at(declared, level)
    interval = median_interval(values, corrected)
    half_width = relative_half_width(values, interval)
    precise = half_width is not None and half_width <= until
    last = at == max(declared)
    why = _why(at, half_width, until, last=last)
    return Decision(precise or last, precise, half_width, interval, corrected, why)


def relative_half_width(values: Sequence[float], interval: Interval) -> float | None:
    """Return how far the farther end of the median's interval is from it, relative to it."""
    if interval.low is None or interval.high is None:
        return None
    centre = median(values)
    reach = max(interval.high - centre, centre - interval.low)
    if reach == 0:
        return 0.0
    return reach / abs(centre) if centre else None


def _why(at: int, half_width: float | None, until: float, *, last: bool) -> str:
    wanted = f"±{percent(until, 6)}"
    if half_width is None:
        known = "the median has no interval yet"
    else:
        known = f"the median is known to ±{percent(half_width)}"
    if half_width is not None and half_width <= until:
        return f"after {at} runs {known}, within the wanted {wanted}"
    more = "these are the most runs that were allowed" if last else "more runs are needed"
    return f"after {at} runs {known}, not the wanted {wanted}; {more}"
