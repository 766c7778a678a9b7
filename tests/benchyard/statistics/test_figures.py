"""Numbers in words."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.statistics.figures import percent, plain, short_seconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.000012345, "0.000012"),
        (0.0512, "0.051"),
        (1.0, "1"),
        (9.96, "10"),
        (51.4, "51"),
        (240.4, "240"),
        (-1234.5, "-1,200"),
        (1e12, "1,000,000,000,000"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
    ],
)
def test_a_number_is_plain_at_any_size(value: float, text: str) -> None:
    assert plain(value) == text


def test_a_percentage_has_as_many_digits_as_are_asked_for() -> None:
    assert [percent(2.404), percent(0.01), percent(0.012345, 4)] == ["240 %", "1 %", "1.234 %"]


@given(st.floats(-1e300, 1e300), st.integers(1, 9))
def test_no_number_has_an_exponent(value: float, digits: int) -> None:
    text = plain(value, digits)
    assert re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?", text)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=10 ** (1 - digits))


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.12, "120 ms"), (1.05, "1.05 s"), (-3e-5, "-30 µs")]
)
def test_axes_have_short_ones(value: float, text: str) -> None:
    assert short_seconds(value) == text
