"""What is far from the others is pointed at; tests for order against SciPy 1.17.1 and all orders.

SciPy: stats.kendalltau with method="exact".
"""

# pyright: reportPrivateUsage=false
import math
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics import diagnostics
from benchyard.statistics.diagnostics import drawn_in, drift_p, fences, first_p, outliers


@pytest.mark.parametrize(
    ("values", "far"),
    [
        # Positions are those of the values as given.
        ([10.0, 50.0, 10.1, 9.9, 10.2, 10.0, -40.0], (1, 6)),
        ([1.0, 2.0, 3.0, 4.0, 12.0], (4,)),
        ([1.0, 1.0, 1.0, 900.0], ()),
        # Among equals one that differs is far, many are not.
        ([1.0] * 9 + [2.0], (9,)),
        ([1.0] * 8 + [2.0] * 2 + [3.0], ()),
        *(([2.5] * n, ()) for n in (0, 1, 7)),
    ],
)
def test_what_is_far_from_the_others(values: list[float], far: tuple[int, ...]) -> None:
    assert outliers(values) == far


def test_the_fences_are_three_interquartile_ranges_out() -> None:
    assert fences([1.0, 2.0, 3.0, 4.0, 5.0]) == (-4.0, 10.0)


def test_drawn_in_values_take_the_nearest_place_within() -> None:
    assert list(drawn_in([-50.0, 1.0, 2.0, 3.0, 4.0, 5.0, 90.0])) == [1.0, 1, 2, 3, 4, 5, 5]


@given(st.lists(st.floats(-1e6, 1e6), max_size=30))
def test_less_than_half_of_the_values_are_far(values: list[float]) -> None:
    assert 2 * len(outliers(values)) <= len(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 4, 3, 5, 7, 6, 8], 0.001736111111111111),
        ([6, 5, 4, 2, 3, 1], 0.016666666666666666),
        ([3, 1, 4, 12, 5, 9, 2, 6, 8, 7, 11, 10], 0.04473689858238469),
        ([at * 7 % 30 for at in range(30)], 0.5010861583013703),
        # Without an order there is no drift.
        *((values, 1.0) for values in ([], [1.0], [2.0] * 9, [2.0] * 40)),
    ],
)
def test_drift_agrees_with_scipy(values: list[float], expected: float) -> None:
    assert drift_p(values) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", range(1, 7))
def test_orders_are_counted(n: int) -> None:
    wrong = [
        sum(one[a] > one[b] for a in range(n) for b in range(a + 1, n))
        for one in permutations(range(n))
    ]
    assert [wrong.count(pairs) for pairs in range(n * (n - 1) // 2 + 1)] == list(
        diagnostics._orders(n)
    )


def test_the_approximation_is_on_the_safe_side(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)  # noqa: S311 - numbers, no secret
    drifts = [[at / 15 + random.gauss(0, 1) for at in range(31)] for _ in range(40)]
    near = [drift_p(values) for values in drifts]
    monkeypatch.setattr(diagnostics, "_COUNTED", 31)
    counted = [drift_p(values) for values in drifts]
    assert min(counted) < 0.01
    for mine, exact in zip(near, counted, strict=True):
        assert exact > 0.05 or mine >= exact
        assert exact < 0.009 or mine <= 1.1 * exact


def test_a_first_value_within_what_the_others_predict() -> None:
    # SciPy: stats.t.sf(1.3 / (stdev * sqrt(1 + 1 / 4)), 3), others with mean 10.
    others = [9.0, 10.0, 11.0, 10.0]
    spread = math.sqrt(2 / 3) * math.sqrt(1.25)
    assert first_p([10 + 2.5 * spread, *others]) == pytest.approx(0.04385332350403278)
    assert [first_p([first, 1.0, 1.0, 1.0]) for first in (2.0, 1.0)] == [0.0, 1.0]
    assert first_p([2.0, 1.0]) == 1.0
