"""Performance events: what happened on a node, and when, in the manner of Batch Shipyard.

They come from a run's record, and lie as JSON lines in ``events.jsonl`` in its folder: ``at`` (ISO
8601, UTC, microseconds), ``node``, ``event`` (``source:name``), ``message`` (an object).

As one text a message is ``k=v,k=v``, in the manner of Batch Shipyard's tables. They escape nothing:
a value with a comma or an equals sign does not read back there. Ours does: what would part a text
wrongly is percent-encoded, and a text that looks like a number, ``true``, ``null`` or JSON stands
in quotes.

Source: Azure/batch-shipyard, cascade/perf.py and the functions of cascade/cascade.py that call it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from urllib.parse import quote, unquote

from benchyard.core.errors import DocumentRejectedError, RecordError
from benchyard.core.json_text import decoded, encoded
from benchyard.core.model import Json, JsonObject, Outcome
from benchyard.results.record import Attempt, ErrorRecord, PhaseRecord, RunRecord, StepRecord
from benchyard.statistics.measures import median


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a node, as Batch Shipyard stores them.

    Args:
        at: When, with a time zone.
        node: Where: the host's name, or a node's id.
        source: What told it, in lower case: ``benchyard``, ``cascade``.
        name: What happened, in lower case: ``run-start``, ``pull-end``.
        message: What is said of it; the values are numbers, texts, booleans or null.
    """

    at: datetime
    node: str
    source: str
    name: str
    message: Mapping[str, Json] = field(default_factory=dict[str, Json])


def dump(events: Iterable[Event]) -> bytes:
    """Return events as JSON lines, in the order given; what is not finite becomes null."""
    return b"".join(_line(event) for event in events)


def load(content: bytes) -> list[Event]:
    """Return the events of JSON lines; empty lines do not count.

    Raises:
        DocumentRejectedError: If a line holds no event; the text names the line.
    """
    return [
        _event(line, number) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()
    ]


