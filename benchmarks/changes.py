"""Whether changes of level are found soon, at their place, and none are called in noise.

Series are drawn with fixed seeds, with a standard deviation of 1 %; only the durations depend on
the machine. A rate of false alarms counts each series up to its first one. Installed peers are
measured on the same series. ``BENCHYARD_BENCHMARK_SERIES`` names a folder of public series: CSV
files with a column ``value``.
"""

import csv
import math
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_changes import OTAVA, Finder, installed_finders
from benchmarks.table import Figure, Size, run_program
from benchyard.statistics.changes import (
    FEWEST,
    WINDOW,
    Detector,
    LevelChange,
    changes,
    critical,
)
from benchyard.statistics.changes import (
    _best as best,  # pyright: ignore[reportPrivateUsage]
)

Floats = NDArray[np.float64]
Task = Callable[[], Sequence[Figure]]

SD = 0.01
#: Online: points of a series without a change, and before a change.
POINTS, BEFORE = 1_000, 60
#: Online: so soon a change must be called.
SOON = 40
THRESHOLDS, LEASTS = (4.0, 4.2, 4.4), (0.01, 0.0)
SERIES = "BENCHYARD_BENCHMARK_SERIES"
_SERIES = Path(__file__).resolve().parents[2] / "shared" / "samples" / "series"


def _correlated(random: np.random.Generator, n: int) -> Floats:
    values = random.normal(size=n)
    values[1:] *= math.sqrt(0.75)
    for at in range(1, n):
        values[at] += 0.5 * values[at - 1]
    return values


NORMAL, OUTLIERS, ROUNDED, CORRELATED = "normal", "5 % outliers", "rounded to 0.5 sd", "AR(1) 0.5"
#: Draws n values; their standard deviation is 1, but for outliers.
Shape = Callable[[np.random.Generator, int], Floats]
SHAPES: dict[str, Shape] = {
    NORMAL: lambda random, n: random.normal(size=n),
    "log-normal": lambda random, n: random.lognormal(0, 0.5, n) / 0.604,
    "Student t3": lambda random, n: random.standard_t(3, n) / math.sqrt(3),
    "bimodal": lambda random, n: random.normal(random.choice((-0.9, 0.9), n), 0.436),
    OUTLIERS: lambda random, n: random.normal(size=n) * np.where(random.random(n) < 0.05, 10, 1),
    "weekly": lambda random, n: (
        random.normal(size=n) + 0.5 * np.sin(np.arange(n) * 2 * math.pi / 7)
    ),
    ROUNDED: lambda random, n: np.round(2 * random.normal(size=n)) / 2,
    CORRELATED: _correlated,
}


def measure(size: Size) -> list[Figure]:
    """Measure all, on two processes."""
    finders, absent = installed_finders()
    if absent:
        print(f"not installed, and left out: {', '.join(absent)}", file=sys.stderr)
    with ProcessPoolExecutor(2) as pool:
        begun = [pool.submit(task) for task in _tasks(size, [*finders])]
        figures = [figure for one in begun for figure in one.result()]
        return figures + _speed(pool, size.of(10_000, 20))


def _tasks(size: Size, peers: Sequence[str]) -> Iterator[Task]:
    """Yield all that needs no quiet host; the longest first."""
    for shape in SHAPES:
        yield partial(_false_online, shape, size.of(500, 2))
    for shape in (NORMAL, OUTLIERS, CORRELATED):
        if OTAVA in peers:
            yield partial(_false_of_otava, shape, size.of(60, 1))
        yield partial(_false_of_medians, shape, size.of(100, 1))
    yield from _changed(size.of(1_000, 3))
    yield from _offline(size, peers)
    for n in (10, 16, 25, 50, 100, 200, 500, 2000):
        yield partial(_critical, n, size.of(20_000, 20))
    for path in sorted(Path(os.environ.get(SERIES, _SERIES)).glob("*.csv")):
        if path.stem != "index":
            yield partial(_public, path)


