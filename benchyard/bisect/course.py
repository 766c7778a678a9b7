"""The courses of a bisection and of a confirmation: what is measured next, and when it is known.

A bisection takes turns which of both versions is first, a confirmation leaves it to chance.
"""

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from benchyard.bisect.measuring import MeasuredPair, Measuring, MeasuringPlan
from benchyard.bisect.versions import Version, VersionRange
from benchyard.core.fields import Share
from benchyard.statistics.bisection import Bisection, Conclusion
from benchyard.statistics.confirmation import (
    MOST_PAIRS,
    Confirmation,
    Standing,
    measured_margin,
)
from benchyard.timing.execution import Executor


@dataclass(frozen=True, slots=True)
class BisectionPlan(MeasuringPlan):
    """What is searched, and for how long.

    Args:
        sure: Stop as soon as one version is so likely.
        threshold: Smallest slowdown that is looked for.
        predict: Measure GOOD and BAD, say how much the rest will take, and stop.
    """

    sure: Annotated[float, Share()] = 0.99
    threshold: Annotated[float, Share()] = 0.01
    predict: bool = False


class BisectionCourse(Measuring):
    """Builds and measures, or goes on with what a file keeps.

    Args:
        searched: The versions.
        plan: How they are measured.
        executor: Executes them.

    Raises:
        InputError: If the file keeps another bisection, or the command cannot be meant.
    """

    def __init__(self, searched: VersionRange, plan: BisectionPlan, executor: Executor) -> None:
        super().__init__(searched, plan, executor, "bisection")
        self.sure, self.predict = plan.sure, plan.predict
        self._names = [one.name for one in searched.versions]
        self.bisection = Bisection(searched.contains, plan.sure, math.log1p(plan.threshold))
        self.bisection.differences += map(self._difference, self.state.pairs)
        self.bisection.skipped |= {*map(self._names.index, self.state.skipped)}
        self.belief = self.bisection.belief()

    @property
    def conclusion(self) -> Conclusion:
        """What is known so far."""
        return self.bisection.conclusion(self.belief) if self.belief else Conclusion.OPEN

    @property
    def found(self) -> tuple[list[Version], float]:
        """The likeliest version with those that cannot be told from it, and their probability."""
        places = self.bisection.likely(self.belief) if self.belief else []
        sure = float(self.belief.first[places].sum()) if self.belief else 0.0
        return [self.searched.versions[place] for place in places], sure

    def proceed(self) -> Iterator[None]:
        """Measure until it is known, or time is over; stop after each measurement.

        Raises:
            CommandFailedError: If the good or the bad version cannot be measured.
        """
        began, most = time.monotonic(), self.plan.max_time or math.inf
        for belief in self.bisection.course(self._measured):
            self.belief = belief
            yield
            shown_slower = belief and belief.none <= 1 - self.sure
            if time.monotonic() - began > most or (self.predict and shown_slower):
                return

    def _difference(self, pair: MeasuredPair) -> tuple[int, float]:
        """Return place and logarithm; infinite for a time-out, but of the bad version."""
        name, seconds, good_s, late = pair
        late = late and name != self._names[-1]
        return self._names.index(name), math.inf if late else math.log(seconds / good_s)

    def _measured(self, place: int) -> float | None:
        """Measure a version; one that fails is skipped, but for the good and the bad one."""
        state, version = self.state, self.searched.versions[place]
        order = [self.searched.good, version][:: -1 if len(state.pairs) % 2 else 1]
        done = self.measure(order, may_fail=place != self.bisection.bad)
        return self._difference(state.pairs[-1])[1] if done else None


@dataclass(frozen=True, slots=True)
class ConfirmationPlan(MeasuringPlan):
    """What is confirmed, and how surely.

    Args:
        level: Risk of confirming what is not slower by more than the margin.
        margin: BAD must be slower by more than this; a session or a build alone may
            seem to make so much.
        twice: Build GOOD twice, and measure the margin first, unless it is given.
    """

    level: Annotated[float, Share()] = 0.01
    margin: float | None = None
    twice: bool = False


class ConfirmationCourse(Measuring):
    """Measures pairs until it is known whether the bad version is slower.

    Args:
        searched: The good version, and the bad one alone.
        plan: How they are measured.
        executor: Executes them.
        twins: Of earlier sessions the ``twins``.

    Raises:
        InputError: If the file keeps another confirmation, or the command cannot be meant.
    """

    def __init__(
        self,
        searched: VersionRange,
        plan: ConfirmationPlan,
        executor: Executor,
        twins: Sequence[Sequence[float]] = (),
    ) -> None:
        super().__init__(searched, plan, executor, "confirmation")
        self._earlier_twins = twins
        self.bad, self._twin = searched.versions[-1], replace(searched.good, twin="-twin")
        self._level, self._given = plan.level, plan.margin
        self._twins = MOST_PAIRS if plan.twice and plan.margin is None else 0

    @property
    def margin(self) -> float:
        """The margin as a logarithm: as given, measured, or expected."""
        if self._given is not None:
            return math.log1p(self._given)
        twins = [self.twins] if len(self.twins) >= self._twins and self.twins else []
        return measured_margin([*self._earlier_twins, *twins])

    @property
    def twins(self) -> list[float]:
        """Logarithms of the time of the good version's second build over that of its first."""
        return self._logs(self._twin)

    @property
    def differences(self) -> list[float]:
        """Logarithms of the bad version's time over the good one's."""
        return self._logs(self.bad)

    @property
    def confirmation(self) -> Confirmation:
        """What the pairs say so far."""
        made = Confirmation(1 / self._level, self.margin)
        for one in self.differences:
            made.add(one)
        return made

    def proceed(self) -> Iterator[None]:
        """Measure until it is known, or time is over; stop after each pair.

        Raises:
            CommandFailedError: If a version cannot be measured.
        """
        began, most = time.monotonic(), self.plan.max_time or math.inf
        while self.confirmation.standing is Standing.OPEN:
            other = self._twin if len(self.twins) < self._twins else self.bad
            self.measure(random.sample([self.searched.good, other], 2))
            yield
            if time.monotonic() - began > most:
                return

    def _logs(self, version: Version) -> list[float]:
        pairs = self.state.pairs
        return [
            math.log(seconds / good_s) for key, seconds, good_s, _ in pairs if key == version.key
        ]
