"""Events of a record, and events as lines: read back, and refused with the number of the line."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchyard.core.errors import DocumentRejectedError, RecordError
from benchyard.core.model import JsonObject, Outcome
from benchyard.results.events import Event, dump, events_of, load
from benchyard.results.record import (
    Attempt,
    ErrorRecord,
    PhaseRecord,
    Repetition,
    RunRecord,
    StepRecord,
)

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


def test_a_member_message_may_be_missing() -> None:
    assert load(GOOD.replace(b', "message": {}', b""))[0].message == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"NaN", "no JSON"),
        (b"[]", "must be an object"),
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


BEGAN = datetime(2026, 11, 21, 19, 30, 0, 500000, tzinfo=UTC)
ERROR = ErrorRecord("CommandFailedError", "psql: password 'hunter2' is wrong")
PULL: JsonObject = {
    "image": "postgres:17",
    "started_at": "2026-11-21T20:30:00.700000+01:00",
    "ended_at": "2026-11-21T20:30:00.900000+01:00",
    "duration_s": 0.2,
    "bytes": 438000000,
}


def made(
    duration_s: float, outcome: Outcome = Outcome.COMPLETED, kind: str = "measured"
) -> Repetition:
    return Repetition(kind, 0.0, duration_s, outcome)


def step(index: int, *attempts: Attempt, measure: bool = True) -> StepRecord:
    outcome = attempts[-1].outcome if attempts else Outcome.SKIPPED
    return StepRecord(index, f"s{index}", f"Step {index}", "PostgreSQL", "query",
                      {"password": "${env:PASSWORD}"}, measure, outcome, attempts)  # fmt: skip


def attempt(
    number: int, start_s: float, end_s: float, outcome: Outcome, *repetitions: Repetition
) -> Attempt:
    error = None if outcome is Outcome.COMPLETED else ERROR
    return Attempt(number, "", start_s, end_s, outcome, repetitions, error)


def record(**changes: Any) -> RunRecord:
    failed = attempt(1, 2.0, 3.0, Outcome.FAILED, made(0.9, Outcome.FAILED))
    warm = made(9.0, kind="warmup")
    fine = attempt(2, 3.5, 8.0, Outcome.COMPLETED, warm, made(0.3), made(0.1), made(0.2))
    last = attempt(1, 8.0, 8.5, Outcome.COMPLETED, made(0.4))
    return replace(
        RunRecord(
            case={"name": "c", "title": "c[scale=1]"},
            run=7,
            outcome=Outcome.COMPLETED,
            started_at="2026-11-21T20:30:00.500000+01:00",
            ended_at="2026-11-21T20:30:10.000000+01:00",
            duration_s=9.5,
            steps=(step(1, failed, fine), step(2), step(3, last, measure=False)),
            phases=(
                PhaseRecord("initialize", "PostgreSQL", None, 0.1, 0.5, Outcome.COMPLETED),
                PhaseRecord("start", "PostgreSQL", 1, 2.1, 0.5, Outcome.FAILED, error=ERROR),
            ),
            resources={"PostgreSQL": {"version": "17", "pulls": [PULL]}, "Process": {}},
            environment={"host": "vm", "os": {"name": "Debian", "version": "12"}, "kernel": "L"},
            benchyard_version="0.1.0",
        ),
        **changes,
    )  # fmt: skip


def named(events: list[Event], name: str) -> list[Event]:
    return [event for event in events if event.name == name]


def test_events_are_in_order_of_time_and_between_start_and_end() -> None:
    events = events_of(record())
    assert [event.name for event in events] == [
        "run-start",
        "initialize-start",
        "pull-start",
        "pull-end",
        "initialize-end",
        "attempt-start",
        "start-start",
        "start-end",
        "attempt-end",
        "attempt-start",
        "attempt-end",
        "attempt-start",
        "attempt-end",
        "run-end",
    ]
    assert {(event.node, event.source) for event in events} == {("vm", "benchyard")}
    assert events[0].at == BEGAN
    assert events[-1].at == BEGAN + timedelta(seconds=9.5)
    assert all(event.at.tzinfo is UTC for event in events)
    assert all((e.message["case"], e.message["run"]) == ("c[scale=1]", 7) for e in events)


def test_an_attempt_that_failed_tells_the_class_of_its_error_and_never_its_text() -> None:
    events = events_of(record())
    first = named(events, "attempt-end")[0]
    assert first.message["error"] == "CommandFailedError"
    assert first.message["outcome"] == "failed"
    assert first.message["diff"] == 1.0
    assert "wall" not in first.message
    content = dump(events)
    assert b"hunter2" not in content
    assert b"PASSWORD" not in content


def test_the_wall_time_is_the_median_of_what_was_measured() -> None:
    second = named(events_of(record()), "attempt-end")[1].message
    assert second["wall"] == 0.2
    assert second["repetitions"] == 3
    assert (second["step"], second["name"], second["index"]) == ("s1", "Step 1", 1)
    assert "wall" not in named(events_of(record()), "attempt-end")[2].message  # not measured


@pytest.mark.parametrize(
    "told",
    [3, ["postgres"], [{}], [{**PULL, "started_at": "yesterday"}], [{**PULL, "ended_at": None}]],
)
def test_what_a_resource_calls_pulls_may_be_something_else(told: Any) -> None:
    assert not named(events_of(record(resources={"X": {"pulls": told}})), "pull-start")


@pytest.mark.parametrize(
    "changes",
    [
        {"duration_s": 1e100},
        {"steps": (step(1, attempt(1, float("nan"), 1.0, Outcome.COMPLETED)),)},
        {"steps": (step(1, attempt(1, "soon", 1.0, Outcome.COMPLETED)),)},  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_time_that_is_none_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match=r"run 7 of c\[scale=1\]"):
        events_of(record(**changes))


def test_the_start_says_what_was_measured_and_the_end_of_an_attempt_why_it_is_suspect() -> None:
    states: JsonObject = {"package x": {"commit": "b" * 40, "changes": "none"}}
    subject: JsonObject = {"digest": "sha256:5", "host": "vm", "repositories": states}
    bad = replace(made(0.3), suspect=("swapped", "throttled"))
    ended = attempt(1, 2.0, 3.0, Outcome.COMPLETED, bad, replace(bad, suspect=("swapped",)))
    events = events_of(record(subject=subject, steps=(step(1, ended),)))
    [began] = named(events, "run-start")
    assert (began.message["subject"], began.message["commit"]) == ("sha256:5", "b" * 40)
    assert "changes" not in began.message
    assert json.loads(str(began.message["measured"])) == subject
    [end] = named(events, "attempt-end")
    assert end.message["suspect"] == "swapped; throttled"


def test_an_older_record_has_the_same_events_as_ever() -> None:
    """Else rows that are published already would be there twice: their keys tell what they say."""
    content = dump(events_of(record()))
    assert hashlib.sha256(content).hexdigest()[:16] == "028b5325f8831cce"
