"""Whether a suspected change is real: fresh pairs of both versions, and a month's budget of alarms.

Old and new version are executed in pairs, in random order, in one session. ``d`` is the logarithm
of new over old in the suspected direction, less a margin. A wealth starts at 1, and each pair
stakes a share of it on ``d`` being above 0: ``e <- e (1 + 0.9 g sign d)``, where g says how large
``|d|`` is among those before, from 0 to 1. If the true change is at most the margin, and the noise
of a pair is symmetric and has one mode, each bet loses on average: e is a supermartingale, and is
ever above a bound with a probability of at most 1 / bound. At most C confirmations a month, each
with the bound C / B, thus make at most B false alarms a month on average, whatever raised the
suspicions, and however many series there are and depend on each other.

What one session or one build does to one version is no change, but each pair shows it. Therefore
the margin is 1.7 times that effect: pairs of two builds of one version tell it.

Sources: Ville, 1939, Étude critique de la notion de collectif; Vovk and Wang, 2021, "E-values:
calibration, combination and applications", Annals of Statistics 49 (3), 1736-1754; Ramdas,
Grünwald, Vovk and Shafer, 2023, "Game-theoretic statistics and safe anytime-valid inference",
Statistical Science 38 (4), 576-601.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum

from benchyard.statistics.pairs import middle_difference

#: False alarms a month, and confirmations a month.
BUDGET, CONFIRMATIONS = 1.0, 60
#: A confirmation has so many pairs at most.
MOST_PAIRS = 30
#: Share of the wealth that the largest difference so far stakes.
_STAKE = 0.9
#: Growth in a pair of which g is in the middle: what needs more of each pair left is given up.
_LIKELY = 1 + _STAKE / 2
#: A series rests so long after it was not confirmed.
REST = timedelta(days=7)
#: Effect of a session or a build on one version that is expected before one is measured (standard
#: deviation), the degrees of freedom that it counts for, and the margin by the effect.
PRIOR_EFFECT, PRIOR_FREEDOM, _MARGIN_TIMES = 0.003, 4, 1.7


class Standing(Enum):
    """What the pairs say so far."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not confirmed"


@dataclass(slots=True)
class Confirmation:
    """One suspicion, and what its pairs say.

    Args:
        bound: The e-value that confirms: 1 / bound is the risk of a false alarm.
        margin: The change must exceed it; a logarithm.
        direction: 1 if the new version is suspected to have more, -1 for less.
        e_value: How many times the wealth has grown.
        sizes: Of the differences so far, less the margin, in order of size.
    """

    bound: float = CONFIRMATIONS / BUDGET
    margin: float = 0.0
    direction: int = 1
    e_value: float = 1.0
    sizes: list[float] = field(default_factory=list[float])

    @property
    def standing(self) -> Standing:
        """Whether it is decided, early if the bound is out of reach."""
        left = MOST_PAIRS - len(self.sizes)
        if self.e_value >= self.bound:
            return Standing.CONFIRMED
        hopeless = self.e_value * _LIKELY**left < self.bound
        return Standing.NOT_CONFIRMED if hopeless else Standing.OPEN

    def add(self, difference: float) -> Standing:
        """Take a pair: the logarithm of the new version's value over the old one's."""
        beyond = self.direction * difference - self.margin
        size, before = abs(beyond), len(self.sizes)
        if beyond and before:
            rank = (bisect_left(self.sizes, size) + bisect_right(self.sizes, size)) / 2
            self.e_value *= 1 + _STAKE * math.copysign(rank / before, beyond)
        insort(self.sizes, size)
        return self.standing


def measured_margin(sessions: Sequence[Sequence[float]] = ()) -> float:
    """Return the margin, by what sessions with two builds of one version show.

    Their effect is pooled with the expected one, and never taken for smaller than measured.

    Args:
        sessions: Of each the differences of its pairs, as logarithms, 1 or more; none leaves what
            is expected.
    """
    centres = [middle_difference(one, 0.99).estimate or 0.0 for one in sessions]
    square, n = math.fsum(one * one for one in centres), len(centres)
    pooled = (square + PRIOR_FREEDOM * PRIOR_EFFECT**2) / (n + PRIOR_FREEDOM)
    return _MARGIN_TIMES * math.sqrt(max(pooled, square / n if n else 0.0))


@dataclass(slots=True)
class AlarmAccount:
    """How much of a month's confirmations is spent, and which series rest; plain JSON as it stands.

    Args:
        budget: False alarms a month, on average, at most.
        confirmations: In a month, at most.
        month: The month that is counted, such as 2026-11.
        spent: Confirmations begun in it.
        resting: Series, and the first night on which it is confirmed again if suspected.
        twins: Series, and of each session the logarithms that its two builds of one version gave.
    """

    budget: float = BUDGET
    confirmations: int = CONFIRMATIONS
    month: str = ""
    spent: int = 0
    resting: dict[str, str] = field(default_factory=dict[str, str])
    twins: dict[str, list[list[float]]] = field(default_factory=dict[str, list[list[float]]])

    @property
    def bound(self) -> float:
        """The e-value that an alarm needs."""
        return self.confirmations / self.budget

    def choose(self, night: date, suspicions: Mapping[str, float]) -> list[str]:
        """Return the series to confirm now, the strongest first, and count them as spent.

        The others stay suspected: whoever still suspects them asks again on the next night.

        Args:
            night: A clock that goes back opens no month again.
            suspicions: Series, and how strongly each is suspected.
        """
        today = night.isoformat()
        if (month := today[:7]) > self.month:
            self.month, self.spent = month, 0
        self.resting = {one: until for one, until in self.resting.items() if until > today}
        awake = [one for one in suspicions if one not in self.resting]
        awake.sort(key=lambda one: suspicions[one], reverse=True)
        chosen = awake[: max(0, self.confirmations - self.spent)]
        self.spent += len(chosen)
        return chosen

    def rest(self, series: str, night: date) -> None:
        """Let a series rest that was not confirmed."""
        self.resting[series] = (night + REST).isoformat()
