"""Whether verdicts between sessions keep their word: false alarms and power, drawn with a seed.

Shares are of pairs of campaigns. The level of each campaign is drawn with the standard deviation
between sessions, its runs (6 or 10) about it with 1 %. "History" is the number of earlier campaigns
of the case, the baseline among them; "lent" says that ten other cases of the host have 5 each. The
naive peer is the test inside the sessions alone.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.table import Figure, Size, run_program
from benchyard.analysis.comparison.sessions import BetweenSessions
from benchyard.statistics import mean, median
from benchyard.statistics.comparison import Difference, Verdict, compare_samples, judge
from benchyard.statistics.pairs import OWN_ALONE, OWN_FROM, level_variance, session_spreads

WITHIN = 0.01
OTHER_CASES = 10
CALLED = (Verdict.REGRESSION, Verdict.IMPROVEMENT)


@dataclass(frozen=True)
class Setting:
    """One line of the table.

    Args:
        between: Standard deviation between sessions.
        history: Number of earlier campaigns.
        baseline: How many of these the candidate is compared with; from ``OWN_FROM`` on with their
            level, as ``benchyard check`` does.
        runs: In a campaign.
        effect: Relative change of the candidate.
        lent: Standard deviation between sessions of other cases; None has no other cases.
        naive: The test inside the sessions alone.
    """

    between: float
    history: int = 1
    baseline: int = 1
    runs: int = 10
    effect: float = 0.0
    lent: float | None = None
    naive: bool = False


def main_lines() -> Iterator[tuple[str, Setting, float | None]]:
    """Yield each line: what it is, its setting, and the limit (of misses where there is power)."""
    for runs in (6, 10):
        for sd in (0.005, 0.01, 0.02):
            yield f"naive, {sd:.1%}, {runs} runs: called", Setting(sd, runs=runs, naive=True), None
    for sd in (0.005, 0.01, 0.02):
        for history in (1, 5, 20):
            most = 0.012 if sd <= 0.01 else 0.04
            for runs in (6, 10):
                name = f"{sd:.1%}, history {history}, {runs} runs"
                yield f"{name}: called", Setting(sd, history, runs=runs), most
                if history > 1:
                    against = Setting(sd, history, history, runs=runs)
                    yield f"{name}, against all: called", against, most
            lent = Setting(sd, history, lent=sd)
            yield f"{sd:.1%}, history {history}, lent: called", lent, min(most, 0.02)
    yield "2 %, history 1, lent by quiet cases (0.5 %): called", Setting(0.02, lent=0.005), None
    for name, setting, missed in (
        ("+8 %, history 1", Setting(0.01, 1, runs=6, effect=0.08), 0.25),
        ("+8 %, history 5", Setting(0.01, 5, 5, runs=6, effect=0.08), 0.05),
        ("+5 %, history 5", Setting(0.01, 5, 5, runs=6, effect=0.05), 0.25),
        ("+5 %, history 5, against the one before", Setting(0.01, 5, runs=6, effect=0.05), None),
        ("+5 %, history 20", Setting(0.01, 20, 20, runs=6, effect=0.05), None),
        ("+4 %, history 20", Setting(0.01, 20, 20, runs=6, effect=0.04), 0.2),
        ("+4 %, history 20, 10 runs", Setting(0.01, 20, 20, runs=10, effect=0.04), 0.2),
        ("+4 %, history 20, lent", Setting(0.01, 20, 20, runs=6, effect=0.04, lent=0.01), 0.2),
        ("+5 %, history 1, lent", Setting(0.01, 1, runs=6, effect=0.05, lent=0.01), None),
    ):
        yield f"{name}: missed", setting, missed


def measure(size: Size) -> Sequence[Figure]:
    """Return all lines."""
    return list(_figures(size))


def _figures(size: Size) -> Iterator[Figure]:
    pairs = size.of(10_000, 20)
    for name, setting, limit in main_lines():
        random = Random(name)  # noqa: S311 - a simulation
        called = sum(
            any(one in CALLED for one in verdicts(random, [setting])) for _ in range(pairs)
        )
        share = called / pairs
        yield Figure(name, [1 - share if setting.effect else share], "%", limit)
    for sd in (0.005, 0.01):
        for history in (1, 5):
            nights, random = size.of(2_000, 3), Random(f"{sd} {history}")  # noqa: S311
            suite = [Setting(sd, history)] * 20
            alarms = sum(Verdict.REGRESSION in verdicts(random, suite) for _ in range(nights))
            name = f"20 cases, {sd:.1%}, history {history}: nights with a regression"
            yield Figure(name, [alarms / nights], "%", 0.02)


def verdicts(random: Random, suite: Sequence[Setting]) -> list[Verdict]:
    """Draw one candidate campaign of each case with what was before, and judge all together."""
    return [one.verdict for one in judge([_difference(random, setting) for setting in suite])]


def _difference(random: Random, setting: Setting) -> Difference:
    levels = [random.gauss(0, setting.between) for _ in range(setting.history + 1)]
    levels[-1] += math.log1p(setting.effect)
    *before, candidate = [_campaign(random, level, setting.runs) for level in levels]
    baseline = before[-setting.baseline :]
    inside = compare_samples(
        [math.exp(x) for one in baseline for x in one], [math.exp(x) for x in candidate]
    )
    of_level = setting.baseline >= OWN_FROM
    if setting.naive or (inside.p_value > inside.level and not of_level):
        return inside
    own = [median(one) for one in before]
    others = _others(random, setting)
    level = mean(own[-setting.baseline :])
    between = BetweenSessions(
        difference=median(candidate) - level,
        relative=True,
        spreads=session_spreads([own], others),
        campaigns=len(own),
        cases=len(others),
        inside_p=inside.p_value,
        baseline_sessions=setting.baseline,
        level=level if of_level else None,
    )
    return between.held_against(inside)


def _campaign(random: Random, level: float, runs: int) -> list[float]:
    return [random.gauss(level, WITHIN) for _ in range(runs)]


def _others(random: Random, setting: Setting) -> list[tuple[float, int]]:
    if setting.lent is None or setting.history > OWN_ALONE:
        return []
    noise = WITHIN * math.sqrt(math.pi / 2 / setting.runs)
    sd = math.hypot(setting.lent, noise)
    return [level_variance([[random.gauss(0, sd) for _ in range(5)]]) for _ in range(OTHER_CASES)]


if __name__ == "__main__":
    run_program(__doc__, measure)
