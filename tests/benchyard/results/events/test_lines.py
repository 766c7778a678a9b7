"""Events as lines: read back, and refused with the number of the line."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchyard.core.errors import DocumentRejectedError
from benchyard.results.events import Event, dump, load

AT = datetime(2026, 11, 21, 19, 30, 0, 123456, tzinfo=UTC)
GOOD = b'{"at": "2026-11-21T19:30:00.123456Z", "node": "n", "event": "a:b", "message": {}}\n'

NAMES = some.text(min_size=1).filter(lambda name: ":" not in name)
EVENTS = some.builds(
    Event,
    some.datetimes(
        min_value=datetime(1, 1, 2),  # noqa: DTZ001 - the zone comes with it
        max_value=datetime(9999, 12, 30),  # noqa: DTZ001
        timezones=some.just(UTC),
    ),
    some.text(),
    NAMES,
    some.text(),
    some.dictionaries(
        some.text(), some.none() | some.booleans() | some.integers() | some.text(), max_size=4
    ),
)


@given(some.lists(EVENTS, max_size=5))
def test_what_is_dumped_loads(events: list[Event]) -> None:
    content = dump(events)
    assert load(content) == events
    assert content.count(b"\n") == len(events)


def test_a_line_says_the_time_in_utc_with_microseconds() -> None:
    there = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    line = dump([Event(there, "n", "benchyard", "run-start", {"run": 1})])
    assert line == (
        b'{"at": "2026-11-21T19:30:00.123456Z", "node": "n", "event": "benchyard:run-start", '
        b'"message": {"run": 1}}\n'
    )


def test_other_zones_and_empty_lines_are_read() -> None:
    [event] = load(b"\n" + GOOD.replace(b"19:30:00.123456Z", b"21:30:00.123456+02:00") + b"\r\n")
    assert event == Event(AT, "n", "a", "b", {})


def test_a_member_message_may_be_missing() -> None:
    assert load(GOOD.replace(b', "message": {}', b""))[0].message == {}


def test_not_a_number_becomes_null() -> None:
    [event] = load(dump([Event(AT, "n", "a", "b", {"wall": float("nan"), "x": 1})]))
    assert event.message == {"wall": None, "x": 1}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"NaN", "no JSON"),
        (b"[]", "must be an object"),
        (b"null", "must be an object"),
        (b"{}", "must be an object"),
        (GOOD.replace(b'"n"', b"3"), "must be an object"),
        (GOOD.replace(b"{}", b"[]"), "must be an object"),
        (GOOD.replace(b'"a:b"', b"7"), "must be an object"),
        (GOOD.replace(b"a:b", b"ab"), "'ab', and not 'source:name'"),
        (GOOD.replace(b"Z", b""), "has no time zone"),
        (GOOD.replace(b"2026-11-21T19:30:00.123456Z", b"yesterday"), "yesterday"),
        (GOOD.replace(b"2026-11-21T19:30:00.123456Z", b"0001-01-01T00:00:00+05:00"), "no time"),
    ],
)
def test_what_is_no_event_is_refused_by_its_line(line: bytes, words: str) -> None:
    with pytest.raises(DocumentRejectedError, match=r"^line 3 ") as raised:
        load(GOOD + b"\n" + line)
    assert words in str(raised.value)
