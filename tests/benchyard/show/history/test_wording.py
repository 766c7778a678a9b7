"""A series as one line."""

from hypothesis import given
from hypothesis import strategies as st

from benchyard.show.history.report import BLOCKS, sparkline


def test_many_values_are_drawn_by_their_medians() -> None:
    values = [1.0] * 300 + [2.0] * 300
    values[10] = 99.0
    assert sparkline(values, 10) == "▁▁▁▁▁█████"


@given(st.lists(st.floats(), max_size=60), st.integers(0, 20))
def test_any_values_fit(values: list[float], width: int) -> None:
    drawn = sparkline(values, width)
    assert len(drawn) == min(len(values), max(width, 1))
    assert set(drawn) <= {*BLOCKS, " "}
