"""Where the level of a series changes: one statistic, offline and point by point.

For every split the ranks of the later part are summed up. The sum's tail is exact where the shorter
part has at most 10 points, as normal tails would hide the largest step for six nights; otherwise
it is normal with corrections for ties and continuity. Where neighbours are correlated, the series
of innovations ``x[t] - r x[t-1]`` has to show the change at the same place, too. A level that was
left again is hardly seen in a split of the whole: offline, parts of it are split, too.

Sources: Hawkins and Deng, 2010, "A nonparametric change-point control chart", Journal of Quality
Technology 42 (2), 165-173; Ross, Tasoulis and Adams, 2011, "Nonparametric monitoring of data
streams for changes in location and scale", Technometrics 53 (4), 379-389; the exact tails: the
recurrence of Gaussian binomial coefficients, Mann and Whitney, 1947; prewhitening: von Storch,
1995, "Misuses of statistical analysis in climate research"; parts: Kovács, Bühlmann, Li and Munk,
2023, "Seeded binary segmentation", Biometrika 110 (1), 249-256.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchyard.statistics.measures import normal_cdf

Floats = NDArray[np.float64]

#: A shorter part of up to so many points has exact tails, in series of up to so many points.
EXACT, LONGEST = 10, 500
#: Each part of an offline split has at least so many points; the new part of an online one, too.
FEWEST = 3
#: Online: points before a change, and points altogether, before anything is called.
BEFORE, FIRST = 6, 16
#: Online: so many points are looked back at.
WINDOW = 200
#: Smallest autocorrelation that is taken out.
_CORRELATED = 0.05
#: Offline: |z| that 0.5 % of series without a change exceed, by their length.
#: Source: benchmarks/changes.py, 20,000 series of normal values each.
_CRITICAL = {10: 2.34, 16: 2.78, 25: 3.03, 50: 3.32, 100: 3.54, 200: 3.70, 500: 3.80, 2000: 3.97}
#: Offline: so much surer has a change to be that a part of a series shows, and not the whole: there
#: are many parts. Source: as above; with it 0.1 % more of series without a change show one.
_SURER = 0.6
#: Offline: fewer points show no change.
SHORTEST = min(_CRITICAL)


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A change of level.

    Args:
        place: Index of the first point of the new level.
        size: New level less the old one, by medians; of logarithms 0.02 is 2 % more.
        z: How far the ranks are from those of no change, in standard deviations.
    """

    place: int
    size: float
    z: float

    @property
    def points_a_false_one(self) -> float:
        """In how many points noise alone makes a change as sure as this one, on average.

        Source: benchmarks/changes.py: 0.23 in 1,000 points at 4.0, a factor of 0.43 for each 0.2.
        """
        return 1000 / (0.23 * 0.43 ** ((self.z - 4) / 0.2))


def threshold_of(points: float) -> float:
    """Return the |z| that noise alone exceeds once in so many points; see there for the source."""
    return 4 + 0.2 * math.log(1000 / (0.23 * points)) / math.log(0.43)


def changes(values: Floats) -> list[LevelChange]:
    """Return the changes of a finished series, oldest first: binary segmentation.

    Args:
        values: Shape (n,), finite, in order: logarithms of levels, or levels if not above 0.
    """
    found = sorted(_places(values, 0))
    levels = np.split(values, [place for place, _ in found])
    shifts = (np.median(after) - np.median(before) for before, after in pairwise(levels))
    return [
        LevelChange(place, float(size), z) for (place, z), size in zip(found, shifts, strict=True)
    ]


def _places(values: Floats, start: int) -> Iterator[tuple[int, float]]:
    """Yield where the level changes, and how sure that is."""
    if len(values) < SHORTEST:
        return
    least = critical(len(values))
    place, z = _best(values, FEWEST, FEWEST, least)
    if z <= least:
        place, z = _best_in_part(values, least + _SURER)
    if place:
        yield start + place, z
        yield from _places(values[:place], start)
        yield from _places(values[place:], start + place)