def stamp(at: datetime) -> str:
    """Return a time as a line holds it: ``2026-11-21T19:30:00.000000Z``."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def unstamp(text: str) -> datetime:
    """Return the time, in UTC, that a text with date, time and zone stands for.

    Raises:
        ValueError: If it stands for none.
    """
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"'{text}' has no time zone")
    try:
        return at.astimezone(UTC)
    except OverflowError as error:  # at the edge of what years there are
        raise ValueError(f"'{text}' is no time that can be told in UTC") from error


def _line(event: Event) -> bytes:
    body: JsonObject = {
        "at": stamp(event.at),
        "node": event.node,
        "event": f"{event.source}:{event.name}",
        "message": dict(event.message),
    }
    # What is not finite becomes null; the spaces are as they always were.
    return json.dumps(json.loads(encoded(body))).encode() + b"\n"


def _event(line: bytes, number: int) -> Event:
    try:
        body: Any = decoded(line)
        return _of(body)
    except (ValueError, RecursionError) as error:
        raise DocumentRejectedError(f"line {number} is no JSON or no event: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise DocumentRejectedError(
            f"line {number} is no event: it must be an object with 'at', 'node', 'event' and "
            "'message'"
        ) from error


def _of(body: dict[str, Any]) -> Event:
    node, message = body["node"], body.get("message", {})
    source, parted, name = body["event"].partition(":")
    if not isinstance(node, str) or not isinstance(message, dict):
        raise TypeError
    if not parted:
        raise ValueError(f"'event' is '{body['event']}', and not 'source:name'")
    return Event(unstamp(body["at"]), node, source, name, cast("JsonObject", message))


#: Source of all events that are told of a run of ours.
SOURCE = "benchyard"
#: In the message of a run's start: the whole subject, as JSON.
MEASURED = "measured"


def events_of(record: RunRecord) -> list[Event]:
    """Return what happened in a run, in order of time; always the same for the same record.

    Start and end of the run, of each phase of each resource, of each image that was pulled, and
    of each attempt of each step. Times are the run's start on the wall clock and the monotonic
    seconds since then, so a clock that was set meanwhile moves none of them; only pulls stand
    where their resource says. A run that does not know when it started has no events.

    The start of the run says what was measured: digest of the subject, commit, what is not
    committed, and the whole as JSON. Every message holds ``case`` and ``run``; the end of
    something ``diff``, its length in monotonic seconds; that of a suspect attempt why it is.
    Texts of errors are not told, only their class.

    Raises:
        RecordError: If times of the record are none.
    """
    if not record.started_at:
        return []
    try:
        return sorted(_Telling(record).all(), key=lambda event: event.at)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise RecordError(
            f"run {record.run} of {record.case.get('title')} has a time that is none: {error}; "
            "its record was changed by hand"
        ) from error


class _Telling:
    """One record's telling: every event carries the identity of the run."""

    def __init__(self, record: RunRecord) -> None:
        title = record.case.get("title") or record.case.get("name")
        self.record, self.began = record, record.began.astimezone(UTC)
        self.node = str(record.environment.get("host") or "unknown")
        self.identity: JsonObject = {"case": str(title), "run": record.run}

    def all(self) -> Iterator[Event]:
        record = self.record
        yield self._event(0.0, "run-start", {**self._testbed(), **_subject(record)})
        for phase in record.phases:
            yield from self._phase(phase)
        for name, facts in record.resources.items():
            yield from self._pulls(name, facts)
        for step in record.steps:
            for attempt in step.attempts:
                yield from self._attempt(step, attempt)
        yield self._event(record.duration_s, "run-end", _ended(record, record.duration_s))

    def _event(self, offset_s: float, name: str, message: Mapping[str, Json]) -> Event:
        return self._event_at(self.began + timedelta(seconds=offset_s), name, message)

    def _event_at(self, at: datetime, name: str, message: Mapping[str, Json]) -> Event:
        told = {key: value for key, value in message.items() if value is not None}
        return Event(at, self.node, SOURCE, name, {**self.identity, **told})

    def _testbed(self) -> JsonObject:
        environment = self.record.environment
        system = environment.get("os")
        known: JsonObject = system if isinstance(system, dict) else {}
        return {
            # The words of Batch Shipyard for a node's system.
            "offer": known.get("name"),
            "sku": known.get("version"),
            "kernel": environment.get("kernel"),
            "benchyard": self.record.benchyard_version or None,
        }

    def _phase(self, phase: PhaseRecord) -> Iterator[Event]:
        whose: JsonObject = {"resource": phase.resource, "step": phase.step}
        end_s = phase.start_s + phase.duration_s
        yield self._event(phase.start_s, f"{phase.phase}-start", whose)
        yield self._event(end_s, f"{phase.phase}-end", {**whose, **_ended(phase, phase.duration_s)})

    def _pulls(self, resource: str, facts: Json) -> Iterator[Event]:
        for start, end, image, ended in _pulls(facts):
            whose = {"resource": resource, **image}
            yield self._event_at(start, "pull-start", whose)
            yield self._event_at(end, "pull-end", {**whose, **ended})

    def _attempt(self, step: StepRecord, attempt: Attempt) -> Iterator[Event]:
        whose: JsonObject = {
            "step": step.id,
            "name": step.name,
            "index": step.index,
            "resource": step.resource,
            "command": step.command,
            "attempt": attempt.number,
        }
        length_s = attempt.end_s - attempt.start_s
        ended = {**whose, **_ended(attempt, length_s), **_measured(step, attempt)}
        if self.record.subject:
            ended["suspect"] = _suspect(step, attempt)
        yield self._event(attempt.start_s, "attempt-start", whose)
        yield self._event(attempt.end_s, "attempt-end", ended)


