"""Whether two sessions differ by more than sessions of one host differ anyway.

All runs of a session share its state of the host (layout of memory and disk, temperature, what else
is there), so the session is the unit: the variance of its level is
``between² + 1.57 · within² / runs``, and more runs make only the second part smaller. Levels are
medians of logarithms, so that a difference of 0.01 is 1 %; of values that are not all above 0 they
are medians of the values themselves.
Source of the model: Kalibera and Jones, 2013, "Rigorous benchmarking in reasonable time", ISMM,
sections 4 and 7; 1.57 is pi / 2, the variance of a median of normal values by that of their mean.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchyard.statistics.distributions import student_quantile, student_tail
from benchyard.statistics.measures import mean, median, quantile

#: Standard deviation between sessions that is expected before anything is known of a host: between
#: neighbouring commits 7,965 public series of two dedicated hosts differ by 1.0 to 1.1 % (robust).
PRIOR_SD = 0.01
#: Degrees of freedom that the prior counts for.
PRIOR_FREEDOM = 4
#: Earlier sessions about one level, from which on a series' own spread must also explain a
#: difference. That of other series alone would call too much where one varies more than they do.
OWN_FROM = 5
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


def split_at_moves(levels: Sequence[float], changed: Sequence[bool]) -> list[list[float]]:
    """Split the levels of sessions where what was measured moved them.

    That is taken for so where something else was measured than before, and the step is beyond what
    sessions make with the prior's spread (99 %), and from ``_TELLING`` steps on also with the
    spread that the median of all steps tells: for normal levels 0.954 standard deviations.

    Args:
        levels: Logarithms, oldest first.
        changed: Of each level but the first, whether something else was measured than before.
    """
    steps = [abs(after - before) for before, after in pairwise(levels)]
    sd = max(PRIOR_SD, median(steps) / 0.954 if len(steps) >= _TELLING else 0.0)
    most = SessionSpread(sd, PRIOR_FREEDOM).margin(0.01)
    groups = [[level] for level in levels[:1]]
    for step, other, level in zip(steps, changed, levels[1:], strict=True):
        if other and step > most:
            groups.append([])
        groups[-1].append(level)
    return groups


def _pooled(known: Sequence[tuple[float, int]]) -> SessionSpread:
    freedom = sum(each for _, each in known)
    squares = math.fsum(variance * each for variance, each in known)
    return SessionSpread(math.sqrt(squares / freedom), freedom)