def _best_in_part(values: Floats, least: float) -> tuple[int, float]:
    """Return where a part of the series is split, and its |z|; 0 if none is sure enough.

    Parts are half as long as the series, a quarter, and so on, and neighbours overlap. Of each
    length, the one whose ranks in the whole differ most is tested, unless that is hopeless: exact
    tails are about 1 above normal ones at most.
    """
    n, ranks = len(values), _midranks(values)[0]
    for length in (n >> halved for halved in range(1, n.bit_length())):
        if length < SHORTEST:
            break
        starts = np.linspace(0, n - length, 4 * (n // length) - 3).astype(int)
        parts = np.lib.stride_tricks.sliding_window_view(ranks, length)[starts]
        parts = parts - parts.mean(axis=1, keepdims=True)
        first = np.arange(FEWEST, length - FEWEST + 1)
        away = np.abs(parts.cumsum(axis=1)[:, first - 1]) / np.sqrt(first * (length - first))
        z = away.max(axis=1) * length / np.linalg.norm(parts, axis=1).clip(1e-9)
        start = int(starts[z.argmax()])
        if z.max() > least - 1:
            place, surest = _best(values[start : start + length], FEWEST, FEWEST, least)
            if surest > least:
                return start + place, surest
    return 0, 0.0


def critical(n: int) -> float:
    """Return the |z| above which an offline series of n points has a change."""
    lengths = np.log([*_CRITICAL])
    return float(np.interp(math.log(n), lengths, [*_CRITICAL.values()]))


def _shift(values: Floats, place: int) -> float:
    return float(np.median(values[place:]) - np.median(values[:place]))


@dataclass(slots=True)
class Detector:
    """Changes of a series that grows, each called once: after it, the new level is the base.

    Args:
        threshold: |z| above which a change is called.
        least: Smallest shift of the medians that is called.
        values: Of the present level, the newest ``WINDOW`` at most.
        seen: How many points there were.
    """

    threshold: float = 4.0
    least: float = 0.01
    values: list[float] = field(default_factory=list[float])
    seen: int = 0

    def append(self, value: float) -> LevelChange | None:
        """Take the next point; return a change if it shows one."""
        self.seen += 1
        self.values = [*self.values[-WINDOW + 1 :], value]
        if len(self.values) < FIRST:
            return None
        values = np.array(self.values)
        place, z = _best(values, BEFORE, FEWEST, self.threshold)
        if z <= self.threshold or abs(shift := _shift(values, place)) < self.least:
            return None
        self.values = self.values[place:]
        return LevelChange(self.seen - len(self.values), shift, z)


def _best(values: Floats, before: int, after: int, least: float) -> tuple[int, float]:
    """Return the split with the largest |z|, and that, less what autocorrelation explains.

    Args:
        before: Points of the first part, at least; ``after`` those of the second.
        least: Where |z| is not above it, it does not matter how much less it is.
    """
    last = len(values) - after
    every = np.abs(_z_of_splits(values))
    place = before + int(every[before : last + 1].argmax())
    if every[place] <= least:
        return place, float(every[place])
    near = range(max(before, place - EXACT), min(last, place + EXACT) + 1)
    place = min((one for one in near if every[one] > least), key=partial(_misfit, values))
    z = float(every[place])
    r = min(_autocorrelation(values, each) for each in ([place], _raw(values, place)))
    if r > _CORRELATED:
        z = min(z, abs(float(_z_of_splits(values[1:] - r * values[:-1])[place - 1])))
    return place, z


def _misfit(values: Floats, place: int) -> float:
    """Return how far all lie from the medians of both parts, by Huber's loss.

    The surest split is none of its own: exact tails favour parts of at most 10 points, and normal
    ones parts that are a point longer than the new level. Source of the loss: Huber, 1964, "Robust
    estimation of a location parameter", Annals of Mathematical Statistics 35 (1), 73-101.
    """
    most = 2.5 * float(np.median(np.abs(np.diff(values)))) / math.sqrt(2)
    rest = np.abs(np.concatenate([part - np.median(part) for part in np.split(values, [place])]))
    return float(np.where(rest < most, rest * rest, (2 * rest - most) * most).sum())


def _raw(values: Floats, place: int) -> list[int]:
    """Return the splits of a series into levels, as if its points were independent.

    Steps of one direction would else be taken for autocorrelation.

    Args:
        place: A split that is one of them in any case.
    """
    found, rest = {place}, [(0, len(values))]
    while rest:
        start, end = rest.pop()
        if end - start >= SHORTEST:
            z = np.abs(_z_of_splits(values[start:end]))[FEWEST : end - start - FEWEST + 1]
            if z.max() > critical(end - start):
                middle = start + FEWEST + int(z.argmax())
                found.add(middle)
                rest += [(start, middle), (middle, end)]
    return sorted(found)


def _autocorrelation(values: Floats, places: Sequence[int]) -> float:
    """Return the lag-1 autocorrelation about the medians of the parts between some places.

    It is made unbiased, and half of r standard errors larger: too small an r leaves waves behind.
    """
    parts = np.split(values, places)
    rest = np.concatenate([part - np.median(part) for part in parts])
    most = 2.5 * float(np.median(np.abs(rest)))
    rest = np.clip(rest, -most, most)
    square = float(rest @ rest)
    r = float(rest[1:] @ rest[:-1]) / square if square else 0.0
    n = len(values)
    unbiased = r + (5 + 2 * len(parts) + 4 * r) / n
    return min(0.9, max(0.0, unbiased + 0.5 * r / math.sqrt(n)))


def _z_of_splits(values: Floats) -> Floats:
    """Return the z of the later part's ranks for each split, by the place where it begins."""
    n = len(values)
    ranks, tied = _midranks(values)
    size = np.arange(n, 0, -1.0)
    away = ranks[::-1].cumsum()[::-1] - size * (n + 1) / 2
    spread = np.sqrt(size * (n - size) / 12 * (n + 1 - tied))
    beyond = np.maximum(np.abs(away) - 0.5, 0)
    z = np.divide(beyond, spread, out=np.zeros(n), where=spread > 0)
    known = min(n, LONGEST)
    exact = _exact_z(WINDOW if n <= WINDOW else LONGEST)[known]
    for shorter in range(FEWEST, min(EXACT, n // 2) + 1):
        for place in (shorter, n - shorter):
            # Of a longer series the sum is nearly one of uniform values: it is scaled.
            scale = (known - shorter) / (n - shorter)
            u = (shorter * (n - shorter) / 2 - abs(away[place])) * scale
            z[place] = exact[shorter - FEWEST][math.ceil(u)]
    return z


def _midranks(values: Floats) -> tuple[Floats, float]:
    """Return ranks from 1 on, and the sum of t^3 - t over n (n - 1) for t equal values each."""
    n = len(values)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = counts.cumsum() - (counts - 1) / 2
    return middle[inverse], float((counts**3 - counts).sum()) / (n * (n - 1))


@cache
def _exact_z(longest: int) -> Sequence[Sequence[Floats]]:
    """Return the z of a rank sum by the series' length, the shorter part's less 3, and U.

    U is that of Mann and Whitney, up to its mean; z is that of the probability of so small a U.
    """
    quantiles = np.arange(0, 38, 0.01)
    tails = np.log([normal_cdf(-z) for z in quantiles])
    ways = [np.ones(1)] + [np.zeros(1)] * EXACT
    table: list[list[Floats]] = [[]]
    for n in range(1, longest + 1):
        ways = [ways[0], *(_one_more(ways, n, size) for size in range(1, min(n, EXACT) + 1))]
        ways += [np.zeros(1)] * (EXACT + 1 - len(ways))
        halves = [ways[m][: m * (n - m) // 2 + 2].cumsum() for m in range(FEWEST, EXACT + 1)]
        table.append([np.interp(-np.log(half), -tails, quantiles) for half in halves])
    return table


def _one_more(ways: Sequence[Floats], n: int, size: int) -> Floats:
    """Return the probability of each U of ``size`` among n points, from those among n - 1.

    The largest point is one of ``size`` with probability size / n, and adds n - size to U.
    """
    found = np.zeros(size * (n - size) + 1)
    without, with_it = ways[size], ways[size - 1]
    if size < n:
        found[: len(without)] = without * (n - size) / n
    found[n - size :] += with_it * size / n
    return found