def _subject(record: RunRecord) -> JsonObject:
    """Tell what was measured; nothing of an older record, whose events stay the same for ever."""
    if not record.subject:
        return {}
    commit, changes = record.commit or (None, None)
    whole = json.dumps(dict(record.subject), sort_keys=True, separators=(",", ":"))
    digest = record.subject.get("digest")
    return {"subject": digest, "commit": commit, "changes": changes, MEASURED: whole}


def _pulls(facts: Json) -> Iterator[tuple[datetime, datetime, JsonObject, JsonObject]]:
    """Yield start, end, and what to say of both, of each pull that a resource tells of.

    What it calls so may be something else.
    """
    told: Any = facts.get("pulls") if isinstance(facts, dict) else None
    for pull in cast("list[Any]", told) if isinstance(told, list) else []:
        try:
            ended: JsonObject = {"diff": pull.get("duration_s"), "size": pull.get("bytes")}
            image = str(pull["image"])
            yield unstamp(pull["started_at"]), unstamp(pull["ended_at"]), {"img": image}, ended
        except (KeyError, TypeError, ValueError, AttributeError):
            continue


def _ended(what: RunRecord | PhaseRecord | Attempt, length_s: float) -> JsonObject:
    error: ErrorRecord | None = what.error
    return {
        "outcome": what.outcome.value,
        "diff": length_s,
        "error": None if error is None else error.type,
    }


def _suspect(step: StepRecord, attempt: Attempt) -> str | None:
    measured = [made for made in attempt.repetitions if made.kind == "measured"]
    reasons = dict.fromkeys(reason for made in measured for reason in made.suspect)
    return "; ".join(reasons) or None if step.measure else None


def _measured(step: StepRecord, attempt: Attempt) -> JsonObject:
    """Tell how often the command was measured, and the median of it if that can be counted on."""
    measured = [made.duration_s for made in attempt.repetitions if made.kind == "measured"]
    counts = step.measure and attempt.outcome is Outcome.COMPLETED and measured
    return {"repetitions": len(measured), "wall": median(measured) if counts else None}


_PARTING = re.compile(r"[%,=\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LITERAL = re.compile(
    r"""-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z|(true|false|null|NaN|-?Infinity)\Z|["\[{]"""
)


def message_pairs(message: Mapping[str, Json]) -> list[str]:
    """Return each ``k=v`` of a message."""
    return [f"{_escaped(name)}={_written(value)}" for name, value in message.items()]


def read_message(text: str) -> dict[str, Json]:
    """Return the message that a text was made of; any other text gives what is in it."""
    if not text:
        return {}
    parted = (part.partition("=") for part in text.split(","))
    return {_unescaped(name): _value(value) for name, _, value in parted}


def read_plain_message(text: str) -> dict[str, str]:
    """Return Batch Shipyard's own message: all values are texts, and nothing is escaped.

    A value goes from the first equals sign on. What follows a comma and has none of its own
    belongs to the value before, as with an image's name that has a comma.
    """
    message: dict[str, str] = {}
    last: str | None = None
    for part in text.split(",") if text else ():
        name, found, value = part.partition("=")
        if found or last is None:
            message[name], last = value, name
        else:
            message[last] += f",{part}"
    return message


def _written(value: Json) -> str:
    if isinstance(value, str) and not _LITERAL.match(value):
        return _escaped(value)
    return _escaped(json.dumps(value))


def _value(text: str) -> Json:
    plain = _unescaped(text)
    if not _LITERAL.match(text):
        return plain
    try:
        found: Any = json.loads(plain)
    except (ValueError, RecursionError):  # of another's making
        return plain
    return found


def _escaped(text: str) -> str:
    return _PARTING.sub(lambda match: quote(match[0], safe="", errors="surrogatepass"), text)


def _unescaped(text: str) -> str:
    if "%" not in text:
        return text
    try:
        return unquote(text, errors="surrogatepass")
    except UnicodeDecodeError:
        return text
