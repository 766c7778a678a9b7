"""Two values of each run, such as of two of its steps: which is larger, by how much.

What two steps of one run share (its process, its caches, the moment) is in both values. The tests
of ``ranks`` take the samples for independent; these look at the difference inside each run.

Two sessions likewise: whether they differ by more than sessions of one host differ anyway. All runs
of a session share its state of the host (layout of memory and disk, temperature, what else is
there), so the session is the unit: the variance of its level is ``between² + 1.57 · within² /
runs``, and more runs make only the second part smaller. Levels are medians of logarithms, so that a
difference of 0.01 is 1 %; of values that are not all above 0 they are medians of the values
themselves.

Source of the model: Kalibera and Jones, 2013, "Rigorous benchmarking in reasonable time", ISMM,
sections 4 and 7; 1.57 is pi / 2, the variance of a median of normal values by that of their mean.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from benchyard.statistics.intervals import Interval, allowed_miss
from benchyard.statistics.measures import (
    mean,
    median,
    normal_cdf,
    normal_quantile,
    quantile,
    student_quantile,
    student_tail,
)
from benchyard.statistics.ranks import RankTest, Shift, doubled_midranks

#: Up to so many pairs the distribution is counted out; beyond, the normal approximation serves.
EXACT = 100


def signed_rank_test(differences: Sequence[float]) -> RankTest:
    """Test whether the differences lie around 0: Wilcoxon's signed rank test.

    Exact, also with ties: the observed sizes get their signs in all ways, each as likely as the
    other. Differences of 0 are left out. That the differences are symmetric around 0 is what
    "nothing differs" means here: both steps of a run could as well be exchanged.

    Args:
        differences: Shape (n,), candidate minus baseline of each run, finite.

    Source: Wilcoxon, 1945, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (6),
    80-83; with ties: Lehmann, 1975, Nonparametrics, chapter 3.
    """
    moved = [one for one in differences if one]
    ranks = doubled_midranks([abs(one) for one in moved])
    above = sum(ranks[one] for one in moved if one > 0)
    doubled = tuple(sorted(ranks[abs(one)] for one in moved))
    if len(moved) > EXACT:
        spread = math.sqrt(sum(rank * rank for rank in doubled)) / 2
        away = above - sum(doubled) / 2
        less, greater = normal_cdf((away + 1) / spread), normal_cdf((1 - away) / spread)
    else:
        less, greater = _share_up_to(above, doubled), _share_up_to(sum(doubled) - above, doubled)
    return RankTest(above / 2, less, greater, min(1.0, 2 * min(less, greater)), len(moved) <= EXACT)


def smallest_paired_p(n: int) -> float:
    """Return the smallest two-sided p-value of n pairs, 2 / 2^n: all differ in one direction."""
    return min(1.0, 2 * 0.5**n)


def fewest_pairs(level: float) -> int:
    """Return the smallest number of pairs that can reach a level."""
    return max(1, math.ceil(1 - math.log2(level)))


def middle_difference(differences: Sequence[float], level: float) -> Shift:
    """Return the Hodges-Lehmann estimate of the differences' centre, with its exact interval.

    It is the median of the means of every two of them, each with itself included. The interval
    leaves out 0 exactly if ``signed_rank_test`` is significant, where no sizes are equal.

    Args:
        differences: Shape (n,), n >= 1, finite.
        level: What the interval is to cover, from 0 to 1.

    Source: Hodges and Lehmann, 1963, "Estimates of location based on rank tests", Annals of
    Mathematical Statistics 34 (2), 598-611; the interval, of Tukey: Hollander and Wolfe, 1999,
    Nonparametric Statistical Methods, 2nd edition, 3.2 and 3.3.
    """
    means = sorted((a + b) / 2 for at, a in enumerate(differences) for b in differences[at:])
    rank, coverage = _end(len(differences), level)
    ends = (means[rank - 1], means[-rank]) if rank else (None, None)
    return Shift(median(means), Interval(*ends, level, coverage))


def middle_ratio(ratios: Sequence[float], level: float) -> Shift:
    """Return the same of ratios, all above 0: of their logarithms, taken back."""
    made = middle_difference([math.log(one) for one in ratios], level)
    low, high = (None if end is None else math.exp(end) for end in made.interval[:2])
    estimate = None if made.estimate is None else math.exp(made.estimate)
    return Shift(estimate, made.interval._replace(low=low, high=high))


@lru_cache(maxsize=256)
def _end(n: int, level: float) -> tuple[int, float]:
    """Return which of the means in order ends the interval, from 1 on (0: none), and coverage."""
    half = allowed_miss(level) / 2
    if n > EXACT:
        away = -normal_quantile(half) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return math.floor(n * (n + 1) / 4 - away), level
    ranks = tuple(range(1, n + 1))
    rank, beyond = 0, 0.0
    while (share := _share_up_to(rank, ranks)) <= half:
        rank, beyond = rank + 1, share
    return rank, 1 - 2 * (beyond if rank else 0.5**n)


def _share_up_to(most: int, ranks: tuple[int, ...]) -> float:
    """Return in which share of all ways the ranks that get a plus sum up to at most ``most``."""
    ways = _ways(ranks)
    return ways[min(most, len(ways) - 1)] / ways[-1]


@lru_cache(maxsize=64)
def _ways(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Return in how many ways the ranks with a plus sum up to at most 0, 1, and so on."""
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        ways = [one + (ways[at - rank] if at >= rank else 0) for at, one in enumerate(ways)]
    return tuple(accumulate(ways))


