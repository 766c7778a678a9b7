"""Which of many versions is the first slow one: a probabilistic bisection.

A measurement of a version is the logarithm of its time over that of the good version next to it:
about 0 before the first slow version, about the step from it on. Bayes' rule keeps the probability
of each version to be the first slow one, over all sizes of the step and of the noise. The next
measurement divides it best, so a misleading one costs a few more, and not the result.

Sources: Karp and Kleinberg, 2007, "Noisy binary search and its applications", SODA, 881-890;
Waeber, Frazier and Henderson, 2013, "Bisection search with noisy responses", SIAM Journal on
Control and Optimization 51 (3), 2261-2279; that one may look after each measurement: Ville, 1939,
Étude critique de la notion de collectif.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from benchyard.statistics.measures import mad_around, median

Floats = NDArray[np.float64]

#: Measurements of the bad version before anything is said of step and noise.
FIRST = 6
#: This share of the differences is Cauchy's, as wide as so many standard deviations, or the step.
_WIDE_SHARE, _WIDE = 0.1, 3.0
#: This share looks by mishap like a version of the other kind, so that never one alone decides.
_MISHAPS = 0.02
#: Smallest standard deviation of the differences, and what it may be against its estimate.
_LEAST_SD, _SD_TIMES = 0.0005, np.geomspace(1 / 3, 3, 9)
#: Steps that are thought possible, as logarithms: each size is as likely as ten times of it.
_LEAST_STEP, _MOST_STEP = 0.001, 7.0
_STEPS, _STEP_ERRORS = 41, 9.0
#: A version that was measured before is taken again if it divides so well, against the best one.
_AGAIN = 0.8
#: So many courses are drawn to foresee the rest of one, each of so many measurements at most.
_DRAWN, _LONGEST = 11, 1_000


class Conclusion(Enum):
    """What is known of the first slow version."""

    OPEN = "open"
    FOUND = "found"
    INSEPARABLE = "one of several"
    NO_DIFFERENCE = "no difference"


@dataclass(frozen=True, slots=True)
class Belief:
    """What the measurements say.

    Args:
        first: Of each version the probability that it is the first slow one.
        none: Probability that not even the bad version is slower.
        steps: Sizes of the step, as logarithms.
        weights: Their probabilities, if there is a step.
        sd: Standard deviation of a difference.
    """

    first: Floats
    none: float
    steps: Floats
    weights: Floats
    sd: float

    def step(self, share: float = 0.5) -> float:
        """Return the step below which the true one lies with this probability."""
        return float(np.interp(share, self.weights.cumsum() - self.weights / 2, self.steps))


@dataclass(slots=True)
class Bisection:
    """Versions after a good one; the last is the bad one, and contains all others.

    Args:
        contains: Shape (n, n): whether version i contains version j; each contains itself.
        sure: Probability that is enough.
        threshold: Smallest step that is looked for, as a logarithm.
        differences: Version, and logarithm of its time over the good one's; infinite for a
            time-out, but for the bad version.
        skipped: Versions that cannot be measured.
    """

    contains: NDArray[np.bool_]
    sure: float = 0.99
    threshold: float = 0.01
    differences: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    skipped: set[int] = field(default_factory=set[int])

    @property
    def bad(self) -> int:
        """The place of the bad version."""
        return len(self.contains) - 1

    def course(self, measure: Callable[[int], float | None]) -> Iterator[Belief | None]:
        """Measure until it is known; yield after each what is believed, None for too little.

        Args:
            measure: Returns a difference of a version, None if it cannot be measured.
        """
        while (belief := self.belief()) is None or self.conclusion(belief) is Conclusion.OPEN:
            place = self.bad if belief is None else self.next(belief)
            value = measure(place)
            if value is None:
                self.skipped.add(place)
            else:
                self.differences.append((place, value))
            yield self.belief()

    def belief(self) -> Belief | None:
        """Return what the measurements say; None below ``FIRST`` of the bad version."""
        of_bad = [value for place, value in self.differences if place == self.bad]
        if len(of_bad) < FIRST:
            return None
        centre = median(of_bad)
        sd = max(_LEAST_SD, 1.4826 * mad_around(centre, of_bad))
        steps, prior = _steps(centre, sd / math.sqrt(len(of_bad)))
        places, values = (np.array(some) for some in zip(*self.differences, strict=True))
        values = np.where(np.isinf(values), centre, values)[:, None, None]
        wide = max(_WIDE * sd, centre)
        good, bad = (_density(values - step, sd, wide) for step in (0.0, steps[:, None]))
        none = np.log(good).sum(axis=(0, 1))
        seen_good = np.log(good + _MISHAPS * (bad - good))
        gain = np.log(bad + _MISHAPS * (good - bad)) - seen_good
        # Not by tensordot: on a host with little to spare its threads wait for each other.
        logs = np.einsum("mv,msd->vsd", self.contains[places], gain) + seen_good.sum(axis=0)
        logs += np.log(prior / len(self.contains))[:, None]
        return _belief(logs, none, steps, sd)

    def conclusion(self, belief: Belief) -> Conclusion:
        """Tell whether it is known, or that it cannot be."""
        matters = belief.weights[belief.steps >= self.threshold].sum() * (1 - belief.none)
        if matters <= 1 - self.sure:
            return Conclusion.NO_DIFFERENCE
        likely = self.likely(belief)
        if belief.first[likely].sum() < self.sure:
            return Conclusion.OPEN
        return Conclusion.FOUND if len(likely) == 1 else Conclusion.INSEPARABLE

    def likely(self, belief: Belief) -> list[int]:
        """Return the likeliest version, and those that no measurement can separate from it."""
        columns = np.packbits(np.delete(self.contains, [*self.skipped], axis=0), axis=0).T
        _, group = np.unique(columns, axis=0, return_inverse=True)
        best = np.bincount(group.ravel(), weights=belief.first).argmax()
        return np.flatnonzero(group.ravel() == best).tolist()

    def next(self, belief: Belief) -> int:
        """Return the version to measure: one that need not be built if it divides nearly as well.

        It is the bad one until that is shown to be slower.
        """
        if belief.none > 1 - self.sure:
            return self.bad
        evenness = (slow := self.contains @ belief.first) * (1 - slow)
        evenness[list(self.skipped)] = -1
        best = int(evenness.argmax())
        again = max({place for place, _ in self.differences}, key=lambda place: evenness[place])
        return again if evenness[again] >= _AGAIN * evenness[best] else best

    def foreseen(self, belief: Belief, seed: int = 1) -> tuple[int, int]:
        """Return how many more measurements, and of how many new versions, it is likely to take.

        Both are medians of courses that are drawn from what is believed.
        """
        drawn = np.random.default_rng(seed)
        pairs, builds = np.median([self._drawn(belief, drawn) for _ in range(_DRAWN)], axis=0)
        return round(pairs), round(builds)

    def _drawn(self, belief: Belief, drawn: np.random.Generator) -> tuple[int, int]:
        truth = drawn.choice(len(belief.first), p=belief.first / belief.first.sum())
        slow = self.contains[:, truth] * belief.step()
        one = replace(self, differences=[*self.differences], skipped={*self.skipped})
        measured = one.course(lambda place: slow[place] + drawn.normal(0, belief.sd))
        pairs = sum(1 for _ in zip(range(_LONGEST), measured, strict=False))
        versions = [len({place for place, _ in some.differences}) for some in (one, self)]
        return pairs, versions[0] - versions[1]


def _steps(centre: float, error: float) -> tuple[Floats, Floats]:
    """Return the sizes of the step that are thought possible, with their prior probabilities."""
    low = max(_LEAST_STEP, centre - _STEP_ERRORS * error)
    high = max(2 * _LEAST_STEP, centre + _STEP_ERRORS * error)
    steps = np.geomspace(low, high, _STEPS)
    return steps, np.full(
        _STEPS, math.log(steps[1] / steps[0]) / math.log(_MOST_STEP / _LEAST_STEP)
    )


def _density(away: Floats, sd: float, wide: float) -> Floats:
    sds = sd * _SD_TIMES
    normal = np.exp(-((away / sds) ** 2) / 2) * (1 - _WIDE_SHARE) / (sds * math.sqrt(2 * math.pi))
    return normal + _WIDE_SHARE / (math.pi * wide * (1 + (away / wide) ** 2))


def _belief(logs: Floats, none: Floats, steps: Floats, sd: float) -> Belief:
    """Return the probabilities by their logarithms, which need a common factor.

    Args:
        logs: By first slow version, step and standard deviation.
        none: Of no step, by standard deviation.
    """
    most = max(logs.max(), none.max())
    mass, no_step = np.exp(logs - most), np.exp(none - most)
    total = mass.sum() + no_step.sum()
    by_step, by_sd = mass.sum(axis=(0, 2)), mass.sum(axis=(0, 1)) + no_step
    first, weights = mass.sum(axis=(1, 2)) / total, by_step / by_step.sum()
    sd *= float(_SD_TIMES[by_sd.argmax()])
    return Belief(first, float(no_step.sum() / total), steps, weights, sd)
