"""``${matrix.name}`` in strings, and the points that a matrix has."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from benchyard.model import Json, JsonObject, plain

MATRIX = re.compile(r"\$\{matrix\.([^}]*)\}")
#: More points than anybody executes; a slip in a matrix must not fill memory.
MAX_POINTS = 10_000


def points(matrix: Mapping[str, Sequence[Json]]) -> Iterator[JsonObject]:
    """Yield every combination, the last name varying fastest; one empty point without a matrix."""
    for values in itertools.product(*matrix.values()):
        yield dict(zip(matrix, values, strict=True))


def fill(value: Json, point: Mapping[str, Json]) -> Json:
    """Replace ``${matrix.name}`` by the point's values; a lone one keeps the value's type."""
    if isinstance(value, str):
        return _fill_text(value, point) if "${matrix." in value else value
    if isinstance(value, list):
        return [fill(item, point) for item in value]
    if isinstance(value, dict):
        return {name: fill(item, point) for name, item in value.items()}
    return value


def _fill_text(text: str, point: Mapping[str, Json]) -> Json:
    lone = MATRIX.fullmatch(text)
    if lone and lone[1] in point:
        return point[lone[1]]
    return MATRIX.sub(lambda m: plain(point[m[1]]) if m[1] in point else m[0], text)


def undefined(
    value: Json, names: Mapping[str, object], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield path and name of each ``${matrix.name}`` that no matrix defines."""
    if isinstance(value, str):
        if "${matrix." in value:
            yield from ((path, name) for name in MATRIX.findall(value) if name not in names)
    elif isinstance(value, list | dict):
        pairs = enumerate(value) if isinstance(value, list) else value.items()
        for key, item in cast("Iterator[tuple[str | int, Json]]", pairs):
            yield from undefined(item, names, (*path, key))
