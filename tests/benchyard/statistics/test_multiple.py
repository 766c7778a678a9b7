"""Holm's adjustment against R's and against its promise."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.multiple import holm, needed_p

p_values = st.lists(st.floats(0, 1), max_size=20)


def test_it_is_the_one_of_r() -> None:
    # By p.adjust with the method holm.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_one_test_is_left_as_it_is_and_none_is_no_error() -> None:
    assert holm([0.2]) == (0.2,)
    assert holm([]) == ()


@given(p_values)
def test_adjusted_values_are_larger_keep_the_order_and_stay_probabilities(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    assert [q for _, q in sorted(zip(ps, adjusted, strict=True))] == sorted(adjusted)


@given(p_values, st.floats(0, 1))
def test_a_p_as_small_as_needed_would_be_called(ps: list[float], level: float) -> None:
    adjusted = holm(ps)
    needed = needed_p(adjusted, level)
    for at, (p, q) in enumerate(zip(ps, adjusted, strict=True)):
        if q > level:
            assert p > needed * (1 - 1e-9) or q > level
            assert holm([*ps[:at], needed * (1 - 1e-9), *ps[at + 1 :]])[at] <= level


def test_the_family_is_rarely_wrong_once_even_if_some_differ() -> None:
    random = Random(1)  # noqa: S311 - numbers, no secret
    wrong = 0
    for _ in range(3000):
        ps = [random.random() for _ in range(8)] + [random.random() / 1e6 for _ in range(4)]
        wrong += min(holm(ps)[:8]) <= 0.05
    # Four standard errors are 0.016.
    assert wrong / 3000 <= 0.05 + 0.016
