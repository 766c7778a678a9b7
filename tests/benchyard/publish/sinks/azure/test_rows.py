"""Events as rows and back, what is too long, and what fits into one transaction."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchyard.publish.sinks.azure.rows import (
    LONGEST,
    MOST_BYTES,
    MOST_ROWS,
    Row,
    escape,
    event_of,
    fitting,
    row_key,
    rows_of,
    seconds,
    time_of,
    transactions,
)
from benchyard.results.events import Event, message_pairs, read_message

AT = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
LIMIT = 32_768
FORBIDDEN = set("/\\#?") | {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}
TIMES = some.datetimes(
    min_value=datetime(1970, 1, 1),  # noqa: DTZ001 - the zone comes with it
    max_value=datetime(2286, 1, 1),  # noqa: DTZ001
    timezones=some.just(UTC),
)
TEXTS = some.text(some.characters())


def event(number: int = 0, **message: str | int) -> Event:
    return Event(AT + timedelta(seconds=number), "vm", "benchyard", "attempt-end", message)


def test_a_row_reads_back() -> None:
    one = event(case="tpch[scale=0.1]", run=1)
    [row] = rows_of([one], "account$pool")
    key = row.pop("RowKey")
    assert key.startswith(f"{AT.timestamp():017.6f}|vm|benchyard:attempt-end|")
    assert row == {
        "PartitionKey": "account$pool",
        "NodeId": "vm",
        "Event": "benchyard:attempt-end",
        "Message": ",".join(message_pairs(one.message)),
    }
    assert event_of({**row, "RowKey": key}) == one
    [empty] = rows_of([event()], "a$b")
    assert "Message" not in empty
    assert event_of(empty) == event()


@given(some.lists(some.tuples(some.integers(0, 3), some.text()), max_size=20))
def test_keys_are_unique_and_always_the_same(made: list[tuple[int, str]]) -> None:
    events = [event(number, text=text) for number, text in made]
    keys = [row["RowKey"] for row in rows_of(events, "a$b")]
    assert len(set(keys)) == len(events)
    assert keys == [row["RowKey"] for row in rows_of(events, "a$b")]


@given(
    some.dictionaries(
        some.text(max_size=20),
        some.text(some.characters(), max_size=12).map(lambda text: text * 1000),
        max_size=6,
    )
)
def test_any_message_is_made_to_fit(message: dict[str, str]) -> None:
    text = fitting(message)
    assert len(text.encode("utf-16-le", "surrogatepass")) // 2 <= LIMIT
    for name, value in read_message(text).items():
        kept = str(value).removesuffix("…[cut]")
        assert name == "cut" or message[name].startswith(kept)


def test_what_does_not_fit_is_cut_and_counted() -> None:
    message = read_message(fitting({"run": 1, "text": "x" * 70_000, "after": "y"}))
    assert message == {"run": 1, "text": "x" * 4000 + "…[cut]", "after": "y"}
    message = read_message(fitting({f"name{number}": "x" * 1000 for number in range(50)}))
    missing = message.pop("cut")
    assert list(message) == [f"name{number}" for number in range(len(message))]
    assert missing == 50 - len(message) < 25


def test_a_hostile_node_is_cut_and_made_sound() -> None:
    hostile = Event(AT, "\ud800" + "n" * 100_000, "s", "e", {})
    [row] = rows_of([hostile], "a$b")
    assert len(row["NodeId"]) < 2000
    assert row["NodeId"].startswith("?nn")
    json.dumps(row, ensure_ascii=False).encode()


@given(some.lists(some.integers(0, 30_000), max_size=300))
def test_transactions_hold_all_rows_in_order_within_the_limits(sizes: list[int]) -> None:
    rows: list[Row] = [
        {"PartitionKey": "a$b", "RowKey": str(number), "Message": "é" * size}
        for number, size in enumerate(sizes)
    ]
    batches = list(transactions(rows))
    assert [row for batch in batches for row in batch] == rows
    for batch in batches:
        assert 1 <= len(batch) <= MOST_ROWS
        assert len(json.dumps(batch)) + 800 * len(batch) <= MOST_BYTES


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"RowKey": "1.0", "Event": "a:b"},
        {"RowKey": "x", "Event": "a:b", "NodeId": "n"},
        {"RowKey": "1|n", "NodeId": "n", "Event": "a:b"},
    ],
)
def test_what_is_no_event_is_refused(row: Row) -> None:
    with pytest.raises(ValueError, match=r"is no (event|key with a time)"):
        event_of(row)


@given(TEXTS, TEXTS)
def test_what_is_escaped_is_allowed_and_no_other_text_is_escaped_so(text: str, other: str) -> None:
    assert not FORBIDDEN & set(escape(text))
    for one in (other, escape(text)):
        assert (escape(one) == escape(text)) == (one == text)


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


def test_long_names_that_begin_alike_have_different_keys() -> None:
    assert len({row_key(AT, "n" * 300 + end, "e", "0") for end in ("", "a", "b")}) == 3


def test_batch_shipyards_keys_are_seconds_and_others_tell_no_time() -> None:
    for key in ("1700000000", "1700000000.0", "1.7e9"):
        assert time_of(key) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    for key in ("", "x", "nan", "inf", "1e30", "|", "12|a", "1.2.3|a", "é.1|b"):
        with pytest.raises(ValueError, match="is no key with a time"):
            time_of(key)


def test_times_that_would_not_sort_are_refused() -> None:
    last = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=9_999_999_999, microseconds=999_999)
    assert seconds(last) == "9999999999.999999"
    for at in (datetime(1969, 12, 31, tzinfo=UTC), last + timedelta(microseconds=1)):
        with pytest.raises(ValueError, match="not between 1970 and 2286"):
            row_key(at, "n", "e", "0")
