r"""An event as a row of the table, a row as an event, rows as transactions, and the keys of rows.

A key is made of any text, sorted by time, the same each time. It must not hold ``/ \ # ?`` or a
control character, and 1 KiB of UTF-16 is its limit.
Source: Azure Tables, "Understanding the Table service data model".
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from benchyard.core.model import Json
from benchyard.publish.sinks.sending import batches
from benchyard.results.events import (
    SOURCE,
    Event,
    message_pairs,
    read_message,
    read_plain_message,
    unstamp,
)

Row: TypeAlias = dict[str, str]
#: A text's largest length in characters of UTF-16: 64 KiB.
#: Source: Azure Tables, "Understanding the Table service data model", property types.
_LONGEST = 32_768
#: What a value is cut down to when the message is too long, in characters.
_LONGEST_VALUE = 4_000
#: The same for a node's and an event's name.
_LONGEST_NAME = 1_000
CUT = "…[cut]"
#: Source of what is told of a document that is no run of ours.
TESTRESULTS = "tensorflow"
#: The node of a document that names no host.
UNKNOWN = "unknown"
#: Source: Azure Tables, "Performing entity group transactions": 100 entities, 4 MiB.
MOST_ROWS = 100
MOST_BYTES = 4 * 1024 * 1024
#: What a row costs in a transaction beside its keys and its JSON: headers and boundaries.
_FRAME_BYTES = 1_000
#: The same for a transaction itself, and a reserve.
_WRAPPING_BYTES = 64 * 1024
#: Events of a document's publishing: their rows stand at its last event, so that publishing
#: twice leaves one row. When they happened is in the message.
PUBLISHING = ("upload-start", "upload-end", "archive-start", "archive-end")
#: With our own separators, the sign of our escapes, and what has a meaning in a URL or a filter.
_FORBIDDEN = re.compile(r"[/\\#?%'|$~\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: From then on seconds have eleven digits, and no text of them sorts by time any more.
_LAST = 10_000_000_000 * 1_000_000
#: Longest key in characters of UTF-16.
LONGEST = 512
#: So much of a node's or an event's name goes into a key; the row has the whole of it.
_NAME = 100


def rows_of(events: Iterable[Event], partition: str) -> list[Row]:
    """Return a row for each event; the same events always give the same keys.

    Raises:
        ValueError: If an event's time is before 1970 or after 2286.
    """
    nth: Counter[tuple[datetime, str, str]] = Counter()
    rows: list[Row] = []
    for event in events:
        name, message = f"{event.source}:{event.name}", fitting(event.message)
        place = (event.at, event.node, name)
        digest = hashlib.sha256(message.encode(errors="surrogatepass")).hexdigest()[:8]
        rows.append(
            row(event.at, event.node, name, message, partition, f"{nth[place]:06d}.{digest}")
        )
        nth[place] += 1
    return rows


def row(at: datetime, node: str, name: str, message: str, partition: str, sequence: str) -> Row:
    """Return a row.

    Args:
        at: Time of the event.
        node: Where it happened.
        name: ``source:name`` of the event.
        message: As text, short enough for a property.
        partition: Key of the partition.
        sequence: Tells it from other such events of that instant; the same each time.

    Raises:
        ValueError: If the time is before 1970 or after 2286.
    """
    made = {
        "PartitionKey": partition,
        "RowKey": row_key(at, node, name, sequence),
        "NodeId": cut(_sound(node), _LONGEST_NAME),
        "Event": cut(_sound(name), _LONGEST_NAME),
    }
    return made | ({"Message": message} if message else {})


def fitting(message: Mapping[str, Json]) -> str:
    """Return a message as text that fits into a property; cuts are marked.

    Long values end in ``…[cut]``; where that is not enough, ``cut`` tells how many members are
    missing at the end.
    """
    text = ",".join(message_pairs(message))
    if _length(text) <= _LONGEST:
        return text
    short = {cut(name, _LONGEST_NAME): _shortened(value) for name, value in message.items()}
    kept, room = list[str](), _LONGEST - 40
    for pair in message_pairs(short):
        room -= _length(pair) + 1
        if room < 0:
            break
        kept.append(pair)
    missing = len(short) - len(kept)
    return ",".join([*kept, f"cut={missing}"] if missing else kept)


def event_of(found: Mapping[str, Any]) -> Event:
    """Return the event of a row, ours or Batch Shipyard's own.

    Raises:
        ValueError: If it is neither.
    """
    try:
        key, text = str(found["RowKey"]), str(found.get("Message") or "")
        source, _, name = str(found["Event"]).partition(":")
        node = str(found["NodeId"])
    except KeyError as error:
        raise ValueError(f"a row without {error} is no event") from error
    if not is_ours(key):
        return Event(time_of(key), node, source, name, dict[str, Json](read_plain_message(text)))
    message = read_message(text)
    return Event(_happened(key, source, name, message), node, source, name, message)


def _happened(key: str, source: str, name: str, message: Mapping[str, Json]) -> datetime:
    told = message.get("at")
    if source == SOURCE and name in PUBLISHING and isinstance(told, str):
        try:
            return unstamp(told)
        except ValueError:
            return time_of(key)
    return time_of(key)


def transactions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Split the rows of a partition into transactions."""

    def size(one: Row) -> int:
        return _FRAME_BYTES + len(json.dumps(one)) + 3 * len(one["RowKey"] + one["PartitionKey"])

    return batches(rows, size, MOST_ROWS, MOST_BYTES - _WRAPPING_BYTES)


