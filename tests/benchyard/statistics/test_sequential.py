"""Looks that are declared up front, and intervals that keep their promise at the last one."""

from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.intervals import median_interval
from benchyard.statistics.sensitivity import decide, level_at, looks, open_level, open_looks

QUIET = [1.0, 1.001, 0.999, 1.0005, 0.9995, 1.0002, 0.9998, 1.0001]


@pytest.mark.parametrize(
    ("minimum", "maximum", "expected"),
    [
        (5, 30, (8, 12, 19, 30)),
        *((6, 6, (6,)), (3, 5, (5,)), (5, 10, (7, 10)), (20, 30, (20, 30)), (29, 30, (30,))),
    ],
)
def test_looks_that_tell_nothing_new_are_left_out(
    minimum: int, maximum: int, expected: tuple[int, ...]
) -> None:
    assert looks(minimum, maximum) == expected


@given(st.integers(1, 200), st.integers(0, 2000), st.sampled_from([0.9, 0.95, 0.99]))
def test_each_look_can_decide(minimum: int, more: int, level: float) -> None:
    declared = looks(minimum, minimum + more, level)
    assert list(declared) == sorted(set(declared))
    assert minimum <= declared[0] <= declared[-1] == minimum + more
    if len(declared) > 1:
        interval = median_interval([1.0] * declared[0], level_at(declared, level))
        assert interval.low is not None


@pytest.mark.parametrize(("minimum", "maximum"), [(0, 5), (6, 5)])
def test_a_range_that_is_none_is_refused(minimum: int, maximum: int) -> None:
    with pytest.raises(ValueError, match="looks go from 1"):
        looks(minimum, maximum)


def test_it_stops_where_it_is_precise() -> None:
    decision = decide(QUIET, (8, 12, 19, 30), 8, 0.01)
    assert (decision.stop, decision.precise) == (True, True)
    assert decision.half_width == pytest.approx(0.001, rel=0.1)
    assert decision.level_used == pytest.approx(0.9875)
    assert (decision.interval.low, decision.interval.high) == (0.999, 1.001)
    assert "after 8 runs the median is known to ±0.1 %, within the wanted ±1 %" in decision.why


@pytest.mark.parametrize(
    ("values", "declared", "until", "stop", "why"),
    [
        (QUIET, (8, 12, 19, 30), 0.0001, False, "more runs are needed"),
        ([1.0, 2.0] * 4, (8,), 0.01, True, "the most runs that were allowed"),
        # Runs that yielded no value only make it less sure.
        (QUIET[:6], (8, 12), 0.01, False, "no interval yet"),
    ],
)
def test_it_goes_on_where_it_is_not_but_for_the_last_look(
    values: list[float], declared: tuple[int, ...], until: float, *, stop: bool, why: str
) -> None:
    decision = decide(values, declared, 8, until)
    assert (decision.stop, decision.precise) == (stop, False)
    assert (decision.half_width is None) == (len(values) < 8)
    assert why in decision.why


def test_a_look_that_was_not_declared_is_refused() -> None:
    with pytest.raises(ValueError, match="no look was declared after 9 runs"):
        decide(QUIET, (8, 12), 9, 0.01)


def test_a_median_of_zero_is_precise_only_without_a_width() -> None:
    assert decide([0.0] * 8, (8, 12), 8, 0.01).half_width == 0.0
    assert decide([-1.0, 0, 0, 0, 0, 0, 0, 1.0], (8, 12), 8, 0.01).half_width is None


@pytest.mark.slow
@pytest.mark.parametrize("until", [0.1, 0.2, 0.3])
def test_the_coverage_holds_at_whichever_look_it_stops(until: float) -> None:
    random = Random(9)  # noqa: S311 - numbers, no secret
    declared, held = looks(5, 30), 0
    for _ in range(2500):
        values = [random.lognormvariate(0, 0.3) for _ in range(30)]
        for at in declared:
            decision = decide(values[:at], declared, at, until)
            if decision.stop:
                held += bool(decision.interval.holds(1.0))
                break
    # Four standard errors below the promised 95 %.
    assert held / 2500 >= 0.95 - 0.017


def test_looks_without_an_end_grow_and_keep_the_level_together() -> None:
    assert list(islice(open_looks(6), 6)) == [6, 8, 12, 16, 23, 32]
    assert list(islice(open_looks(1), 4)) == [1, 2, 3, 4]
    missed = [1 - open_level(look, 0.95) for look in range(1, 10_000)]
    assert missed[0] == pytest.approx(0.025)
    assert 0.0499 < sum(missed) < 0.05
