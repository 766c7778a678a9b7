"""A document as its author meant it, so that one mistake does not hide the next.

A misspelt key is read as the key that it is near to, and what has no right type is left out.
Whatever is found later is told under the names that stand in the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from benchyard.case.schema_check import Finding
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import near_miss

JsonPath = tuple[str | int, ...]

#: So many unknown keys of one object are compared with the known ones.
_MOST_KEYS = 1_000


@dataclass(frozen=True, slots=True)
class Meant:
    """An object with its misspelt keys read as what they are near to.

    Args:
        keys: Key as it is meant to the one that stands there, where they differ.
    """

    members: JsonObject
    keys: Mapping[str, str] = field(default_factory=dict[str, str])

    def findings(self, found: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings about the members under the keys that stand there."""
        for path, message in found:
            first = self.keys.get(cast("str", path[0]), path[0]) if path else None
            yield (path if first is None else (first, *path[1:])), message


def meant(members: JsonObject, known: frozenset[str]) -> Meant:
    """Read misspelt keys as the known ones that are not there."""
    if members.keys() <= known:
        return Meant(members)
    absent = known - members.keys()
    near = ((near_miss(key, known), key) for key in unknown_keys(members, known))
    keys = {name: key for name, key in near if name in absent}
    if not keys:
        return Meant(members)
    back = {key: near for near, key in keys.items()}
    return Meant({back.get(key, key): value for key, value in members.items()}, keys)


def unknown_keys(members: Mapping[str, Json], known: frozenset[str]) -> list[str]:
    """Return the first unknown keys, sorted: thousands of them are no slips of a pen."""
    return sorted(islice((key for key in members if key not in known), _MOST_KEYS))


def without(document: JsonObject, paths: Iterable[JsonPath]) -> JsonObject:
    """Return a document without what stands at some paths; places in lists stay, with null."""
    made: Json = document
    for path in paths:
        made = _without(made, path)
    return cast("JsonObject", made)


def _without(value: Json, path: JsonPath) -> Json:
    first, rest = path[0], path[1:]
    if isinstance(value, dict) and first in value:
        if rest:
            return {**value, first: _without(value[first], rest)}
        return {key: item for key, item in value.items() if key != first}
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        new = _without(value[first], rest) if rest else None
        return [*value[:first], new, *value[first + 1 :]]
    return value


def value_at(document: Json, path: JsonPath) -> Json:
    """Return what stands at a path, or null."""
    for part in path:
        if isinstance(document, dict):
            document = document.get(cast("str", part))
        elif isinstance(document, list) and isinstance(part, int) and part < len(document):
            document = document[part]
        else:
            return None
    return document
