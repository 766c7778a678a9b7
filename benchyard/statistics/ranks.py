"""Two samples by the ranks of their values: is one shifted, by how much, how sure is that.

Only the order of the values counts, so no shape is assumed, and one wild value cannot decide.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from itertools import count as counting

from benchyard.statistics.intervals import Interval, allowed_miss
from benchyard.statistics.measures import median, normal_cdf, normal_quantile

#: Up to so many pairs of a baseline's and a candidate's value (50 and 50) the distribution is
#: counted out, which then takes up to 50 ms (benchmarks/statistics_power.py). Beyond, without ties,
#: the normal approximation errs on the safe side: at the 1 % level its p-values are 4 % too large
#: for 50 and 51 values and more for unequal sizes (tests/benchyard/statistics/test_ranks.py).
EXACT_PAIRS = 2500

#: Up to so many pairs are listed and sorted; beyond, the wanted ones are searched for.
LISTED_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class RankTest:
    """What the Mann-Whitney test (Wilcoxon's rank sum test) says.

    Args:
        u: In how many pairs of a baseline's and a candidate's value the candidate's is the larger
            one; a pair of equals counts half.
        p_less: Probability of a u this small or smaller if nothing differs.
        p_greater: Probability of one this large or larger.
        p_two_sided: Twice the smaller of both, at most 1.
        exact: False where the samples are so large that the normal approximation served.
    """

    u: float
    p_less: float
    p_greater: float
    p_two_sided: float
    exact: bool


def rank_test(baseline: Sequence[float], candidate: Sequence[float]) -> RankTest:
    """Test whether the candidate's values tend to be larger or smaller than the baseline's.

    Exact, also with ties: the observed values are dealt to the two samples in all ways, each as
    likely as the other. Only above ``EXACT_PAIRS`` the normal approximation takes over, with its
    corrections for ties and continuity.

    Args:
        baseline: Shape (n,), n >= 1, finite.
        candidate: Shape (m,), m >= 1, finite.

    Source: Mann and Whitney, 1947, "On a test of whether one of two random variables is
    stochastically larger than the other", Annals of Mathematical Statistics 18 (1), 50-60; with
    ties: Lehmann, 1975, Nonparametrics, chapter 1; twice the smaller tail: Gibbons and Pratt, 1975,
    "P-values: interpretation and methodology", The American Statistician 29 (1), 20-25.
    """
    ranks = doubled_midranks([*baseline, *candidate])
    n, m = len(baseline), len(candidate)
    doubled = sum(ranks[value] for value in candidate)
    u = doubled / 2 - m * (m + 1) / 2
    if n * m > EXACT_PAIRS:
        less, greater = _approximate_tails(u, n, m, Counter([*baseline, *candidate]).values())
    else:
        less, greater = _exact_tails(ranks, baseline, candidate)
    return RankTest(u, less, greater, min(1.0, 2 * min(less, greater)), n * m <= EXACT_PAIRS)


def smallest_p(n: int, m: int) -> float:
    """Return the smallest two-sided p-value that samples of these sizes can have.

    It is 2 / C(n + m, n): all values of one sample above all of the other. A test cannot show a
    difference at a level below it, however large the difference is.
    """
    return min(1.0, 2 / math.comb(n + m, n))


def fewest_values(level: float) -> int:
    """Return the smallest size of two samples that can reach a level, both of that size."""
    return next(n for n in counting(1) if smallest_p(n, n) <= level)


def fewest_against(n: int, level: float) -> int | None:
    """Return the smallest size of a second sample that reaches a level against one of size n.

    Returns:
        None where more than five times as many would be needed: another first sample is cheaper.
    """
    return next((m for m in range(1, 5 * n + 1) if smallest_p(n, m) <= level), None)


@dataclass(frozen=True, slots=True)
class Shift:
    """By how much the candidate's values lie above the baseline's.

    Args:
        estimate: The median of all pairwise differences or ratios; None where there are none.
        interval: Of the true one; exact where the sizes reach the level.
    """

    estimate: float | None
    interval: Interval


def difference_of(baseline: Sequence[float], candidate: Sequence[float], level: float) -> Shift:
    """Return the Hodges-Lehmann shift, candidate minus baseline, with its exact interval.

    The interval leaves out 0 exactly if ``rank_test`` is significant at 1 - level, two-sided,
    where no two values are equal; with ties it is on the safe side.

    Args:
        baseline: Shape (n,), n >= 1.
        candidate: Shape (m,), m >= 1.
        level: What the interval is to cover, from 0 to 1.

    Source: Hodges and Lehmann, 1963, "Estimates of location based on rank tests", Annals of
    Mathematical Statistics 34 (2), 598-611; the interval: Moses, in Walker and Lev, 1953,
    Statistical Inference, chapter 18; Hollander and Wolfe, 1999, Nonparametric Statistical
    Methods, 2nd edition, 4.2 and 4.3.
    """
    return _pairwise(baseline, candidate, level, float.__sub__)


def ratio_of(baseline: Sequence[float], candidate: Sequence[float], level: float) -> Shift:
    """Return how many times the baseline the candidate is, with its exact interval.

    The same as ``difference_of`` for the logarithms, taken back: the median of the pairwise
    ratios. 1.02 is 2 % more.

    Args:
        baseline: Shape (n,), n >= 1, all above 0.
        candidate: Shape (m,), m >= 1, all above 0.
        level: What the interval is to cover, from 0 to 1.
    """
    return _pairwise(baseline, candidate, level, float.__truediv__)


def _pairwise(
    baseline: Sequence[float],
    candidate: Sequence[float],
    level: float,
    of: Callable[[float, float], float],
) -> Shift:
    befores, afters = list(map(float, baseline)), list(map(float, candidate))
    rank, coverage = pair_rank(len(befores), len(afters), level)
    if len(befores) * len(afters) > LISTED_PAIRS:
        return _selected(befores, afters, (rank, coverage), level, of)
    pairs = sorted([of(after, before) for after in afters for before in befores])
    ends = (pairs[rank - 1], pairs[-rank]) if rank else (None, None)
    return Shift(median(pairs), Interval(*ends, level, coverage))


def _selected(
    befores: Sequence[float],
    afters: Sequence[float],
    end: tuple[int, float],
    level: float,
    of: Callable[[float, float], float],
) -> Shift:
    """Return the same without listing the pairs: a thousand values each have a million.

    Each wanted pair is enclosed by halving until nothing lies between the two ends but itself.
    """
    rank, coverage = end
    back = float.__add__ if of is float.__sub__ else float.__mul__
    ascending, total = sorted(afters), len(befores) * len(afters)
    least = min(of(ascending[0], before) for before in befores)
    most = max(of(ascending[-1], before) for before in befores)

    def pair(number: int) -> float:
        low, high = least, most
        while (middle := (low + high) / 2) not in {low, high}:
            up_to = sum(bisect_right(ascending, back(before, middle)) for before in befores)
            low, high = (low, middle) if up_to >= number else (middle, high)
        return high

    middle = (pair((total + 1) // 2) + pair(total // 2 + 1)) / 2
    ends = (pair(rank), pair(total - rank + 1)) if rank else (None, None)
    return Shift(middle, Interval(*ends, level, coverage))


@lru_cache(maxsize=256)
def pair_rank(n: int, m: int, level: float) -> tuple[int, float]:
    """Return which smallest and largest pair ends an interval, 0 for none, and what it covers.

    The test is significant at 1 - level, two-sided, where u or n m - u is below that rank; what it
    covers is 1 less the test's attained level.
    """
    half = allowed_miss(level) / 2
    if n * m > EXACT_PAIRS:
        spread = math.sqrt(n * m * (n + m + 1) / 12)
        return max(1, math.floor(n * m / 2 + normal_quantile(half) * spread)), level
    if smallest_p(n, m) > 2 * half:
        return 0, max(0.0, 1 - smallest_p(n, m))
    low, high = 1, n * m // 2 + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _untied_cdf(middle - 1, n, m) <= half else (low, middle)
    return low, 1 - 2 * _untied_cdf(low - 1, n, m)


def _untied_cdf(u: int, n: int, m: int) -> float:
    """Return the probability of at most ``u`` among samples without equal values."""
    chosen = min(n, m)
    # The lowest sum of ``chosen`` ranks from 0 on belongs to a u of 0.
    lowest = chosen * (chosen - 1) // 2
    groups = tuple((rank, 1) for rank in range(n + m))
    return _ways_up_to(u + lowest, groups, chosen) / math.comb(n + m, n)


def doubled_midranks(values: Sequence[float]) -> dict[float, int]:
    """Return value to twice its rank from 1 on; equal values share the mean of their ranks."""
    counts = sorted(Counter(values).items())
    ends = accumulate(count for _, count in counts)
    return {value: 2 * end - count + 1 for (value, count), end in zip(counts, ends, strict=True)}


def _exact_tails(
    ranks: dict[float, int], baseline: Sequence[float], candidate: Sequence[float]
) -> tuple[float, float]:
    """Return the probabilities of a rank sum of the candidate's up to and from the observed one."""
    fewer = min(baseline, candidate, key=len)
    first = min(ranks.values())
    # Ranks only matter up to scale: without ties all doubled ones are even, and half as wide.
    step = math.gcd(*(rank - first for rank in ranks.values())) or 1
    placed = {value: (rank - first) // step for value, rank in ranks.items()}
    counts = Counter([*baseline, *candidate])
    groups = tuple((place, counts[value]) for value, place in placed.items())
    observed = sum(placed[value] for value in fewer)
    total = math.comb(len(baseline) + len(candidate), len(fewer))
    upper = (total - _ways_up_to(observed - 1, groups, len(fewer))) / total
    lower = _ways_up_to(observed, groups, len(fewer)) / total
    return (upper, lower) if fewer is baseline else (lower, upper)


def _ways_up_to(most: int, groups: tuple[tuple[int, int], ...], chosen: int) -> int:
    """Return in how many ways ``chosen`` of all values have ranks that sum up to at most ``most``.

    The digits of the packed number are summed by taking it modulo its base less one.
    """
    above = most - _lowest_sums(groups, chosen)[-1]
    if above < 0:
        return 0
    packed, width = _packed_ways(groups, chosen)
    return (packed & ((1 << (above + 1) * width) - 1)) % ((1 << width) - 1)


def _lowest_sums(groups: Iterable[tuple[int, int]], chosen: int) -> list[int]:
    """Return the sums of the 0, 1, 2, … lowest ranks."""
    ranks = (rank for rank, count in groups for _ in range(count))
    return list(accumulate(islice(ranks, chosen), initial=0))


@lru_cache(maxsize=64)
def _packed_ways(groups: tuple[tuple[int, int], ...], chosen: int) -> tuple[int, int]:
    """Return how many ways there are for each rank sum, as digits of one number, and their width.

    The first digit is that of the lowest sum.

    Args:
        groups: Rank, ascending, and how many values share it.
        chosen: How many of the values are dealt to the sample.

    The generating function of Streitberg and Röhmel, 1986, "Exact distributions for permutation
    and rank tests", Statistical Software Newsletter 12 (1), 10-17, with polynomials in one
    variable held in integers: a product with a power is a shift.
    """
    total = sum(count for _, count in groups)
    width = math.comb(total, chosen).bit_length() + 1
    # Sums are counted from the lowest one that a sample of that size can have.
    lowest = _lowest_sums(groups, chosen)
    ways = [1] + [0] * chosen
    seen = 0
    for rank, count in groups:
        seen += count
        # Samples that cannot be filled any more by what is still to come need no counting.
        for size in range(min(chosen, seen), max(0, chosen - (total - seen)) - 1, -1):
            for taken in range(1, min(count, size) + 1):
                above = taken * rank - lowest[size] + lowest[size - taken]
                more = ways[size - taken] << (above * width)
                ways[size] += math.comb(count, taken) * more if count > 1 else more
    return ways[chosen], width


def _approximate_tails(u: float, n: int, m: int, ties: Iterable[int]) -> tuple[float, float]:
    """Return both tails by the normal approximation, corrected for ties and for continuity.

    Source: Lehmann, 1975, Nonparametrics, chapter 1.
    """
    total = n + m
    tied = sum(count**3 - count for count in ties) / (total * (total - 1))
    variance = n * m / 12 * (total + 1 - tied)
    if variance <= 0:
        return 1.0, 1.0
    away, spread = u - n * m / 2, math.sqrt(variance)
    return normal_cdf((away + 0.5) / spread), normal_cdf((0.5 - away) / spread)
