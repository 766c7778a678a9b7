"""Whether a document has the shape of a case: the JSON Schema, near misses, ids, the graph."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from typing import Any, cast

from benchyard import schemas
from benchyard.case.building import step_id
from benchyard.case.checker import Checker
from benchyard.case.graph import find_cycle
from benchyard.case.problems import hint, near_miss, quote
from benchyard.case.schema_errors import Finding
from benchyard.case.sizes import size
from benchyard.case.templates import MAX_POINTS, points, undefined
from benchyard.model import Json, JsonObject, point_suffix

_CRITERIA = ("rows", "sha256", "equal", "pattern")


#: Keys whose strings the schema only wants to be there and not empty.
_FREE_TEXT = frozenset(
    {"@id", "name", "description", "resource", "command", "equal", "file", "pattern"}
)
#: Keys whose lists the schema only wants to hold texts that are not empty.
_FREE_TEXTS = frozenset({"needs", "tags"})
#: Keys whose objects the schema does not look into.
_OPAQUE = frozenset({"parameters"})
#: Every bound that the schema sets to a number: between two of them all numbers are alike.
_BOUNDS = (0, 1, 1_000_000, 31_536_000)


@cache
def _checker() -> Checker:
    return Checker(schemas.load("case"), _reduced)


def _reduced(document: Json) -> Hashable:
    """Reduce a case to what its schema can tell apart: texts and parameters are left out."""
    if isinstance(document, dict):
        return tuple([(name, _reduced_member(name, item)) for name, item in document.items()])
    if isinstance(document, list):
        return ("list", *[_reduced(item) for item in document])
    if isinstance(document, int | float) and not isinstance(document, bool):
        sides = [(document > bound) - (document < bound) for bound in _BOUNDS]
        return ("number", document % 1 == 0, *sides)
    return repr(document)


def _reduced_member(name: str, value: Json) -> Hashable:
    if name in _FREE_TEXT and _is_plain(value):
        return str
    if name in _FREE_TEXTS and isinstance(value, list) and all(map(_is_plain, value)):
        return list
    if name in _OPAQUE and isinstance(value, dict):
        return dict
    if name == "matrix" and isinstance(value, dict):
        return tuple([(key, _reduced_values(values)) for key, values in value.items()])
    return _reduced(value)


def _is_plain(value: Json) -> bool:
    return isinstance(value, str) and value.isprintable() and bool(value)


def _reduced_values(values: Json) -> Hashable:
    """Reduce a matrix's values to their number, their types, and whether one stands twice."""
    if not isinstance(values, list) or any(isinstance(value, dict | list) for value in values):
        return repr(values)
    # To JSON Schema 1 and 1.0 are the same, and 1 and true are not.
    different = {(isinstance(value, bool), cast("Hashable", value)) for value in values}
    return (len(different) == len(values), *[type(value) for value in values])


@cache
def _known_keys() -> tuple[frozenset[str], frozenset[str]]:
    schema = cast("dict[str, Any]", schemas.load("case"))
    return frozenset(schema["properties"]), frozenset(schema["$defs"]["step"]["properties"])


def schema_findings(document: JsonObject) -> Iterator[Finding]:
    """Yield what the JSON Schema and a look at the names of keys find."""
    yield from _checker().findings(document)
    yield from _near_misses(document)


def matrix_findings(document: JsonObject) -> Iterator[Finding]:
    """Yield uses of undefined matrix names, and a matrix that is too large."""
    matrix = cast("dict[str, list[Json]]", document.get("matrix", {}))
    size = 1
    for values in matrix.values():
        size *= len(values)
    if size > MAX_POINTS:
        yield ("matrix",), f"has {size:,} points, more than {MAX_POINTS:,}"
    else:
        yield from _twin_points(matrix)
    for path, _ in undefined(cast("JsonObject", matrix), {}, ("matrix",)):
        yield path, "a value of the matrix cannot refer to the matrix"
    for path, name in undefined(document, matrix):
        known = hint(name, matrix) if matrix else "; the case has no matrix"
        yield path, f"'${{matrix.{name}}}' is not defined{known}"


def _twin_points(matrix: Mapping[str, list[Json]]) -> Iterator[Finding]:
    """Yield names that two points share: their results would be one another's."""
    named = Counter(map(point_suffix, points(matrix)))
    for name, count in named.items():
        if count > 1:
            yield ("matrix",), f"has {count} points named {quote(name)}; make their values differ"


def point_findings(document: JsonObject) -> Iterator[Finding]:
    """Yield what is wrong between the steps of a filled document that has the right shape."""
    steps = cast("list[dict[str, Any]]", document["steps"])
    yield from _graph_findings(steps)
    yield from _requires_findings(cast("dict[str, Any]", document.get("requires", {})))
    for position, step in enumerate(steps):
        for path, message in _check_findings(step):
            yield ("steps", position, *path), message


def _near_misses(document: JsonObject) -> Iterator[Finding]:
    case_keys, step_keys = _known_keys()
    yield from _near_keys(document, case_keys, ())
    steps = document.get("steps")
    for position, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            yield from _near_keys(step, step_keys, ("steps", position))


def _near_keys(
    keys: Mapping[str, Json], known: frozenset[str], path: tuple[str | int, ...]
) -> Iterator[Finding]:
    for key in sorted(keys.keys() - known):
        meant = near_miss(key, known)
        if meant:
            yield (*path, key), f"unknown key '{key}'; did you mean '{meant}'?"


def _graph_findings(steps: list[dict[str, Any]]) -> Iterator[Finding]:
    ids = [step_id(step, index) for index, step in enumerate(steps, 1)]
    seen: set[str] = set()
    for position, identifier in enumerate(ids):
        if identifier in seen:
            yield ("steps", position, "@id"), f"'{identifier}' is the id of an earlier step too"
        seen.add(identifier)
    for position, step in enumerate(steps):
        for place, needed in enumerate(step.get("needs", ())):
            if needed not in seen:
                message = f"there is no step with the id '{needed}'{hint(needed, ids)}"
                yield ("steps", position, "needs", place), message
    cycle = find_cycle(needs_of(steps))
    if cycle and len(seen) == len(ids):
        yield ("steps",), "the steps wait for each other: " + " → ".join(cycle)


def needs_of(steps: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return id to the ids it waits for, of steps that have the right shape."""
    ids = [step_id(step, index) for index, step in enumerate(steps, 1)]
    before: list[list[str]] = [[], *([i] for i in ids[:-1])]
    return {
        identifier: list(step.get("needs", default))
        for identifier, step, default in zip(ids, steps, before, strict=True)
    }


def _requires_findings(requires: dict[str, Any]) -> Iterator[Finding]:
    for place, tag in enumerate(requires.get("tags", ())):
        if "," in tag or tag != tag.strip():
            message = f"'{quote(tag)}' can be no testbed's tag: it has a comma or outer blanks"
            yield ("requires", "tags", place), message
    memory = requires.get("memory")
    try:
        if isinstance(memory, int | float | str):
            size(memory)
    except ValueError as error:
        yield ("requires", "memory"), str(error)


def _check_findings(step: dict[str, Any]) -> Iterator[Finding]:
    check = step.get("check")
    if check is None:
        return
    if not any(criterion in check for criterion in _CRITERIA):
        yield ("check",), f"says nothing to check; give one of {', '.join(_CRITERIA)}"
    if step.get("expect_failure"):
        yield ("check",), "cannot go with expect_failure: a command that fails has no answer"
    try:
        re.compile(check.get("pattern", ""))
    except re.error as error:
        yield ("check", "pattern"), f"is not a regular expression: {error}"
