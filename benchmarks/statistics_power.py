"""Whether the statistics keep their word: false alarms, power, coverage, and what they cost.

Shares are of trials in which something went wrong: an alarm without a difference, a slowdown that
was missed, an interval without the truth in it. All but the real timings are drawn with fixed
seeds. The naive peers are what is often done instead.
"""

import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from time import perf_counter

from benchmarks.table import Figure, Size, run_program
from benchyard.statistics import Description, describe, mean, median, stdev
from benchyard.statistics.advice import advise
from benchyard.statistics.comparison import Difference, Verdict, compare_samples, judge
from benchyard.statistics.diagnostics import outliers
from benchyard.statistics.intervals import mean_interval, median_interval
from benchyard.statistics.measures import student_quantile, student_tail
from benchyard.statistics.ranks import rank_test
from benchyard.statistics.sensitivity import decide, looks, relative_half_width, smallest_change

LEVEL = 0.01
MISS = 0.05
THOUSAND_OF_FIVE_SECONDS = 0.06
THIRTY_SECONDS = 0.001

#: Starts an interpreter and counts: about 15 ms, as noisy as programs are.
PROGRAM = (sys.executable, "-S", "-E", "-c", "sum(range(100_000))")


@dataclass(frozen=True)
class _Shape:
    """How synthetic runs are distributed.

    Args:
        name: In words.
        draw: One value; about 1, or about ``centre``.
        centre: The true median.
        middle: The true mean.
    """

    name: str
    draw: Callable[[Random], float]
    centre: float = 1.0
    middle: float = 1.0

    def sample(self, random: Random, n: int) -> list[float]:
        """Return n runs."""
        return [self.draw(random) for _ in range(n)]


def _heavy(random: Random) -> float:
    """Student's t with 3 degrees of freedom: a standard normal by the root of a chi-square."""
    return 10 + random.gauss(0, 1) / math.sqrt(random.gammavariate(1.5, 2) / 3)


SHAPES = (
    _Shape("normal", lambda random: random.gauss(1, 0.1)),
    _Shape("lognormal", lambda random: random.lognormvariate(0, 0.3), 1.0, math.exp(0.045)),
    _Shape("heavy tails", _heavy, 10.0, 10.0),
    _Shape("two groups", lambda random: random.gauss(random.choice((1, 1.3)), 0.02), 1.15, 1.15),
    _Shape("coarse clock", lambda random: round(random.gauss(10, 1.5)), 10.0, 10.0),
)


def measure(size: Size) -> list[Figure]:
    """Measure everything; only the costs and the real pairs depend on the machine."""
    return [
        *_real_pairs(size.of(200, 3)),
        *_false_alarms(size.of(20_000, 20)),
        *_families(size.of(1_000, 3)),
        *_power(size.of(2_000, 10)),
        *_promised_change(size.of(2_000, 10)),
        *_coverage(size.of(10_000, 20)),
        *_stopping(size.of(4_000, 10)),
        *_advice(size.of(4_000, 10)),
        *_costs(size),
    ]


# -- alarms where nothing differs


def _real_pairs(pairs: int) -> list[Figure]:
    """Compare a program with itself: interleaved, and one block of runs after the other."""
    timings = [_timed() for _ in range(20 * pairs)]
    blocks = [timings[start : start + 20] for start in range(0, len(timings), 20)]
    interleaved = [_interleaved(block) for block in blocks]
    consecutive = [(block[:10], block[10:]) for block in blocks]
    compared = [compare_samples(*pair) for pair in interleaved]
    title = f"A/A, {pairs} pairs of 10 real runs"
    return [
        _share(f"{title}: regressions", map(_regressed, compared), LEVEL),
        _share(f"{title}: any alarm", map(_alarmed, compared)),
        _share(f"{title}, not interleaved: any alarm", (_alarmed_by(*p) for p in consecutive)),
        _share(f"{title}: naive, medians 1 % apart", (_apart(*p) for p in interleaved)),
        _share(f"{title}: naive, t test at 5 %", (_t_test(*p) <= 0.05 for p in interleaved)),
        Figure("one real run", timings, "ms"),
    ]


def _timed() -> float:
    started = perf_counter()
    subprocess.run(PROGRAM, check=True)
    return perf_counter() - started


def _interleaved(block: Sequence[float]) -> tuple[list[float], list[float]]:
    """Deal runs to the two sides in turn: ab, ba, ab, …, so that a drift meets both alike."""
    one, other = list(block[::2]), list(block[1::2])
    for at in range(1, len(one), 2):
        one[at], other[at] = other[at], one[at]
    return one, other


