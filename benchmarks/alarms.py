"""Whether alarms keep their monthly budget, and how soon a real change is confirmed.

Months of a lab are drawn with fixed seeds: 200 series that vary by 1 % from night to night, after
60 nights and a week in which all works already. The detector suspects, the account chooses, and
pairs with 1.4 % (1 % an execution) confirm. "Effect" is the standard deviation of what a session
does to one version without a change; a measured margin knows it by five sessions with two builds
of one version. Old is the version of three nights before the place of the change.
"""

import math
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from random import Random

import numpy as np

from benchmarks.changes import SD, calls
from benchmarks.table import Figure, Size, run_program
from benchyard.statistics import mean
from benchyard.statistics.changes import FEWEST, Detector
from benchyard.statistics.confirmation import (
    BUDGET,
    CONFIRMATIONS,
    MOST_PAIRS,
    AlarmAccount,
    Confirmation,
    Standing,
    measured_margin,
)
from benchyard.suite.alarms import SUSPECTED

SERIES, BEFORE, WEEK, NIGHTS = 200, 60, 7, 30
BEGIN = date(2026, 11, 1)
#: |z| that makes an alarm where history is all there is.
ALONE = 4.2
PAIR_SD = SD * math.sqrt(2)
#: Sessions with two builds of one version.
SESSIONS = 5
#: Level of ``benchyard confirm``.
LEVEL = 0.01

#: Of each night the suspected series, with z; below 0 where the suspicion is that it has less.
Month = Sequence[dict[str, float]]


@dataclass(frozen=True)
class Setting:
    """How confirmations are drawn.

    Args:
        effect: Standard deviation of what a session does to one version.
        margin: None for a measured one.
    """

    effect: float
    margin: float | None

    @property
    def must_hold(self) -> bool:
        """Whether the margin promises the budget."""
        return not self.effect or self.margin is None or self.margin > 1.6 * self.effect

    def __str__(self) -> str:
        margin = "measured margin" if self.margin is None else f"margin {self.margin:.1%}"
        return f"effect {self.effect:.1%}, {margin}"


def measure(size: Size) -> list[Figure]:
    """Measure all, on two processes."""
    with ProcessPoolExecutor(2) as pool:
        months = [*pool.map(_month, range(size.of(300, 2)), chunksize=2)]
        settings = [Setting(e, m) for e in (0.0, 0.003, 0.006) for m in (0.0, 0.005, None)]
        begun = [pool.submit(_false, months, setting) for setting in settings]
        steps = size.of(2_000, 20)
        begun += [pool.submit(_nights, step, steps) for step in (0.02, 0.01)]
        begun += [pool.submit(_alone, size.of(10_000, 20))]
        return [*_history(months), *(figure for one in begun for figure in one.result())]


def _random(*name: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(name).encode()))


def _month(number: int) -> Month:
    random = _random("month", number)
    nights: list[dict[str, float]] = [{} for _ in range(WEEK + NIGHTS)]
    for series in range(SERIES):
        values = random.normal(scale=SD, size=BEFORE + WEEK + NIGHTS)
        detector = Detector(SUSPECTED, values=values[:BEFORE].tolist(), seen=BEFORE)
        for at, change in calls(detector, values[BEFORE:]):
            nights[at - 1][str(series)] = math.copysign(change.z, change.size)
    return nights


def _history(months: Sequence[Month]) -> Iterator[Figure]:
    alarms = [len(_sure(month[WEEK:]) - _sure(month[:WEEK])) for month in months]
    what = f"history alone, z > {ALONE}: false alarms a month"
    yield Figure(what, [mean(alarms)], "")


def _sure(nights: Month) -> set[str]:
    return {name for night in nights for name, z in night.items() if abs(z) > ALONE}


