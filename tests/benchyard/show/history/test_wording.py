"""A series as one line."""

import math

from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.history.report import ASCII, BLOCKS, sparkline


def test_least_and_largest_are_the_ends() -> None:
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8], 8) == "▁▂▃▄▅▆▇█"
    assert sparkline([8, 1], 8) == "█▁"
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8], 8, ASCII) == "_.-=+*#@"


def test_noise_looks_flat() -> None:
    assert set(sparkline([1.0, 1.001, 0.999, 1.0], 8)) <= {"▄", "▅"}
    assert len(set(sparkline([2.0] * 5, 8))) == 1
    assert len(set(sparkline([0.0] * 5, 8))) == 1


def test_what_is_no_number_is_a_gap() -> None:
    assert sparkline([1.0, math.nan, 2.0, math.inf], 8) == "▁ █ "
    assert sparkline([math.nan] * 3, 8) == "   "
    assert sparkline([], 8) == ""


def test_many_values_are_drawn_by_their_medians() -> None:
    values = [1.0] * 300 + [2.0] * 300
    values[10] = 99.0
    assert sparkline(values, 10) == "▁▁▁▁▁█████"


@given(st.lists(st.floats(), max_size=60), st.integers(0, 20))
def test_any_values_fit(values: list[float], width: int) -> None:
    drawn = sparkline(values, width)
    assert len(drawn) == min(len(values), max(width, 1))
    assert set(drawn) <= {*BLOCKS, " "}