def _shortened(value: Json) -> Json:
    return cut(value, _LONGEST_VALUE) if isinstance(value, str) else value


def cut(text: str, longest: int) -> str:
    """Return a text, at most so many characters of it and a mark that more was there."""
    return text if len(text) <= longest else text[:longest] + CUT


def _sound(text: str) -> str:
    """Replace single surrogates, which UTF-8 cannot hold."""
    return text.encode(errors="replace").decode()


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def partition_key(account: str, pool: str) -> str:
    """Return the key of a pool's events, ``account$pool``, as Batch Shipyard has it."""
    return f"{escape(account)}${escape(pool)}"


def row_key(at: datetime, node: str, event: str, sequence: str) -> str:
    """Return a row's key, ``seconds|node|event|sequence``: as text it sorts by time.

    Raises:
        ValueError: If the time is before 1970 or after 2286, where texts do not sort by time.
    """
    return f"{seconds(at)}|{_short(node)}|{_short(event)}|{sequence}"


def seconds(at: datetime) -> str:
    """Return seconds since 1970 with microseconds, ten digits before the point.

    Raises:
        ValueError: If the time is before 1970 or after 2286.
    """
    passed = microseconds(at)
    if not 0 <= passed < _LAST:
        raise ValueError(f"{at.isoformat()} is not between 1970 and 2286")
    return f"{passed // 1_000_000:010d}.{passed % 1_000_000:06d}"


def microseconds(at: datetime) -> int:
    """Return whole microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def time_of(key: str) -> datetime:
    """Return the time in a row's key, ours or Batch Shipyard's, which is seconds alone.

    Raises:
        ValueError: If there is none.
    """
    text = key.partition("|")[0]
    try:
        if "|" not in key:
            return datetime.fromtimestamp(float(text), UTC)
        whole, _, part = text.partition(".")
        return _EPOCH + timedelta(seconds=int(whole), microseconds=int(part))
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(f"'{key[:60]}' is no key with a time") from error


def is_ours(key: str) -> bool:
    """Whether a row's key is of our form; Batch Shipyard's is a number alone."""
    return "|" in key


def escape(text: str) -> str:
    """Escape what no key may hold, as ``~`` and two hexadecimal digits for each byte."""
    return _FORBIDDEN.sub(
        lambda match: "".join(f"~{byte:02x}" for byte in match[0].encode(errors="surrogatepass")),
        text,
    )


def _short(name: str) -> str:
    escaped = escape(name)
    if len(escaped) <= _NAME:
        return escaped
    digest = hashlib.sha256(escaped.encode()).hexdigest()[:16]
    return f"{escaped[: _NAME - 17]}-{digest}"
