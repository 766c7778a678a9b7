"""Whether a document has the shape of a case: the JSON Schema, near misses, ids, the graph."""

import re
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from typing import Any, cast

from benchyard import schemas
from benchyard.case.repair import Meant, meant, unknown_keys
from benchyard.case.schema_check import Checker, Finding
from benchyard.case.templates import (
    MAX_EXPANDED,
    MAX_POINTS,
    MAX_STEPS,
    expanded,
    number_of_points,
    points,
    undefined,
)
from benchyard.core.amounts import parse_memory
from benchyard.core.errors import InputError
from benchyard.core.model import Json, JsonObject, point_suffix
from benchyard.core.wording import hint, near_miss, quote

_CRITERIA = ("rows", "sha256", "equal", "pattern")
#: Longer patterns take seconds to compile; nobody reads them either.
_LONGEST_PATTERN = 10_000

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


@cache
def _step_checker() -> Checker:
    whole = cast("dict[str, Any]", schemas.load("case"))
    step: dict[str, Any] = whole["$defs"]["step"]
    return Checker({**step, "$defs": whole["$defs"]}, _reduced)


@cache
def _member_checker() -> Checker:
    """Make what checks single members of a case."""
    whole = cast("dict[str, Any]", schemas.load("case"))
    return Checker({name: part for name, part in whole.items() if name != "required"}, _reduced)


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
    if name == "resources" and isinstance(value, dict):
        return tuple([(key, _reduced_settings(item)) for key, item in value.items()])
    if name == "matrix" and isinstance(value, dict):
        return tuple([(key, _reduced_values(values)) for key, values in value.items()])
    return _reduced(value)


def _reduced_settings(settings: Json) -> Hashable:
    named = settings.get("class", "x") if isinstance(settings, dict) else settings
    return isinstance(settings, dict), str if _is_plain(named) else repr(named)


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


def shape_findings(document: JsonObject) -> list[Finding]:
    """Return what the JSON Schema finds."""
    return _checker().findings(document)


def changed_findings(filled: JsonObject, before: JsonObject) -> Iterator[Finding]:
    """Yield what the JSON Schema finds in the parts that a point of the matrix changed.

    Args:
        before: The document that was filled; the parts that it has too are known.
    """
    for key, value in filled.items():
        if key != "steps" and value is not before[key]:
            yield from _member_checker().findings({key: value})
    known = cast("list[Json]", before.get("steps", []))
    for position, step in enumerate(cast("list[Json]", filled.get("steps", []))):
        if step is not known[position]:
            for path, message in _step_checker().findings(step):
                yield ("steps", position, *path), message


def as_meant(document: JsonObject) -> tuple[JsonObject, Mapping[tuple[str | int, ...], Meant]]:
    """Read misspelt keys of a case and its steps as what they are near to.

    Returns:
        The document, and by its path each object in which a key was misspelt.
    """
    case_keys, step_keys = _known_keys()
    whole = meant(document, case_keys)
    objects: dict[tuple[str | int, ...], Meant] = {(): whole} if whole.keys else {}
    steps = whole.members.get("steps")
    if not isinstance(steps, list):
        return whole.members, objects
    read: list[Json] = []
    for position, step in enumerate(steps):
        one = meant(step, step_keys) if isinstance(step, dict) else None
        if one is not None and one.keys:
            objects["steps", position] = one
        read.append(step if one is None else one.members)
    return {**whole.members, "steps": read} if objects else document, objects


def matrix_findings(document: JsonObject, written: JsonObject) -> Iterator[Finding]:
    """Yield uses of undefined matrix names, and a matrix that is too large.

    Args:
        document: What of the case has the right shape.
        written: The whole; names that have no right values are defined too.
    """
    matrix = cast("dict[str, list[Json]]", document.get("matrix", {}))
    too_large = size_finding(document)
    if too_large:
        yield too_large
    else:
        yield from _twin_points(matrix)
    for path, _ in undefined(cast("JsonObject", matrix), {}, ("matrix",)):
        yield path, "a value of the matrix cannot refer to the matrix"
    names = written.get("matrix", {})
    if not isinstance(names, dict):
        return
    for path, name in undefined(document, names):
        known = hint(name, names) if names else "; the case has no matrix"
        yield path, f"'${{matrix.{quote(name)}}}' is not defined{known}"


def size_finding(document: JsonObject) -> Finding | None:
    """Say what makes a case too large to be looked at, if something does."""
    matrix = cast("dict[str, list[Json]]", document.get("matrix", {}))
    number = number_of_points(matrix)
    if number > MAX_POINTS:
        return ("matrix",), f"has {number:,} points, more than {MAX_POINTS:,}"
    steps = len(cast("list[Json]", document.get("steps", [])))
    if number * steps > MAX_STEPS:
        each = f" at {number:,} points of the matrix" if matrix else ""
        message = f"are {steps:,}{each}, together more than {MAX_STEPS:,}; make several cases of it"
        return ("steps",), message
    text = expanded(document, matrix) * number if matrix else 0
    if text > MAX_EXPANDED:
        return ("matrix",), (
            f"makes {text // 10**6:,} MB of text at its {number:,} points, more than "
            f"{MAX_EXPANDED // 10**6:,} MB; put data into data/shared"
        )
    return None


def _twin_points(matrix: Mapping[str, list[Json]]) -> Iterator[Finding]:
    """Yield names that two points share: their results would be one another's."""
    named = Counter(map(point_suffix, points(matrix)))
    for name, count in named.items():
        if count > 1:
            yield ("matrix",), f"has {count} points named {quote(name)}; make their values differ"


def near_misses(document: JsonObject) -> Iterator[Finding]:
    """Yield keys that are slips of the pen."""
    case_keys, step_keys = _known_keys()
    yield from _near_keys(document, case_keys, ())
    steps = document.get("steps")
    for position, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            yield from _near_keys(step, step_keys, ("steps", position))


def _near_keys(
    keys: Mapping[str, Json], known: frozenset[str], path: tuple[str | int, ...]
) -> Iterator[Finding]:
    for key in unknown_keys(keys, known):
        near = near_miss(key, known)
        if near:
            yield (*path, key), f"unknown key '{quote(key)}'; did you mean '{near}'?"


def requires_findings(requires: dict[str, Any]) -> Iterator[Finding]:
    """Yield what of ``requires`` no testbed can be."""
    for place, tag in enumerate(requires.get("tags", ())):
        if "," in tag or tag != tag.strip():
            message = f"'{quote(tag)}' can be no testbed's tag: it has a comma or outer blanks"
            yield ("requires", "tags", place), message
    memory = requires.get("memory")
    try:
        if isinstance(memory, int | float | str):
            parse_memory(memory)
    except InputError as error:
        yield ("requires", "memory"), str(error)


def check_findings(step: dict[str, Any]) -> Iterator[Finding]:
    """Yield what is wrong with the check of a step, whatever the step makes."""
    check = step.get("check")
    if check is None:
        return
    if not any(criterion in check for criterion in _CRITERIA):
        yield ("check",), f"says nothing to check; give one of {', '.join(_CRITERIA)}"
    if step.get("expect_failure"):
        yield ("check",), "cannot go with expect_failure: a command that fails has no answer"
    pattern = check.get("pattern", "")
    if len(pattern) > _LONGEST_PATTERN:
        yield ("check", "pattern"), f"has {len(pattern):,} letters, more than {_LONGEST_PATTERN:,}"
        return
    try:
        with warnings.catch_warnings():
            # What a later Python may read otherwise is a pattern of this one.
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        yield ("check", "pattern"), f"is not a regular expression: {error}"
