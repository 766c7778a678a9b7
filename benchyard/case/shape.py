"""Whether a document has the shape of a case; and what it means if it does not quite have it.

A misspelt key is read as the key that it is near to, and what has no right type is left out, so
that one mistake does not hide the next. Findings are told under the names that stand in the file.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import prod
from typing import Any, Literal, cast

from fastjsonschema import JsonSchemaValueException
from fastjsonschema import compile as compiled

from benchyard import schemas
from benchyard.case.problems import Finding, JsonPath
from benchyard.case.templates import (
    MAX_EXPANDED,
    MAX_POINTS,
    MAX_STEPS,
    expanded,
    points,
    undefined,
)
from benchyard.core.amounts import parse_memory
from benchyard.core.errors import InputError
from benchyard.core.model import Json, JsonObject, point_suffix
from benchyard.core.quantity import amount
from benchyard.core.wording import Sentence, hint, near_miss, quote

#: So many unknown keys of one object are compared with the known ones.
_MOST_KEYS = 1_000


def _in_2019(schema: Json) -> Json:
    """Write tuples as fastjsonschema reads them: it ignores ``prefixItems``."""
    if isinstance(schema, list):
        return [*map(_in_2019, schema)]
    if not isinstance(schema, dict):
        return schema
    names = {"prefixItems": "items"}
    return {names.get(name, name): _in_2019(part) for name, part in schema.items()}


class Checker:
    """Checks documents against one schema; code generated from it accepts what is right.

    jsonschema, slower by ten times and long to import, words what that code refuses.
    """

    def __init__(self, schema: JsonObject) -> None:
        self._schema = schema
        known = cast("dict[str, Any]", _in_2019(schema))
        self._accept = compiled(known, use_default=False, use_formats=False)

    def findings(self, value: Json) -> list[Finding]:
        """Return path and message of everything that is wrong with ``value``."""
        try:
            self._accept(value)
        except JsonSchemaValueException:
            from benchyard.case.schema_findings import explain  # noqa: PLC0415 - imports jsonschema

            return explain(self._schema, value)
        return []


@dataclass(frozen=True, slots=True)
class Meant:
    """An object with its misspelt keys read as what they are near to.

    Args:
        keys: Key as it is meant to the one that stands there, where they differ.
    """

    members: JsonObject
    keys: Mapping[str, str]

    def written(self, path: JsonPath) -> JsonPath:
        """Return a path in it with the key that stands there."""
        return (self.keys.get(cast("str", path[0]), path[0]), *path[1:]) if path else path


def meant(members: JsonObject, known: frozenset[str]) -> Meant:
    """Read misspelt keys as the known ones that are not there."""
    keys = {near: key for key, near in _slips(members, known) if near not in members}
    back = {key: near for near, key in keys.items()}
    return Meant({back.get(key, key): value for key, value in members.items()}, keys)


def _slips(members: JsonObject, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield unknown keys with the near one, sorted; thousands of them are no slips of a pen."""
    unknown = sorted(islice((key for key in members if key not in known), _MOST_KEYS))
    yield from ((key, near) for key in unknown if (near := near_miss(key, known)))


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


_CRITERIA = ("rows", "sha256", "equal", "equal_to", "pattern")
#: Longer patterns take seconds to compile; nobody reads them either.
_LONGEST_PATTERN = 10_000


@cache
def read_schema() -> JsonObject:
    """Return the schema of a case as it is once its included steps stand in it."""
    whole = cast("dict[str, Any]", schemas.load("case"))
    known = whole["properties"]
    steps = {**known["steps"], "items": {"$ref": "#/$defs/step"}}
    return cast("JsonObject", {**whole, "properties": {**known, "steps": steps}})


@cache
def _checker(part: Literal["case", "members", "step"]) -> Checker:
    """Make what checks a whole case, single members of one, or a step."""
    whole = cast("dict[str, Any]", read_schema())
    if part == "step":
        return Checker({**whole["$defs"]["step"], "$defs": whole["$defs"]})
    left_out = "required" if part == "members" else ""
    return Checker({name: value for name, value in whole.items() if name != left_out})


