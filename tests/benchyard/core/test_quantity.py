"""Numbers, times, sizes and moments in words."""

import math
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.quantity import amount, duration, moment, number, percent, tick


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
        (3.2e-16, "3.2e-16"),
        (-1e-310, "-1e-310"),
        (6.02e23, "6e+23"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (math.nan, "NaN"),
    ],
)
def test_a_number_is_plain_unless_only_an_exponent_can_be_read(value: float, text: str) -> None:
    assert number(value) == text


def test_a_percentage_has_as_many_digits_as_are_asked_for() -> None:
    assert [percent(2.404), percent(0.01), percent(0.012345, 4)] == ["240 %", "1 %", "1.234 %"]


@given(st.floats(-1e300, 1e300), st.integers(2, 9))
def test_every_number_is_short_and_can_be_read_again(value: float, digits: int) -> None:
    text = number(value, digits)
    assert len(text) < 30
    assert re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?(e[+-][0-9]+)?", text)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=10 ** (1 - digits), abs=1e-320)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "B", "-"),
        (999.0, "B", "999 B"),
        (999_949.0, "B", "999.9 kB"),
        (999_999.0, "B", "1 MB"),
        (12_345_678.0, "B/s", "12.35 MB/s"),
        (0.25, "J", "0.25 J"),
        (240.0, "1/s", "240/s"),
        (12_345.6, "rows/s", "12,350 rows/s"),
        (12_345.6, None, "12,350"),
        (5.0, "1", "5"),
        (-2e6, "B", "-2 MB"),
        (-0.5, "s", "-500.0 ms"),
        (3.2e-16, None, "3.2e-16"),
    ],
)
def test_an_amount_has_the_prefix_that_suits_it(
    value: float | None, unit: str | None, text: str
) -> None:
    assert amount(value, unit) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, "s", "0"),
        (0.12, "s", "120 ms"),
        (1.05, "s", "1.05 s"),
        (-3e-5, "s", "-30 µs"),
        (12_345.0, "1/s", "12.3 k/s"),
        (999_999.0, "", "1 M"),
        (1.0, "cores", "1 core"),
    ],
)
def test_axes_have_short_ones(value: float, unit: str, text: str) -> None:
    assert tick(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1.5, "-1.50 s"),
        (0.0, "0 s"),
        (0.000_000_000_4, "0.400 ns"),
        (0.000_000_4, "400 ns"),
        (0.000_000_999_9, "1.00 µs"),
        (0.000_009_99, "9.99 µs"),
        (0.000_009_999, "10.0 µs"),
        (0.000_099_94, "99.9 µs"),
        (0.000_099_99, "100 µs"),
        (0.000_25, "250 µs"),
        (0.000_999_9, "1.0 ms"),
        (0.001, "1.0 ms"),
        (0.25, "250.0 ms"),
        (0.999_99, "1.00 s"),
        (1.0, "1.00 s"),
        (119.99, "119.99 s"),
        (119.999, "2 min 00 s"),
        (120.0, "2 min 00 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 00 min"),
        (36_000.0, "10 h 00 min"),
        (90_061.0, "25 h 01 min"),
        (1e12, "1,000,000,000,000 s"),
        (math.inf, "∞ s"),
        (math.nan, "NaN s"),
        (None, "-"),
    ],
)
def test_a_length_of_time_has_the_unit_that_suits_it(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_a_moment_tells_its_time_zone() -> None:
    at = datetime(2026, 11, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    assert moment(at) == moment(at.timestamp()) == "2026-10-31 23:30:00 UTC"
    assert [moment(None), moment(1e18), moment(datetime.max.replace(tzinfo=UTC))] == [
        *("-", "-"),
        "9999-12-31 23:59:59 UTC",
    ]
