"""How far to look back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.core.errors import InputError
from benchyard.show.history.dates import iso, parse_since

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


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


def test_moments_are_written_in_utc() -> None:
    there = timezone(timedelta(hours=2))
    assert iso(datetime(2026, 11, 1, 1, tzinfo=there)) == "2026-10-31T23:00:00Z"
    assert iso(datetime(2026, 11, 1, 1, 0, 0, 250, tzinfo=UTC)) == "2026-11-01T01:00:00.000250Z"