def _offline(size: Size, peers: Sequence[str]) -> Iterator[Task]:
    for shape in (NORMAL, OUTLIERS, ROUNDED, CORRELATED):
        for n in (10, 30, 100, 500):
            yield partial(_false_offline, shape, n, size.of(10_000, 3))
    limits = {NORMAL: 0.045, "log-normal": 0.045, OUTLIERS: 0.065, CORRELATED: 0.315}
    for shape, limit in limits.items():
        yield partial(_misplaced, "", shape, size.of(4_000, 3), limit)
        for peer in peers:
            yield partial(_misplaced, peer, shape, size.of(300, 3), None)


def _random(*name: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(name).encode()))


# -- online


def _false_online(shape: str, series: int) -> list[Figure]:
    random = _random("online", shape)
    drawn = (SD * SHAPES[shape](random, POINTS) for _ in range(series))
    found = [[*calls(Detector(min(THRESHOLDS), least=0), values)] for values in drawn]
    return [
        Figure(
            f"online, {shape}, z > {threshold}, least {least:.0%}: first false alarms per 1,000",
            [_rate([_first(calls, threshold, least) for calls in found])],
            "",
            (0.4 if shape == CORRELATED else 0.25) if threshold == min(THRESHOLDS) else None,
        )
        for least in LEASTS
        for threshold in THRESHOLDS
    ]


def calls(detector: Detector, values: Floats) -> Iterator[tuple[int, LevelChange]]:
    """Yield each point at which a change is seen, as if none had been called before."""
    for point, value in enumerate(values.tolist(), 1):
        level = [*detector.values[-WINDOW + 1 :], value]
        if change := detector.append(value):
            yield point, change
            detector.values = level


def _first(calls: Sequence[tuple[int, LevelChange]], threshold: float, least: float) -> int | None:
    sure = (at for at, one in calls if one.z > threshold and abs(one.size) >= least)
    return next(sure, None)


def _rate(firsts: Sequence[int | None], points: int = POINTS) -> float:
    alarms = sum(first is not None for first in firsts)
    return 1000 * alarms / sum(first or points for first in firsts)


def _false_of_otava(shape: str, series: int) -> list[Figure]:
    """Ask for the changes of the last 16 to 100 points each night, until there is one."""
    find, random = installed_finders()[0][OTAVA], _random("online", shape)
    firsts = [_first_found(find, SD * SHAPES[shape](random, 100)) for _ in range(series)]
    return [Figure(_peer_alarms(f"{OTAVA}, nightly", shape), [_rate(firsts, 85)], "")]


def _first_found(find: Finder, values: Floats) -> int | None:
    return next((n - 15 for n in range(16, len(values) + 1) if find(values[:n])), None)


def _false_of_medians(shape: str, series: int) -> list[Figure]:
    """Count points more than 3 MAD from the median of the ten before."""
    random = _random("online", shape)
    alarms = points = 0
    for _ in range(series):
        values = SHAPES[shape](random, POINTS)
        before = np.lib.stride_tricks.sliding_window_view(values[:-1], 10)
        middle = np.median(before, axis=1)
        mad = 1.4826 * np.median(np.abs(before - middle[:, None]), axis=1)
        alarms += int((np.abs(values[10:] - middle) > 3 * mad).sum())
        points += len(middle)
    what = _peer_alarms("last against the median of 10 ± 3 MAD", shape)
    return [Figure(what, [1000 * alarms / points], "")]


def _peer_alarms(peer: str, shape: str) -> str:
    return f"  {peer}, {shape}: false alarms per 1,000"


def _changed(series: int) -> Iterator[Task]:
    """Yield what is measured of each kind of change, in standard deviations."""
    for sd, points in ((1, 24), (1.5, 13), (2, 7), (3, 4), (10, 3)):
        step = np.full(SOON, float(sd))
        yield partial(_delays, f"step of {sd} sd", step, series, points)
    ramp = np.minimum(np.arange(1, SOON + 1) / 20, 1) * 3
    yield partial(_delays, "ramp of 3 sd over 20 points", ramp, series, 15)
    yield partial(_passing, "spike of 10 sd", np.array([10.0]), series, 0.001)
    yield partial(_passing, "three nights at +3 sd and back", np.full(3, 3.0), series, 0.38)