def _false_alarms(pairs: int) -> list[Figure]:
    figures: list[Figure] = []
    for shape in SHAPES:
        drawn = _pairs(shape, pairs, 10)
        title = f"A/A, {pairs:,} pairs of 10, {shape.name}"
        figures.append(_share(f"{title}: any alarm", (_alarmed_by(*p) for p in drawn), LEVEL))
        naive = (_t_test(*p) <= 0.05 and _apart(*p) for p in drawn)
        figures.append(_share(f"{title}: naive, t test at 5 % and 1 % apart", naive))
    return figures


def _families(families: int) -> list[Figure]:
    """Compare 20 metrics that do not differ at once, again and again."""
    random, shape = _random(), SHAPES[1]
    corrected: list[bool] = []
    single: list[bool] = []
    for _ in range(families):
        compared = [_pair(shape, random, 10) for _ in range(20)]
        differences = [compare_samples(*pair) for pair in compared]
        called = {Verdict.REGRESSION, Verdict.IMPROVEMENT}
        corrected.append(any(one.verdict in called for one in judge(differences)))
        single.append(any(map(_alarmed, differences)))
    title = f"A/A, {families:,} comparisons of 20 metrics"
    return [
        _share(f"{title}: one alarm or more", corrected, LEVEL),
        _share(f"{title}: naive, not corrected", single),
    ]


# -- differences that are there


def _power(trials: int) -> list[Figure]:
    figures: list[Figure] = []
    for n, limit in ((30, MISS), (10, None)):
        drawn = [_slowed(0.02, 0.01, n, n, seed) for seed in range(trials)]
        title = f"2 % slower, sigma 1 %, {n} runs"
        missed = (not _regressed(compare_samples(*pair)) for pair in drawn)
        figures.append(_share(f"{title}: missed", missed, limit))
        tested = (_t_test(*p) > LEVEL or not _apart(*p) for p in drawn)
        figures.append(_share(f"{title}: missed by a t test at 1 %", tested))
    disturbed = [_disturbed(_slowed(0.02, 0.01, 30, 30, seed)) for seed in range(trials)]
    title = "the same, 30 runs, each tenth run 30 % slower"
    missed = (not _regressed(compare_samples(*pair)) for pair in disturbed)
    figures.append(_share(f"{title}: missed", missed, MISS))
    tested = (_t_test(*p) > LEVEL or not _apart(*p) for p in disturbed)
    figures.append(_share(f"{title}: missed by a t test at 1 %", tested))
    return figures


def _disturbed(pair: tuple[list[float], list[float]]) -> tuple[list[float], list[float]]:
    random = _random(round(pair[0][0] * 1e9))
    one, other = (
        [value * (1.3 if random.random() < 0.1 else 1) for value in values] for values in pair
    )
    return one, other


def _promised_change(trials: int) -> list[Figure]:
    """Slow runs down by what ``smallest_change`` says is shown in 95 % of trials."""
    figures: list[Figure] = []
    for n, m in ((5, 5), (6, 6), (8, 8), (10, 10), (10, 30), (30, 30)):
        change = smallest_change(0.02, n, m) or 0.0
        drawn = (_slowed(change, 0.02, n, m, seed) for seed in range(trials))
        missed = (rank_test(*pair).p_two_sided > LEVEL for pair in drawn)
        title = f"smallest change of {n} and {m} runs, sigma 2 %: {100 * change:.1f} %, missed"
        figures.append(_share(title, missed))
    return figures


def _slowed(
    change: float, spread: float, n: int, m: int, seed: int
) -> tuple[list[float], list[float]]:
    random = _random(seed)
    before = [random.gauss(1, spread) for _ in range(n)]
    return before, [random.gauss(1 + change, spread) for _ in range(m)]


# -- intervals


def _coverage(trials: int) -> list[Figure]:
    figures: list[Figure] = []
    for shape, n in product(SHAPES[:3], (6, 10, 30)):
        random = _random(n)
        samples = [shape.sample(random, n) for _ in range(trials)]
        title = f"{n} runs, {shape.name}: 95 % interval of the"
        held = (median_interval(one).holds(shape.centre) for one in samples)
        figures.append(_share(f"{title} median misses it", (not one for one in held), MISS))
        held = (mean_interval(one).holds(shape.middle) for one in samples)
        figures.append(_share(f"{title} mean (bootstrap) misses it", (not one for one in held)))
        missed = (not _student_holds(one, shape.middle) for one in samples)
        figures.append(_share(f"{title} mean (naive, Student's t) misses it", missed))
    return figures


