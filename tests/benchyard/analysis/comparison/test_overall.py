"""All steps of two sides in one ratio."""

import math
from random import Random

import pytest

from benchyard.analysis.comparison.tables import overall
from benchyard.core.model import Outcome
from benchyard.results.record import RunRecord
from benchyard.statistics.comparison import Verdict
from tests.benchyard.analysis.comparison.conftest import (
    BASE,
    compared,
    failed,
    queries,
    run,
    step,
)


def test_every_step_weighs_the_same_however_long_it_takes() -> None:
    one = queries({"short": [v / 1000 for v in BASE], "long": BASE})
    other = queries({"short": [v / 1000 for v in BASE], "long": [4 * v for v in BASE]})
    [there], [back] = overall(compared(one, other)), overall(compared(other, one))
    assert (there.steps, there.left_out) == (2, ())
    assert there.judgement.verdict is back.judgement.verdict is Verdict.CHANGE
    assert there.difference.ratio == pytest.approx(2.0)
    assert back.difference.ratio == pytest.approx(0.5)


def test_a_step_that_seldom_has_a_value_is_left_out_and_named() -> None:
    one = queries({"a": BASE, "b": BASE, "c": BASE})
    other = [
        run(
            n,
            step(v, name="a"),
            failed("b", outcome=Outcome.TOLERATED) if n > 2 else step(v, name="b"),
            failed("c", outcome=Outcome.TOLERATED) if n > 6 else step(v, name="c"),
        )
        for n, v in enumerate(BASE, 1)
    ]
    [made] = overall(compared(one, other))
    assert (made.steps, made.left_out) == (2, ("B",))
    assert (made.difference.baseline_n, made.difference.candidate_n) == (8, 6)


def _drawn(dice: Random, ratios: list[float], spread: float, n: int) -> list[dict[str, float]]:
    """Draw runs whose steps share a slow or fast moment, and are skewed by themselves."""
    drawn: list[dict[str, float]] = []
    for _ in range(n):
        shared = math.exp(dice.gauss(0, spread))
        drawn.append(
            {
                f"q{at}": ratio * shared * (1 + dice.expovariate(10 / spread / (at + 1)))
                for at, ratio in enumerate(ratios)
            }
        )
    return drawn


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "m", "wider"), [(5, 5, 1.0), (10, 10, 1.0), (8, 12, 1.0), (10, 10, 2.0)]
)
def test_the_interval_covers_the_true_ratio_as_often_as_it_says(
    n: int, m: int, wider: float
) -> None:
    """Exact where the sides are alike in shape; near it where one is twice as noisy."""
    dice, trials, held = Random(n * m), 1500, 0  # noqa: S311 - draws samples
    true = [1.5, 2.0, 0.9]
    middles = [_middle(side) for side in (([1.0] * 3, 0.05), (true, 0.05 * wider))]
    for _ in range(trials):
        one = _drawn(dice, [1.0] * 3, 0.05, n)
        other = _drawn(dice, true, 0.05 * wider, m)
        sides = [queries({q: [r[q] for r in drawn] for q in drawn[0]}) for drawn in (one, other)]
        [made] = overall(compared(*sides, level=0.05))
        held += bool(made.difference.ratio_interval.holds(middles[1] / middles[0]))
    lowest = 0.95 if wider == 1.0 else 0.93
    # Four standard errors of a share.
    assert held / trials > lowest - 4 * math.sqrt(0.95 * 0.05 / trials)


def _middle(side: tuple[list[float], float]) -> float:
    """Return the median of the runs' geometric means, from many of them."""
    drawn = _drawn(Random(1), *side, 40_000)  # noqa: S311 - draws samples
    means = sorted(math.exp(sum(map(math.log, r.values())) / len(r)) for r in drawn)
    return means[len(means) // 2]


def test_it_is_tested_before_the_steps_and_apart_from_them() -> None:
    """Six runs can tell no step of 20; the line over all of them has a test of its own."""
    six = {f"q{at}": BASE[:6] for at in range(20)}
    made = compared(queries(six), queries({q: [v / 7 for v in of] for q, of in six.items()}))
    [line] = overall(made)
    assert {row.verdict for row in made.rows} == {Verdict.CANNOT_TELL}
    assert line.judgement.verdict is Verdict.CHANGE
    assert line.judgement.p_value == line.difference.p_value == pytest.approx(2 / 924)


def test_steps_that_differ_in_opposite_directions_are_still_called() -> None:
    one = queries({"a": BASE, "b": BASE})
    made = compared(one, queries({"a": [2 * v for v in BASE], "b": [v / 2 for v in BASE]}))
    [line] = overall(made)
    assert line.judgement.verdict is Verdict.NO_CHANGE_SHOWN
    assert [row.verdict for row in made.rows] == [Verdict.REGRESSION, Verdict.IMPROVEMENT]


def test_lines_of_several_metrics_are_one_family() -> None:
    def side(factor: float) -> list[RunRecord]:
        used = {"resource_cpu_s": factor}
        return [
            run(n, *(step(v * factor, name=name, used=used) for name in "ab"))
            for n, v in enumerate(BASE, 1)
        ]

    made = overall(compared(side(1.0), side(2.0), metrics=("*",)))
    assert [one.judgement.p_value for one in made] == [
        pytest.approx(2 * one.difference.p_value) for one in made
    ]