@cache
def _known_keys() -> tuple[frozenset[str], frozenset[str]]:
    schema = cast("dict[str, Any]", schemas.load("case"))
    known = schema["$defs"]
    in_steps = known["step"]["properties"].keys() | known["include"]["properties"].keys()
    return frozenset(schema["properties"]), frozenset(in_steps)


def shape_findings(document: JsonObject) -> list[Finding]:
    """Return what the JSON Schema finds."""
    return _checker("case").findings(document)


def changed_findings(filled: JsonObject, before: JsonObject) -> Iterator[Finding]:
    """Yield what the JSON Schema finds in the parts that a point of the matrix changed.

    Args:
        before: The document that was filled; the parts that it has too are known.
    """
    for key, value in filled.items():
        if key != "steps" and value is not before[key]:
            yield from _checker("members").findings({key: value})
    known = cast("list[Json]", before.get("steps", []))
    for position, step in enumerate(cast("list[Json]", filled.get("steps", []))):
        if step is not known[position]:
            for path, message in _checker("step").findings(step):
                yield ("steps", position, *path), message


def _objects(document: JsonObject) -> Iterator[tuple[JsonPath, JsonObject, frozenset[str]]]:
    """Yield a case and its steps: path, members, and the keys that are known there."""
    case_keys, step_keys = _known_keys()
    yield (), document, case_keys
    steps = document.get("steps")
    for position, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            yield ("steps", position), step, step_keys


def as_meant(document: JsonObject) -> tuple[JsonObject, Mapping[JsonPath, Meant]]:
    """Read misspelt keys of a case and its steps as what they are near to.

    Returns:
        The document, and by its path each object in which a key was misspelt.
    """
    whole = meant(document, _known_keys()[0])
    inner = _objects(whole.members)
    objects = {path: meant(members, known) for path, members, known in inner} | {(): whole}
    steps = whole.members.get("steps")
    if not isinstance(steps, list):
        return whole.members, objects
    read: list[Json] = [
        objects["steps", at].members if isinstance(step, dict) else step
        for at, step in enumerate(steps)
    ]
    return {**whole.members, "steps": read}, objects


def as_written(findings: Iterable[Finding], read: Mapping[JsonPath, Meant]) -> Iterator[Finding]:
    """Yield findings of a case under the keys that stand in the file.

    Args:
        read: As ``as_meant`` returns it.
    """
    for path, message in findings:
        inner = path[2:]
        if inner and path[:2] in read:
            inner = read[path[:2]].written(inner)
        yield (*read[()].written(path[:2]), *inner), message


def near_misses(document: JsonObject) -> Iterator[Finding]:
    """Yield keys that are slips of the pen."""
    for path, members, known in _objects(document):
        for key, near in _slips(members, known):
            yield (*path, key), f"unknown key '{quote(key)}'; did you mean '{near}'?"


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
    number = prod(map(len, matrix.values()))
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
            f"makes {amount(text, 'B')} of text at its {number:,} points, more than "
            f"{amount(MAX_EXPANDED, 'B')}; put data into data/shared"
        )
    return None


def _twin_points(matrix: Mapping[str, list[Json]]) -> Iterator[Finding]:
    """Yield names that two points share: their results would be one another's."""
    named = Counter(map(point_suffix, points(matrix)))
    for name, count in named.items():
        if count > 1:
            yield ("matrix",), f"has {count} points named {quote(name)}; make their values differ"


def requires_findings(requires: dict[str, Any]) -> Iterator[Finding]:
    """Yield what of ``requires`` no testbed can be."""
    for place, tag in enumerate(requires.get("tags", ())):
        if "," in tag or tag != tag.strip():
            form = "'{}' can be no testbed's tag: it has a comma or outer blanks"
            yield ("requires", "tags", place), Sentence(form, quote(tag))
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
