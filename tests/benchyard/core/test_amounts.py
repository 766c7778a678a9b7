"""Sizes, percentages, lengths of time and dates as people write them."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.amounts import (
    parse_inches,
    parse_length,
    parse_memory,
    parse_percent,
    parse_since,
    parse_size,
)
from benchyard.core.errors import InputError

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def since(text: str) -> datetime:
    return parse_since(text, NOW)


def day(number: int, *rest: int, month: int = 11) -> datetime:
    return datetime(2026, month, number, *rest, tzinfo=UTC)


#: How a text is read, and of each text what it means.
READ: list[tuple[Callable[[Any], Any], dict[Any, Any]]] = [
    (parse_memory, {1: 1, 17_179_869_184: 2**34, 2.0: 2, "16GiB": 2**34, "16 GB": 2**34}),
    (parse_memory, {"16g": 2**34, "1.5 GiB": 3 * 2**29, " 512MB ": 2**29, "512m": 2**29}),
    (parse_memory, {"1": 1, "128PiB": 2**57, "1Gi": 2**30, "7b": 7}),
    (parse_size, {"0": 0}),
    (parse_percent, {"1%": 0.01, "0.5 %": 0.005, ".5%": 0.005, " 10% ": 0.1}),
    (since, {"2026-11-01": day(1), " 2026-11-01 ": day(1), "2026-11-01T06:30": day(1, 6, 30)}),
    (since, {"2026-11-01T06:30Z": day(1, 6, 30), "2026-11-01T06:30+02:00": day(1, 4, 30)}),
    (since, {"30d": day(22, 12, month=10), "12h": day(21), "2 w": day(7, 12), "0d": NOW}),
    (since, {"1.5d": NOW - timedelta(hours=36)}),
    (parse_length, {"90m": timedelta(hours=1.5), "8h": timedelta(hours=8)}),
    (parse_length, {" 1.5 d ": timedelta(hours=36), "2w": timedelta(hours=336)}),
    (parse_inches, {"85mm": 85 / 25.4, "8.5cm": 8.5 / 2.54, "3.33 in": 3.33, "241pt": 241 / 72.27}),
]


@pytest.mark.parametrize(
    ("read", "text", "value"), [(read, *each) for read, told in READ for each in told.items()]
)
def test_what_people_write_is_read(read: Callable[[Any], Any], text: Any, value: Any) -> None:
    found = read(text)
    assert found == (pytest.approx(value) if isinstance(value, float) else value)


NO_DATE = "is no date; write one such as 2026-11-01, or a length"
#: How a text is read, what is said of it, and the texts of which it is said.
REFUSED: list[tuple[Callable[[Any], Any], str, tuple[Any, ...]]] = [
    (
        *(parse_memory, "is no size; write it like 512MB or 16GiB"),
        ("", "much", "16 Gibibyte", "-1GB", "1e9", "16GiBs", "\u0661GiB", "nan", "9" * 5000),
    ),
    (parse_memory, "is nothing", (0, "0GiB", -5)),
    (parse_memory, "is more", ("129PiB", 2**60)),
    (since, NO_DATE, ("", "d", "yesterday", "-3d", "3m", "999999w", "2026-13-01", "01.11.2026")),
    (since, NO_DATE, ("2026-11-01x06", "٣d", "1" * 999)),
    (
        *(parse_length, "write a length of time such as 90m, 8h, 7d or 2w"),
        ("", "8", "h", "-1h", "8 hours", "\u0668h", "1" * 7 + "h"),
    ),
    (
        *(parse_inches, "is no length; write it like 85mm"),
        ("", "8", "8px", "-1cm", "1e3mm", "nan in", "٣cm"),
    ),
    (parse_inches, "1in to 50in", ("0.5in", "1mm", "51in")),
]


@pytest.mark.parametrize(
    ("read", "said", "text"),
    [(read, said, text) for read, said, texts in REFUSED for text in texts],
)
def test_what_cannot_be_meant_is_refused(
    read: Callable[[Any], Any], said: str, text: str | int
) -> None:
    with pytest.raises(InputError, match=said):
        read(text)


@given(st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_is_given_it_is_a_size_or_a_sentence(anything: str | float) -> None:
    assert _size_or_sentence(anything)


def _size_or_sentence(anything: str | float) -> bool:
    try:
        return parse_memory(anything) >= 1
    except InputError as error:
        return "write" in str(error) and len(str(error)) < 200


@given(st.text(max_size=20))
def test_any_text_is_a_date_or_refused(text: str) -> None:
    with suppress(InputError):
        assert since(text).utcoffset() == timedelta(0)
