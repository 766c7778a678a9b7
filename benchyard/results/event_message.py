"""An event's message as one text: ``k=v,k=v``, in the manner of Batch Shipyard's tables.

Batch Shipyard writes no escapes, so a value with a comma or an equals sign does not read back
there. Ours does: what would part a text wrongly is percent-encoded, and a text that looks like a
number, ``true``, ``null`` or JSON stands in quotes.

Source: Azure/batch-shipyard, cascade/perf.py and the functions of cascade/cascade.py that call it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from benchyard.core.model import Json

_PARTING = re.compile(r"[%,=\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LITERAL = re.compile(
    r"""-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z|(true|false|null|NaN|-?Infinity)\Z|["\[{]"""
)


def write(message: Mapping[str, Json]) -> str:
    """Return a message as one text that ``read`` turns back into the same."""
    return ",".join(pairs(message))


def pairs(message: Mapping[str, Json]) -> list[str]:
    """Return each ``k=v`` of a message."""
    return [f"{_escaped(name)}={_written(value)}" for name, value in message.items()]


def read(text: str) -> dict[str, Json]:
    """Return the message that ``write`` made a text of; any other text gives what is in it."""
    if not text:
        return {}
    parted = (part.partition("=") for part in text.split(","))
    return {_unescaped(name): _value(value) for name, _, value in parted}


def read_plain(text: str) -> dict[str, str]:
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
