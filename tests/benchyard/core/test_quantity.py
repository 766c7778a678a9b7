"""Numbers, times, sizes and moments in words."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.quantity import amount, duration, moment, number, percent, tick


@pytest.mark.parametrize(
    ("written", "given", "text"),
    [
        (number, (0.0,), "0"),
        (number, (0.000012345,), "0.000012"),
        (number, (9.96,), "10"),
        (number, (-1234.5,), "-1,200"),
        (number, (3.2e-16,), "3.2e-16"),
        (number, (-1e-310,), "-1e-310"),
        (number, (6.02e23,), "6e+23"),
        (number, (math.inf,), "∞"),
        (number, (math.nan,), "NaN"),
        (amount, (None, "B"), "-"),
        (amount, (999.0, "B"), "999 B"),
        (amount, (999_949.0, "B"), "999.9 kB"),
        (amount, (999_999.0, "B"), "1 MB"),
        (amount, (12_345.6, "rows/s"), "12,350 rows/s"),
        (amount, (-2e6, "B"), "-2 MB"),
        (amount, (-0.5, "s"), "-500.0 ms"),
        (tick, (0.0, "s"), "0"),
        (tick, (12_345.0, "1/s"), "12.3 k/s"),
        (tick, (999_999.0, ""), "1 M"),
        (tick, (1.0, "cores"), "1 core"),
        (duration, (-1.5,), "-1.50 s"),
        (duration, (0.0,), "0 s"),
        (duration, (0.000_000_000_4,), "0.400 ns"),
        (duration, (0.000_000_999_9,), "1.00 µs"),
        (duration, (0.000_009_999,), "10.0 µs"),
        (duration, (0.000_099_99,), "100 µs"),
        (duration, (0.000_999_9,), "1.0 ms"),
        (duration, (0.999_99,), "1.00 s"),
        (duration, (119.99,), "119.99 s"),
        (duration, (119.999,), "2 min 00 s"),
        (duration, (3599.4,), "59 min 59 s"),
        (duration, (3599.6,), "1 h 00 min"),
        (duration, (90_061.0,), "25 h 01 min"),
        (duration, (1e12,), "1,000,000,000,000 s"),
        (duration, (math.nan,), "NaN s"),
        (duration, (None,), "-"),
    ],
)
def test_a_quantity_is_written_as_people_read_it(
    written: Callable[..., str], given: tuple[Any, ...], text: str
) -> None:
    assert written(*given) == text


def test_a_percentage_has_as_many_digits_as_are_asked_for() -> None:
    assert [percent(2.404), percent(0.01), percent(0.012345, 4)] == ["240 %", "1 %", "1.234 %"]


@given(st.floats(-1e300, 1e300), st.integers(2, 9))
def test_every_number_is_short_and_can_be_read_again(value: float, digits: int) -> None:
    text = number(value, digits)
    assert len(text) < 30
    assert re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?(e[+-][0-9]+)?", text)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=10 ** (1 - digits), abs=1e-320)


def test_a_moment_tells_its_time_zone() -> None:
    at = datetime(2026, 11, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    assert moment(at) == moment(at.timestamp()) == "2026-10-31 23:30:00 UTC"
    assert [moment(None), moment(1e18), moment(datetime.max.replace(tzinfo=UTC))] == [
        *("-", "-"),
        "9999-12-31 23:59:59 UTC",
    ]
