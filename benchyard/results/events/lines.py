"""An event, and events as JSON lines, as ``events.jsonl`` in a run's folder holds them.

One line for each event: ``at`` (ISO 8601, UTC, microseconds), ``node``, ``event``
(``source:name``), ``message`` (an object).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from benchyard.core.errors import DocumentRejectedError
from benchyard.core.json_text import decoded
from benchyard.core.model import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on a node.

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
    body = {
        "at": stamp(event.at),
        "node": event.node,
        "event": f"{event.source}:{event.name}",
        "message": dict(event.message),
    }
    try:
        text = json.dumps(body, allow_nan=False)
    except ValueError:
        text = json.dumps(json.loads(json.dumps(body), parse_constant=lambda _: None))
    return text.encode() + b"\n"


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
