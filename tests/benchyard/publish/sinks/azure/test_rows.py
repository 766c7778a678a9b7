"""Events as rows and back, what is too long, and what fits into one transaction."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchyard.publish.sinks.azure.rows import (
    MOST_BYTES,
    MOST_ROWS,
    Row,
    event_of,
    fitting,
    rows_of,
    transactions,
)
from benchyard.results.events import Event
from benchyard.results.events.message import read, write

AT = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
LIMIT = 32_768


def event(number: int = 0, **message: str | int) -> Event:
    return Event(AT + timedelta(seconds=number), "vm", "benchyard", "attempt-end", message)


def test_a_row_reads_back() -> None:
    one = event(case="tpch[scale=0.1]", run=1)
    [row] = rows_of([one], "account$pool")
    assert set(row) == {"PartitionKey", "RowKey", "NodeId", "Event", "Message"}
    assert (row["PartitionKey"], row["NodeId"]) == ("account$pool", "vm")
    assert row["Event"] == "benchyard:attempt-end"
    assert event_of(row) == one


def test_an_empty_message_is_no_property() -> None:
    [row] = rows_of([event()], "a$b")
    assert "Message" not in row
    assert event_of(row) == event()


@given(some.lists(some.tuples(some.integers(0, 3), some.text()), max_size=20))
def test_keys_are_unique_and_always_the_same(made: list[tuple[int, str]]) -> None:
    events = [event(number, text=text) for number, text in made]
    keys = [row["RowKey"] for row in rows_of(events, "a$b")]
    assert len(set(keys)) == len(events)
    assert keys == [row["RowKey"] for row in rows_of(events, "a$b")]


def test_events_of_one_instant_keep_their_order() -> None:
    rows = rows_of([event(order=number) for number in range(250)], "a$b")
    assert rows == sorted(rows, key=lambda row: row["RowKey"])
    assert len({row["RowKey"] for row in rows}) == 250


def test_two_documents_of_one_instant_have_different_keys() -> None:
    [one], [other] = rows_of([event(run=1)], "a$b"), rows_of([event(run=2)], "a$b")
    assert one["RowKey"] != other["RowKey"]


def test_a_message_that_fits_is_not_touched() -> None:
    message = {"text": "x" * (LIMIT - 5)}
    assert fitting(message) == write(message)


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
    for name, value in read(text).items():
        kept = str(value).removesuffix("…[cut]")
        assert name == "cut" or message[name].startswith(kept)


def test_a_long_value_is_cut_and_marked() -> None:
    message = read(fitting({"run": 1, "text": "x" * 70_000, "after": "y"}))
    assert message == {"run": 1, "text": "x" * 4000 + "…[cut]", "after": "y"}


def test_members_that_do_not_fit_are_counted() -> None:
    message = read(fitting({f"name{number}": "x" * 1000 for number in range(50)}))
    kept = [name for name in message if name != "cut"]
    assert message["cut"] == 50 - len(kept)
    assert kept == [f"name{number}" for number in range(len(kept))]
    assert len(kept) > 25


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


def test_no_rows_are_no_transaction() -> None:
    # Azure answers an empty one with 500.
    assert list(transactions([])) == []


def test_batch_shipyards_rows_are_read() -> None:
    row = {
        "PartitionKey": "a$b",
        "RowKey": "1480000000.25",
        "NodeId": "tvm-1",
        "Event": "cascade:pull-end",
        "Message": "grtype=docker,img=busybox,diff=1.5,size=1.1 MB",
    }
    at = datetime(2016, 11, 24, 15, 6, 40, 250000, tzinfo=UTC)
    message = {"grtype": "docker", "img": "busybox", "diff": "1.5", "size": "1.1 MB"}
    assert event_of(row) == Event(at, "tvm-1", "cascade", "pull-end", message)
    del row["Message"]
    assert event_of(row).message == {}


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


@pytest.mark.parametrize("told", ["", "yesterday", "2026-11-21T19:30:00"])
def test_a_publishing_event_without_a_time_stands_at_its_key(told: str) -> None:
    [row] = rows_of([Event(AT, "n", "benchyard", "upload-end", {"at": told})], "a$b")
    assert event_of(row).at == AT