def _delays(what: str, added: Floats, series: int, limit: float) -> list[Figure]:
    random = _random(what)
    called = [found for _ in range(series) if (found := _called(_noise(random), added))]
    delays, places = zip(*called or [(SOON, 0)], strict=True)
    missed = 1 - len(called) / series
    is_step = added[0] == added[-1]
    return [
        Figure(f"{what}: points until called, if within {SOON}", delays, "", limit),
        Figure(f"  not called within {SOON} points", [missed], "%", 0.27 if is_step else None),
        Figure("  place: points from its begin", places, "", 2 if is_step else None),
    ]


def _passing(what: str, added: Floats, series: int, limit: float) -> list[Figure]:
    """Count what is called, but for series where the noise alone is called, too."""
    random = _random(what)
    drawn = [_noise(random) for _ in range(series)]
    called = sum(bool(_called(one, added)) and not _called(one, added[:0]) for one in drawn)
    return [Figure(f"{what}: called", [called / series], "%", limit)]


def _noise(random: np.random.Generator) -> Floats:
    return random.normal(size=BEFORE + SOON)


def _called(noise: Floats, added: Floats) -> tuple[int, int] | None:
    """Return at which point of a change it is called, and how far from its begin it is placed."""
    detector, values = Detector(min(THRESHOLDS), least=0), noise.copy()
    values[BEFORE : BEFORE + len(added)] += added
    for at, value in enumerate((SD * values).tolist(), 1 - BEFORE):
        if (change := detector.append(value)) and at > 0:
            return at, abs(change.place - BEFORE)
    return None


# -- offline


def _false_offline(shape: str, n: int, series: int) -> list[Figure]:
    random = _random("offline", shape, n)
    false = sum(bool(changes(SHAPES[shape](random, n))) for _ in range(series))
    limit = 0.07 if shape == CORRELATED else 0.015
    return [Figure(f"offline, {shape}, {n} points: false changes", [false / series], "%", limit)]


def _misplaced(peer: str, shape: str, series: int, limit: float | None) -> list[Figure]:
    """Draw series of 100 points with a step of 2 sd in the middle; 3 points away is right."""
    find, random = installed_finders()[0][peer] if peer else _ours, _random("F1", shape)
    right = wrong = 0
    for _ in range(series):
        values = SD * SHAPES[shape](random, 100)
        values[50:] += 2 * SD
        found = find(values)
        near = any(abs(one - 50) <= 3 for one in found)
        right += near
        wrong += len(found) - near + (not near)
    what = f"  {peer}" if peer else f"a step of 2 sd after 50 of 100 points, {shape}: 1 - F1"
    return [Figure(what, [wrong / (2 * right + wrong)], "", limit)]


def _ours(values: Floats) -> list[int]:
    return [change.place for change in changes(values)]


def _critical(n: int, series: int) -> list[Figure]:
    """Compute again what ``changes`` keeps of series of n points."""
    random = _random("critical", n)
    z = [best(random.normal(size=n), FEWEST, FEWEST, 0)[1] for _ in range(series)]
    what = f"z of which 0.5 % of {series:,} series of {n} are above"
    return [Figure(what, [float(np.quantile(z, 0.995))], "", critical(n) + 0.1)]


# -- public series, and durations


def _public(path: Path) -> list[Figure]:
    with path.open(encoding="utf-8", newline="") as file:
        values = np.log([float(row["value"]) for row in csv.DictReader(file) if row["value"]])
    detector = Detector()
    online = [found.place for one in values.tolist() if (found := detector.append(one))]
    return [
        Figure(
            f"{path.stem}, {len(values)} points, {name}, at {found}: changes per 1,000",
            [1000 * len(found) / len(values)],
            "",
        )
        for name, found in (("offline", _ours(values)), ("online", online))
    ]


def _speed(pool: ProcessPoolExecutor, series: int) -> list[Figure]:
    values, taken = _random("speed").normal(size=(series, 500)), list[float]()
    started = perf_counter()
    list(pool.map(changes, values, chunksize=max(1, series // 20)))
    ended = perf_counter()
    detector = Detector(math.inf)
    for value in values.flat[: min(series, 2_000)].tolist():
        begun = perf_counter()
        detector.append(value)
        taken.append(perf_counter() - begun)
    what = f"offline, {series:,} series of 500 points, two processes"
    return [
        Figure(what, [ended - started], "s", 6),
        Figure("online, one more point", taken, "ms", 0.001),
    ]


if __name__ == "__main__":
    run_program(__doc__, measure)
