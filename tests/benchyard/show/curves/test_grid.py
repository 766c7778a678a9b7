"""From samples to points: nothing that was counted is lost, and no peak."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.curves.grid import Grid, Levels, Rates

GRID = Grid(10.0, 5)


def test_steady_counter_has_one_rate() -> None:
    rates = Rates(GRID)
    for n in range(101):
        rates.add("cpu", n / 10, n * 0.3)
    assert rates.values() == pytest.approx([3.0] * 5)


@given(
    st.lists(st.tuples(st.floats(0.001, 3.0), st.floats(0, 1e6)), min_size=1, max_size=40),
    st.integers(1, 50),
)
def test_what_was_counted_is_all_there(steps: list[tuple[float, float]], count: int) -> None:
    grid = Grid(sum(length for length, _ in steps), count)
    rates = Rates(grid)
    at = total = 0.0
    rates.add("x", at, total)
    for length, amount in steps:
        at, total = at + length, total + amount
        rates.add("x", at, total)
    counted = sum((value or 0.0) * grid.width_s for value in rates.values())
    assert counted == pytest.approx(total, rel=1e-6, abs=1e-6)


def test_counters_that_come_and_go_are_added_up() -> None:
    rates = Rates(GRID)
    for n in range(51):
        rates.add("first", n / 10, float(n))
    for n in range(51):
        rates.add("second", 5 + n / 10, float(n))
    assert rates.values() == pytest.approx([10.0] * 5)


def test_counter_that_falls_begins_anew() -> None:
    rates = Rates(Grid(3.0, 3))
    for at, total in ((0, 5.0), (1, 6.0), (2, 0.0), (3, 4.0)):
        rates.add("x", at, total)
    assert rates.values() == [1.0, None, 4.0]


def test_what_is_not_known_is_a_gap() -> None:
    rates = Rates(Grid(4.0, 4))
    for at, total in ((0, 0.0), (1, 1.0), (2, None), (3, 9.0), (4, 10.0)):
        rates.add("x", at, total)
    assert rates.values() == [1.0, None, None, 1.0]


def test_short_end_makes_no_mountain() -> None:
    """A tick of 10 ms within the millisecond that is left of a span is no 10 cores."""
    rates = Rates(GRID)
    rates.add("cpu", 7.999, 0.0)
    rates.add("cpu", 8.0, 0.01)
    assert max(value or 0.0 for value in rates.values()) == pytest.approx(0.01)


def test_peak_of_a_level_is_kept() -> None:
    levels = Levels(GRID)
    for n in range(100):
        levels.add(n / 10, 7.0 if n == 33 else 1.0)
    assert levels.values() == [1.0, 7.0, 1.0, 1.0, 1.0]


def test_levels_of_one_instant_are_added_up() -> None:
    levels = Levels(GRID)
    for at in (0.1, 0.1, 4.5):
        levels.add(at, 2.0)
    levels.add(5.0, None)
    assert levels.values() == [4.0, None, 2.0, None, None]


def test_samples_after_the_end_belong_to_the_last_span() -> None:
    assert [GRID.place(at) for at in (-1.0, 0.0, 9.99, 10.0, 99.0)] == [0, 0, 4, 4, 4]
