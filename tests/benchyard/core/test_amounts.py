"""Sizes, percentages, lengths of time and dates as people write them."""

from datetime import UTC, datetime, timedelta

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


@pytest.mark.parametrize(
    ("given_size", "expected"),
    [
        (1, 1),
        (17_179_869_184, 2**34),
        (2.0, 2),
        ("16GiB", 2**34),
        ("16 GB", 2**34),
        ("16g", 2**34),
        ("1.5 GiB", 3 * 2**29),
        (" 512MB ", 2**29),
        ("1", 1),
        ("128PiB", 2**57),
        ("512m", 2**29),
        ("1Gi", 2**30),
        ("7b", 7),
    ],
)
def test_a_size_is_so_many_bytes(given_size: str | float, expected: int) -> None:
    assert parse_memory(given_size) == expected


@pytest.mark.parametrize(
    "wrong", ["", "much", "16 Gibibyte", "-1GB", "1e9", "16GiBs", "\u0661GiB", "nan", "9" * 5000]
)
def test_what_is_no_size_is_told_with_an_example(wrong: str) -> None:
    with pytest.raises(InputError, match="is no size; write it like 512MB or 16GiB"):
        parse_memory(wrong)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [(0, "nothing"), ("0GiB", "nothing"), (-5, "nothing"), ("129PiB", "more"), (2**60, "more")],
)
def test_what_no_host_can_have_is_refused(wrong: str | int, what: str) -> None:
    with pytest.raises(InputError, match=f"is {what}"):
        parse_memory(wrong)


@given(st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_is_given_it_is_a_size_or_a_sentence(anything: str | float) -> None:
    assert _size_or_sentence(anything)


def _size_or_sentence(anything: str | float) -> bool:
    try:
        return parse_memory(anything) >= 1
    except InputError as error:
        return "write" in str(error) and len(str(error)) < 200


def test_a_size_may_be_none_where_it_is_no_memory() -> None:
    assert parse_size("0") == 0


@pytest.mark.parametrize(
    ("text", "value"), [("1%", 0.01), ("0.5 %", 0.005), (".5%", 0.005), (" 10% ", 0.1)]
)
def test_a_percentage_is_relative(text: str, value: float) -> None:
    assert parse_percent(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        (" 2026-11-01 ", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T06:30", datetime(2026, 11, 1, 6, 30, tzinfo=UTC)),
        ("2026-11-01T06:30Z", datetime(2026, 11, 1, 6, 30, tzinfo=UTC)),
        ("2026-11-01T06:30+02:00", datetime(2026, 11, 1, 4, 30, tzinfo=UTC)),
        ("30d", datetime(2026, 10, 22, 12, tzinfo=UTC)),
        ("12h", datetime(2026, 11, 21, tzinfo=UTC)),
        ("2 w", datetime(2026, 11, 7, 12, tzinfo=UTC)),
        ("0d", NOW),
        ("1.5d", NOW - timedelta(hours=36)),
    ],
)
def test_dates_and_lengths(text: str, moment: datetime) -> None:
    assert parse_since(text, NOW) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "d",
        "yesterday",
        "-3d",
        "3m",
        "999999w",
        "2026-13-01",
        "01.11.2026",
        "2026-11-01x06",
        "٣d",
        "1" * 999,
    ],
)
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no date; write one such as 2026-11-01, or a length"):
        parse_since(text, NOW)


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        moment = parse_since(text, NOW)
    except InputError:
        return
    assert moment.utcoffset() == timedelta(0)


@pytest.mark.parametrize(("text", "hours"), [("90m", 1.5), ("8h", 8), (" 1.5 d ", 36), ("2w", 336)])
def test_a_length_of_time_has_a_unit(text: str, hours: float) -> None:
    assert parse_length(text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "8", "h", "-1h", "8 hours", "\u0668h", "1" * 7 + "h"])
def test_other_lengths_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="write a length of time such as 90m, 8h, 7d or 2w"):
        parse_length(text)


@pytest.mark.parametrize(
    ("text", "inches"),
    [("85mm", 85 / 25.4), ("8.5cm", 8.5 / 2.54), ("3.33 in", 3.33), ("241pt", 241 / 72.27)],
)
def test_lengths_on_paper_are_read(text: str, inches: float) -> None:
    assert parse_inches(text) == pytest.approx(inches)


@pytest.mark.parametrize("text", ["", "8", "8px", "-1cm", "1e3mm", "nan in", "٣cm"])
def test_what_is_no_length_on_paper_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no length; write it like 85mm"):
        parse_inches(text)


@pytest.mark.parametrize("text", ["0.5in", "1mm", "51in"])
def test_no_picture_is_so_small_or_large(text: str) -> None:
    with pytest.raises(InputError, match="1in to 50in"):
        parse_inches(text)