#: Standard deviation between sessions that is expected before anything is known of a host: between
#: neighbouring commits 7,965 public series of two dedicated hosts differ by 1.0 to 1.1 % (robust).
PRIOR_SD = 0.01
#: Degrees of freedom that the prior counts for.
PRIOR_FREEDOM = 4
#: Earlier sessions about one level, from which on a series' own spread must also explain a
#: difference. That of other series alone would call too much where one varies more than they do.
OWN_FROM = 5
#: Degrees of freedom of a series' own sessions, from which on other series are not asked: with 15
#: and the prior's 4 a spread of 1 % is known to 0.16 %, and theirs would only hide what it shows.
OWN_ALONE = 15
#: From so many steps between sessions on, their median tells a spread.
_TELLING = 4


@dataclass(frozen=True, slots=True)
class SessionSpread:
    """How much the levels of sessions vary.

    Args:
        sd: Standard deviation of a level, relative where levels are logarithms.
        freedom: Degrees of freedom that it is known with.
    """

    sd: float
    freedom: int

    def p_value(self, difference: float, baseline_sessions: int = 1) -> float:
        """Return the probability (two-sided) of so large a difference between equal sessions.

        Args:
            difference: Level of one session minus the mean level of the baseline's sessions.
            baseline_sessions: How many these are, 1 or more.
        """
        scale = self._scale(baseline_sessions)
        if not scale:
            return 0.0 if difference else 1.0
        return min(1.0, 2 * student_tail(abs(difference) / scale, self.freedom))

    def margin(self, level: float, baseline_sessions: int = 1) -> float:
        """Return how far equal sessions differ at most, but for a probability of ``level``."""
        return student_quantile(level / 2, self.freedom) * self._scale(baseline_sessions)

    def _scale(self, baseline_sessions: int) -> float:
        return self.sd * math.sqrt(1 / baseline_sessions + 1)


def session_spreads(
    own: Sequence[Sequence[float]],
    others: Sequence[tuple[float, int]] = (),
    prior_sd: float | None = PRIOR_SD,
) -> tuple[SessionSpread, ...]:
    """Return the spreads that a difference must exceed, each; empty if too little is known.

    Pooled are the prior, the series' own earlier sessions and other series of the host. From
    ``OWN_FROM`` own sessions on, these and the prior alone are a second spread.

    Args:
        own: Levels of earlier sessions, in groups that each vary about one level.
        others: ``level_variance`` of the host's other series.
        prior_sd: None for levels that are no logarithms, of which nothing is known beforehand:
            ``OWN_FROM`` own sessions are needed then, and others do not count.
    """
    known = [level_variance(own)]
    enough = known[0][1] >= OWN_FROM - 1
    if prior_sd is None:
        return (_pooled(known),) if enough else ()
    known.append((prior_sd**2, PRIOR_FREEDOM))
    alone = (_pooled(known),)
    if not others:
        return alone
    # Quiet series must not make a noisy one look quiet: three quarters of them vary less, and what
    # they lend is never below the prior.
    lent = max(prior_sd**2, quantile([variance for variance, _ in others], 0.75))
    pooled = _pooled([*known, (lent, sum(freedom for _, freedom in others))])
    return (pooled, *(alone if enough else ()))


def level_variance(groups: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Return the variance of sessions' levels about the mean of their group, and its freedom."""
    freedom = sum(len(group) - 1 for group in groups)
    squares = math.fsum((x - mean(group)) ** 2 for group in groups for x in group)
    return (squares / freedom if freedom else 0.0), freedom


def split_at_moves(
    levels: Sequence[float], changed: Sequence[bool], accepted: Sequence[bool] = ()
) -> list[list[float]]:
    """Split the levels of sessions where what was measured moved them.

    That is taken for so where something else was measured than before, and the step is beyond what
    sessions make with the prior's spread (99 %), and from ``_TELLING`` steps on also with the
    spread that the median of all steps tells: for normal levels 0.954 standard deviations.

    Args:
        levels: Logarithms, oldest first.
        changed: Of each level but the first, whether something else was measured than before.
        accepted: Likewise whether people accepted it as a new level, whatever its size.
    """
    new = accepted or [False] * len(changed)
    steps = [abs(after - before) for before, after in pairwise(levels)]
    sd = max(PRIOR_SD, median(steps) / 0.954 if len(steps) >= _TELLING else 0.0)
    most = SessionSpread(sd, PRIOR_FREEDOM).margin(0.01)
    groups = [[level] for level in levels[:1]]
    for step, other, is_new, level in zip(steps, changed, new, levels[1:], strict=True):
        if is_new or (other and step > most):
            groups.append([])
        groups[-1].append(level)
    return groups


def _pooled(known: Sequence[tuple[float, int]]) -> SessionSpread:
    freedom = sum(each for _, each in known)
    squares = math.fsum(variance * each for variance, each in known)
    return SessionSpread(math.sqrt(squares / freedom), freedom)
