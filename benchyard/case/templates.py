"""``${matrix.name}`` in strings, and the points that a matrix has."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from benchyard.core.model import Json, JsonObject, plain, texts

# No name holds a brace; to let one pass would make the search of a long text quadratic.
MATRIX = re.compile(r"(?<!\$)\$\{matrix\.([^{}]*)\}")
#: Larger matrices are mistakes; a slip must not fill memory.
MAX_POINTS = 10_000
#: Steps of all points together; each costs a kilobyte.
MAX_STEPS = 20_000
#: Bytes that filled texts may have at all points together.
MAX_EXPANDED = 100 * 10**6
#: About how many bytes a list or object takes, and each member of it, beside its texts.
_CONTAINER, _MEMBER = 100, 64


def expanded(value: Json, matrix: Mapping[str, Sequence[Json]]) -> int:
    """Return at most how many bytes the texts that refer to the matrix have at one point."""
    longest = {name: max(len(plain(v)) for v in values) for name, values in matrix.items()}
    return sum(map(len, longest)) + sum(longest.values()) + _expanded(value, longest)


def _expanded(value: Json, longest: Mapping[str, int]) -> int:
    if isinstance(value, str):
        if "${matrix." not in value:
            return 0
        return len(value) + sum(longest.get(name, 0) for name in MATRIX.findall(value))
    inner = [_expanded(item, longest) for item in _items(value)]
    return sum(inner) and sum(inner) + _CONTAINER + _MEMBER * len(inner)


def _items(value: Json) -> Iterable[Json]:
    return value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()


def points(matrix: Mapping[str, Sequence[Json]]) -> Iterator[JsonObject]:
    """Yield every combination, the last name varying fastest; one empty point without a matrix."""
    for values in itertools.product(*matrix.values()):
        yield dict(zip(matrix, values, strict=True))


class Template:
    """A document to be filled often: what refers to nothing is the same object at every point."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        # Ids of all that holds a reference; the document keeps them alive.
        self._moving: set[int] = set()
        self._find(document)

    def _find(self, value: Json) -> bool:
        if isinstance(value, str):
            moves = "${matrix." in value
        else:
            moves = any([self._find(item) for item in _items(value)])  # noqa: C419 - look at all
        if moves:
            self._moving.add(id(value))
        return moves

    def at(self, point: Mapping[str, Json]) -> JsonObject:
        """Return the document at a point; a lone ``${matrix.name}`` gets the value's type."""
        return cast("JsonObject", self._fill(self._document, point))

    def _fill(self, value: Json, point: Mapping[str, Json]) -> Json:
        if id(value) not in self._moving:
            return value
        if isinstance(value, str):
            return _fill_text(value, point)
        if isinstance(value, list):
            return [self._fill(item, point) for item in value]
        members = cast("JsonObject", value)
        return {name: self._fill(item, point) for name, item in members.items()}


def _fill_text(text: str, point: Mapping[str, Json]) -> Json:
    lone = MATRIX.fullmatch(text)
    if lone and lone[1] in point:
        return point[lone[1]]
    return MATRIX.sub(lambda m: plain(point[m[1]]) if m[1] in point else m[0], text)


def as_declared(
    value: Json, written: Json, schema: Mapping[str, Any], defs: Mapping[str, Any]
) -> Json:
    """Return a filled value; in lists and maps of texts, a lone ``${matrix.name}`` is a text.

    Args:
        value: As ``Template.at`` fills it.
        written: The same before it was filled.
        schema: What is declared of it.
        defs: What ``$ref`` refers to.
    """
    if value is written:
        return value
    kinds = [*_kinds(schema, defs)]
    if isinstance(value, list) and isinstance(written, list):
        items = _part(kinds, "items")
        return [_item(*both, items, defs) for both in zip(value, written, strict=True)]
    if isinstance(value, dict) and isinstance(written, dict):
        known, others = _part(kinds, "properties"), _part(kinds, "additionalProperties")
        return {
            name: as_declared(item, written[name], known[name], defs)
            if name in known
            else _item(item, written[name], others, defs)
            for name, item in value.items()
        }
    return value


def _item(value: Json, written: Json, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Json:
    types = {kind.get("type") for kind in _kinds(schema, defs)}
    is_text = types <= {"string", "null"} and "string" in types and value is not written
    if is_text and isinstance(value, int | float):
        return plain(value)
    return as_declared(value, written, schema, defs)


def _kinds(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the alternatives that a schema allows."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if "anyOf" not in schema:
        yield schema
    for one in schema.get("anyOf", ()):
        yield from _kinds(one, defs)


def _part(kinds: Iterable[Mapping[str, Any]], key: str) -> Mapping[str, Any]:
    """Return what the first alternative that has such a part declares of it."""
    return next((kind[key] for kind in kinds if isinstance(kind.get(key), dict)), JsonObject())


def undefined(
    value: Json, names: Mapping[str, object], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield path and name of each ``${matrix.name}`` that no matrix defines."""
    for place, text in texts(value, path):
        if "${matrix." in text:
            yield from ((place, name) for name in MATRIX.findall(text) if name not in names)
