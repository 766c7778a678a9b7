"""Whether a bisection finds the first slow of 128 versions, and what it costs, drawn with a seed.

A measurement is a pair: a version and the good one next to it. The good one, the step and each
execution's noise are as a line says. The peer is plain bisection: it measures the bad version and
each of the 7 versions on its way as often, and calls those slow whose mean (or median) is above
half of the bad one's. Its repetitions are the fewest that find the right version in 95 % of its
trials; a user would have to know noise and step to choose so.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from benchmarks.table import Figure, Size, run_program
from benchyard.statistics import mean, median
from benchyard.statistics.bisection import Bisection, Conclusion

VERSIONS, STEP, RIGHT = 128, 0.02, 0.95
#: Of the peer's measurements, at most.
SHARE = 0.4
MOST_REPETITIONS = 100

Draw = Callable[[], float]


@dataclass(frozen=True)
class Setting:
    """One group of lines.

    Args:
        noise: Standard deviation of a pair's difference.
        wild: Share of pairs that are 20 % off, either way.
        unbuildable: Share of versions that cannot be measured.
        sure: Probability at which the bisection stops.
    """

    noise: float = 0.01
    wild: float = 0.0
    unbuildable: float = 0.0
    sure: float = 0.99

    def draw(self, random: Random) -> float:
        """Return the noise of a pair."""
        off = random.choice((-0.2, 0.2)) if random.random() < self.wild else 0.0
        return random.gauss(0, self.noise) + off


SETTINGS = {
    "1 %": Setting(),
    "1 %, --sure 97%": Setting(sure=0.97),
    "1 % an execution, 1.4 % a pair": Setting(noise=0.01 * math.sqrt(2)),
    "1 %, one in 20 is 20 % off": Setting(wild=0.05),
    "1 %, one in 10 unbuildable": Setting(unbuildable=0.1),
}


def measure(size: Size) -> Sequence[Figure]:
    """Return all lines."""
    return list(_figures(size))


def _figures(size: Size) -> Iterator[Figure]:
    peers: dict[tuple[float, float, str], float] = {}
    for name, setting in SETTINGS.items():
        random, trials = Random(name), size.of(200, 3)  # noqa: S311 - a simulation
        found = [bisected(random, setting) for _ in range(trials)]
        wrong = sum(not right for right, _, _ in found) / trials
        yield Figure(f"{name}: wrong", [wrong], "%", 1 - RIGHT)
        taken = [float(pairs) for _, pairs, _ in found]
        yield Figure(f"{name}: measurements", taken, "")
        yield Figure("  versions built", [float(builds) for _, _, builds in found], "")
        for kind, centre in (("medians", median), ("means", mean))[: 1 if setting.wild else 2]:
            key = (setting.noise, setting.wild, kind)
            peers[key] = peers.get(key) or plain(random, setting, centre, size)
            limit = SHARE if kind == "medians" else None
            yield Figure(f"  plain bisection by {kind}: measurements", [peers[key]], "")
            yield Figure("    ours in the mean / its", [mean(taken) / peers[key]], "%", limit)


def bisected(random: Random, setting: Setting) -> tuple[bool, int, int]:
    """Return whether the right version was named, and how many pairs and builds it took."""
    truth = random.randrange(VERSIONS)
    unbuildable = {at for at in range(VERSIONS - 1) if random.random() < setting.unbuildable}

    def pair(place: int) -> float | None:
        return None if place in unbuildable else STEP * (place >= truth) + setting.draw(random)

    bisection = Bisection(np.tri(VERSIONS, dtype=np.bool_), setting.sure)
    *_, belief = bisection.course(pair)
    places = [place for place, _ in bisection.differences]
    if belief is None or bisection.conclusion(belief) is Conclusion.NO_DIFFERENCE:
        return False, len(places), len({*places})
    return truth in bisection.likely(belief), len(places), len({*places})


def plain(
    random: Random, setting: Setting, centre: Callable[[Sequence[float]], float], size: Size
) -> float:
    """Return how many pairs plain bisection takes with the fewest repetitions that do."""
    trials = size.of(2_000, 20)
    for repetitions in range(1, MOST_REPETITIONS + 1):
        right = sum(_is_right(random, setting, centre, repetitions) for _ in range(trials))
        if right >= RIGHT * trials:
            return repetitions * (math.log2(VERSIONS) + 1)
    return math.inf


def _is_right(
    random: Random,
    setting: Setting,
    centre: Callable[[Sequence[float]], float],
    repetitions: int,
) -> bool:
    def level(*, slow: bool) -> float:
        return centre([STEP * slow + setting.draw(random) for _ in range(repetitions)])

    truth, step = random.randrange(VERSIONS), level(slow=True)
    good, bad = -1, VERSIONS - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if level(slow=middle >= truth) > step / 2:
            bad = middle
        else:
            good = middle
    return bad == truth


if __name__ == "__main__":
    run_program(__doc__, measure)
