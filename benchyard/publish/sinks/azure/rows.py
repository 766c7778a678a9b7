"""An event as a row of the table, a row as an event, and rows as transactions."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from benchyard.core.model import Json
from benchyard.publish.sinks.azure.keys import is_ours, row_key, time_of
from benchyard.results.events import Event
from benchyard.results.events.lines import unstamp
from benchyard.results.events.making import SOURCE
from benchyard.results.events.message import pairs, read, read_plain, write

Row: TypeAlias = dict[str, str]

#: A text's largest length in characters of UTF-16: 64 KiB.
#: Source: Azure Tables, "Understanding the Table service data model", property types.
_LONGEST = 32_768
#: What a value is cut down to when the message is too long, in characters.
_LONGEST_VALUE = 4_000
#: The same for a node's and an event's name.
_LONGEST_NAME = 1_000
CUT = "…[cut]"

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
    """Return one row.

    Args:
        name: ``source:name`` of the event.
        message: As text, short enough.
        sequence: What tells it from other such events of that instant; the same each time.

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
    """Return a message as text that fits into a property; what was cut away is marked.

    Long values end in ``…[cut]``; where that is not enough, ``cut`` tells how many members are
    missing at the end.
    """
    text = write(message)
    if _length(text) <= _LONGEST:
        return text
    short = {cut(name, _LONGEST_NAME): _shortened(value) for name, value in message.items()}
    kept, room = list[str](), _LONGEST - 40
    for pair in pairs(short):
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
        return Event(time_of(key), node, source, name, dict[str, Json](read_plain(text)))
    message = read(text)
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
    """Part rows of one partition into what may be sent at once."""
    batch: list[Row] = []
    size = _WRAPPING_BYTES
    for one in rows:
        more = _FRAME_BYTES + len(json.dumps(one)) + 3 * len(one["RowKey"] + one["PartitionKey"])
        if batch and (len(batch) == MOST_ROWS or size + more > MOST_BYTES):
            yield batch
            batch, size = [], _WRAPPING_BYTES
        batch.append(one)
        size += more
    if batch:
        yield batch


def _shortened(value: Json) -> Json:
    return cut(value, _LONGEST_VALUE) if isinstance(value, str) else value


def cut(text: str, longest: int) -> str:
    """Return a text, at most so many characters of it and a mark that more was there."""
    return text if len(text) <= longest else text[:longest] + CUT


def _sound(text: str) -> str:
    """Replace halves of characters, which no UTF-8 has."""
    return text.encode(errors="replace").decode()


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