def _student_holds(values: Sequence[float], truth: float) -> bool:
    reach = student_quantile(MISS / 2, len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return abs(mean(values) - truth) <= reach


def _stopping(trials: int) -> list[Figure]:
    """Stop at the first interval that is narrow enough, at declared looks and after each run."""
    figures: list[Figure] = []
    for until in (0.1, 0.2, 0.3):
        random, shape = _random(), SHAPES[1]
        samples = [shape.sample(random, 30) for _ in range(trials)]
        ends = [_stopped(one, until) for one in samples]
        title = f"5..30 runs until ±{100 * until:g} %, sigma 30 %"
        missed = (not median_interval(v, level).holds(1.0) for v, level in ends)
        figures.append(_share(f"{title}: interval misses the median", missed, MISS))
        naive = (not median_interval(_stopped_anywhere(one, until)).holds(1.0) for one in samples)
        figures.append(_share(f"{title}: naive, looking after each run", naive))
        figures.append(Figure(f"{title}: runs", [len(values) for values, _ in ends], ""))
    return figures


def _stopped(values: Sequence[float], until: float) -> tuple[Sequence[float], float]:
    declared = looks(5, len(values))
    for at in declared:
        decision = decide(values[:at], declared, at, until)
        if decision.stop:
            return values[:at], decision.level_used
    return values, 0.0


def _stopped_anywhere(values: Sequence[float], until: float) -> Sequence[float]:
    for n in range(6, len(values)):
        half_width = relative_half_width(values[:n], median_interval(values[:n]))
        if half_width is not None and half_width <= until:
            return values[:n]
    return values


# -- words, and what all of it costs


def _advice(trials: int) -> list[Figure]:
    figures: list[Figure] = []
    for n in (5, 7, 10, 30):
        random = _random(n)
        samples = [[random.gauss(1, 0.02) for _ in range(n)] for _ in range(trials)]
        title = f"{n} normal runs"
        figures.append(_share(f"{title}: an outlier", (bool(outliers(one)) for one in samples)))
        said = [advise(one) for one in samples]
        for about in ("first run", "two groups", "over the runs"):
            heard = (any(about in sentence for sentence in one) for one in said)
            figures.append(_share(f"{title}: advice on {about!r}", heard))
    return figures


def _costs(size: Size) -> list[Figure]:
    random = _random()
    figures: list[Figure] = []
    for n, count, limit in ((5, 1000, THOUSAND_OF_FIVE_SECONDS), (30, 1, THIRTY_SECONDS)):
        series = [SHAPES[0].sample(random, n) for _ in range(count)]
        describe(series[0])
        spent = [_spent(partial(_described, series)) for _ in range(size.of(9))]
        figures.append(Figure(f"describe {count:,} x {n} values", spent, "ms", limit))
    for n in (10, 30, 50):
        pairs = [_pair(SHAPES[0], random, n) for _ in range(size.of(7))]
        spent = [_spent(partial(compare_samples, *pair)) for pair in pairs]
        figures.append(Figure(f"compare {n} and {n} values", spent, "ms"))
        coarse = [[[round(v, 2) for v in values] for values in pair] for pair in pairs]
        spent = [_spent(partial(compare_samples, *pair)) for pair in coarse]
        figures.append(Figure(f"compare {n} and {n} values with ties", spent, "ms"))
    return figures


def _described(series: Iterable[Sequence[float]]) -> list[Description]:
    return [describe(one) for one in series]


def _spent(act: Callable[[], object]) -> float:
    started = perf_counter()
    act()
    return perf_counter() - started


# -- what is counted


def _share(what: str, wrong: Iterable[bool], limit: float | None = None) -> Figure:
    counted = list(wrong)
    return Figure(what, [sum(counted) / len(counted)], "%", limit)


def _random(seed: int = 0) -> Random:
    return Random(20_261_121 + seed)  # noqa: S311 - drawn, no secret


def _pair(shape: _Shape, random: Random, n: int) -> tuple[list[float], list[float]]:
    return shape.sample(random, n), shape.sample(random, n)


def _pairs(shape: _Shape, count: int, n: int) -> list[tuple[list[float], list[float]]]:
    random = _random()
    return [_pair(shape, random, n) for _ in range(count)]


def _regressed(difference: Difference) -> bool:
    return judge([difference])[0].verdict is Verdict.REGRESSION


def _alarmed(difference: Difference) -> bool:
    return judge([difference])[0].verdict in {Verdict.REGRESSION, Verdict.IMPROVEMENT}


def _alarmed_by(baseline: Sequence[float], candidate: Sequence[float]) -> bool:
    return _alarmed(compare_samples(baseline, candidate))


def _apart(baseline: Sequence[float], candidate: Sequence[float]) -> bool:
    return abs(median(candidate) / median(baseline) - 1) >= 0.01


def _t_test(baseline: Sequence[float], candidate: Sequence[float]) -> float:
    """Return Student's two-sided p-value for samples of the same size."""
    n = len(baseline)
    spread = math.sqrt((stdev(baseline) ** 2 + stdev(candidate) ** 2) / n)
    away = abs(mean(candidate) - mean(baseline))
    return 2 * student_tail(away / spread, 2 * n - 2) if spread else float(away == 0)


if __name__ == "__main__":
    run_program(__doc__, measure)