def _false(months: Sequence[Month], setting: Setting) -> list[Figure]:
    random = Random(str(setting))  # noqa: S311 - a simulation
    alarms, spent, pairs = list[int](), list[int](), list[int]()
    for month in months:
        account, margin = AlarmAccount(), _margin(random, setting)
        known, false = set[str](), 0
        for at, night in enumerate(month, -WEEK):
            today = BEGIN + timedelta(at)
            strengths = {name: abs(z) for name, z in night.items() if name not in known}
            for name in account.choose(today, strengths):
                one = Confirmation(account.bound, margin, int(math.copysign(1, night[name])))
                if _confirmed(random, one, random.gauss(0, setting.effect)):
                    known.add(name)
                    false += at >= 0
                else:
                    account.rest(name, today)
                pairs.append(len(one.sizes))
        alarms.append(false)
        spent.append(account.spent)
    limit = BUDGET if setting.must_hold else None
    figures = [Figure(f"{setting}: false alarms a month", [mean(alarms)], "", limit)]
    figures += [Figure("  pairs of a confirmation", pairs, "")]
    if setting == Setting(0, 0):
        used_up = [mean([one == CONFIRMATIONS for one in spent])]
        figures += [Figure(f"z > {SUSPECTED}: confirmations a month", spent, "", CONFIRMATIONS)]
        figures += [Figure("  months that need all of them", used_up, "%")]
    return figures


def _margin(random: Random, setting: Setting) -> float:
    if setting.margin is not None:
        return setting.margin
    effects = [random.gauss(0, setting.effect) for _ in range(SESSIONS)]
    return measured_margin([[random.gauss(e, PAIR_SD) for _ in range(MOST_PAIRS)] for e in effects])


def _confirmed(random: Random, one: Confirmation, effect: float) -> bool:
    while one.standing is Standing.OPEN:
        one.add(random.gauss(effect, PAIR_SD))
    return one.standing is Standing.CONFIRMED


def _nights(step: float, series: int) -> list[Figure]:
    """Let one series of a lab become slower, where the month's confirmations are not spent."""
    random, pairs = Random(str(step)), list[int]()  # noqa: S311
    late = [_until_confirmed(random, step, number, pairs) for number in range(series)]
    is_large, margin = step > SD, measured_margin()
    return [
        Figure(f"a step of {step:.0%}, margin {margin:.2%}: nights until confirmed", late, ""),
        *(
            Figure(
                f"  not confirmed within {most} nights",
                [mean([one > most for one in late])],
                "%",
                limit if is_large else None,
            )
            for most, limit in ((5, 0.25), (10, 0.05))
        ),
        Figure("  pairs of the confirmation", pairs or [MOST_PAIRS], ""),
    ]


def _until_confirmed(random: Random, step: float, number: int, pairs: list[int]) -> int:
    """Return in which night with the step it is confirmed; one after the last if in none."""
    values = _random("step", step, number).normal(scale=SD, size=BEFORE + WEEK + NIGHTS)
    values[BEFORE + WEEK :] += step
    detector = Detector(SUSPECTED, values=values[:BEFORE].tolist(), seen=BEFORE)
    account = AlarmAccount()
    for at, change in calls(detector, values[BEFORE:]):
        today = BEGIN + timedelta(at)
        if account.choose(today, {"it": change.z}):
            one = Confirmation(account.bound, measured_margin(), int(math.copysign(1, change.size)))
            old = change.place - FEWEST
            is_between = old < BEFORE + WEEK and at > WEEK
            if _confirmed(random, one, step if is_between else 0.0) and is_between:
                pairs.append(len(one.sizes))
                return at - WEEK
            account.rest("it", today)
    return NIGHTS + 1


def _alone(count: int) -> list[Figure]:
    """Confirm without history: what one confirmation misses."""
    random = Random("alone")  # noqa: S311
    return [
        Figure(f"a change of {change:.0%}, {name}, e > {bound:.0f}: not confirmed", [missed], "%")
        for change in (0.02, 0.01)
        for name, margin in (("margin 0", 0.0), ("margin 0.51%", measured_margin()))
        for bound in (CONFIRMATIONS / BUDGET, 1 / LEVEL)
        for draw in [partial(_confirmed, random, effect=change)]
        for missed in [mean([not draw(Confirmation(bound, margin)) for _ in range(count)])]
    ]


if __name__ == "__main__":
    run_program(__doc__, measure)
