"""JSON cut to what fits into a property, still JSON, with a pointer to the whole.

What is small stays whole: each member of an object and each element of a list may take an equal
share of the room, and what the small ones leave goes to the large ones. So a document keeps the
names and times of all its entries and loses their details, instead of losing half of the entries.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from benchyard.core.model import Json, JsonObject

K = TypeVar("K")
#: Member of every object that was cut: ``archive`` and ``bytes``, of the whole.
MARKER = "benchyardCut"
#: Ends a text that was cut.
ELLIPSIS = "…"
#: With a smaller share, the first elements are kept instead of a little of all (bytes).
_LEAST_SHARE = 64
#: What lies deeper is kept whole or not at all: a hostile file must not exhaust the stack.
_DEEPEST = 40


def fitted(body: JsonObject, limit: int, archived_as: str) -> str:
    """Return ``body`` as JSON in ASCII; if it is longer than ``limit``, cut and marked.

    Args:
        limit: Bytes, at least a few hundred.
        archived_as: Where the whole is found.
    """
    text = json.dumps(body)
    if len(text) <= limit:
        return text
    marker: Json = {"archive": _short(archived_as, limit // 4), "bytes": len(text)}
    rest: JsonObject = {name: value for name, value in body.items() if name != MARKER}
    room = limit - len(json.dumps({MARKER: marker}))
    return json.dumps({MARKER: marker, **_object(rest, room, 0)})


def _cut(value: Json, room: int, depth: int) -> Json:
    """Return what is kept of a value that is larger than ``room``; None for nothing."""
    match value:
        case str():
            return _short(value, room) or None
        case list() if depth < _DEEPEST:
            kept = _members(enumerate(value), lambda _: 2, room - 2, depth)
            return [element for _, element in kept] or None
        case dict() if depth < _DEEPEST:
            return _object(value, room, depth) or None
        case _:
            return None


def _object(value: JsonObject, room: int, depth: int) -> JsonObject:
    named = value.items()
    return dict(_members(named, lambda name: len(json.dumps(name)) + 4, room - 2, depth))


def _members(
    members: Iterable[tuple[K, Json]], overhead: Callable[[K], int], room: int, depth: int
) -> list[tuple[K, Json]]:
    """Return the members that fit together, those cut that are larger than their share.

    Args:
        overhead: Bytes that a member's name and the signs around it take.
    """
    sized = [(k, v, overhead(k), overhead(k) + len(json.dumps(v))) for k, v in members]
    count, share = _shared([size for *_, size in sized], room)
    kept: list[tuple[K, Json]] = []
    for key, value, around, size in sized[:count]:
        part = value if size <= share else _cut(value, share - around, depth + 1)
        if part is not None or size <= share:
            kept.append((key, part))
    return kept


def _shared(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """Return how many of the first get room, and the most that each may take (bytes)."""
    left = room
    share = room
    for place, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - place)
        if size > share:
            break
        left -= size
    if share >= _LEAST_SHARE:
        return len(sizes), share
    count = 0
    for size in sizes:
        room -= min(size, _LEAST_SHARE)
        if room < 0:
            break
        count += 1
    return count, _LEAST_SHARE


def _short(text: str, room: int) -> str:
    """Return a beginning of a text that takes no more than ``room`` bytes of JSON; else empty."""
    if len(text) <= room and len(json.dumps(text)) <= room:
        return text
    kept = text[: max(room, 0)]
    while kept and len(json.dumps(kept + ELLIPSIS)) > room:
        kept = kept[: len(kept) * 3 // 4]
    return kept and kept + ELLIPSIS
