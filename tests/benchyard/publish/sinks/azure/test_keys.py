"""Keys: allowed, sorted by time, the same each time, read back."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchyard.publish.sinks.azure.keys import (
    LONGEST,
    escape,
    partition_key,
    partition_of,
    row_key,
    seconds,
    time_of,
    unescape,
)

FORBIDDEN = set("/\\#?") | {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}
AT = datetime(2026, 11, 21, 19, 30, 0, 42, tzinfo=UTC)
TIMES = some.datetimes(
    min_value=datetime(1970, 1, 1),  # noqa: DTZ001 - the zone comes with it
    max_value=datetime(2286, 1, 1),  # noqa: DTZ001
    timezones=some.just(UTC),
)
TEXTS = some.text(some.characters())


@given(TEXTS)
def test_what_is_escaped_is_allowed_and_reads_back(text: str) -> None:
    escaped = escape(text)
    assert not FORBIDDEN & set(escaped)
    assert unescape(escaped) == text


@given(TEXTS)
def test_any_text_can_be_read_back(text: str) -> None:
    unescape(text)
    unescape("~ff" + text)


def test_what_is_allowed_stays_as_it_is() -> None:
    assert partition_key("mybatch", "pool-1_A") == "mybatch$pool-1_A"
    assert escape("host.example.org é😀 +-_.") == "host.example.org é😀 +-_."


@given(TEXTS, TEXTS)
def test_a_partition_reads_back(account: str, pool: str) -> None:
    assert partition_of(partition_key(account, pool)) == (account, pool)


@given(TIMES, TEXTS, TEXTS)
def test_a_row_key_is_allowed_short_and_tells_the_time(at: datetime, node: str, event: str) -> None:
    key = row_key(at, node, event, "000000.01234567")
    assert not FORBIDDEN & set(key)
    assert len(key.encode("utf-16-le")) // 2 < LONGEST
    assert key.count("|") == 3
    assert time_of(key) == at


@given(TIMES, TIMES)
def test_row_keys_sort_by_time(one: datetime, other: datetime) -> None:
    assert (seconds(one) < seconds(other)) == (one < other)


def test_a_row_key_is_seconds_with_microseconds() -> None:
    assert row_key(AT, "vm", "benchyard:run-start", "000000.ab") == (
        f"{AT.timestamp():017.6f}|vm|benchyard:run-start|000000.ab"
    )


def test_long_names_that_begin_alike_have_different_keys() -> None:
    keys = {row_key(AT, "n" * 300 + end, "e", "0") for end in ("", "a", "b")}
    assert len(keys) == 3


@pytest.mark.parametrize("key", ["1700000000", "1700000000.0", "1.7e9"])
def test_batch_shipyards_keys_are_seconds(key: str) -> None:
    assert time_of(key) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize("key", ["", "x", "nan", "inf", "1e30", "|", "12|a", "1.2.3|a", "é.1|b"])
def test_other_keys_tell_no_time(key: str) -> None:
    with pytest.raises(ValueError, match="is no key with a time"):
        time_of(key)


@pytest.mark.parametrize(
    "at", [datetime(1969, 12, 31, tzinfo=UTC), datetime(2286, 11, 21, tzinfo=UTC)]
)
def test_times_that_would_not_sort_are_refused(at: datetime) -> None:
    with pytest.raises(ValueError, match="not between 1970 and 2286"):
        row_key(at, "n", "e", "0")


def test_the_last_time_that_sorts() -> None:
    last = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=9_999_999_999, microseconds=999_999)
    assert seconds(last) == "9999999999.999999"
