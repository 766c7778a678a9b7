"""Checking ten thousand alike documents once: what validity depends on is remembered.

A campaign has thousands of cases that differ in file names and nothing else, and jsonschema takes
most of a millisecond for each. A document is reduced to what its schema can tell apart; a reduced
form that was valid once is valid always. Only the good news is remembered: whatever is wrong is
looked at in full, for its own message.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, cast

from jsonschema import Draft202012Validator

from benchyard.case.schema_errors import Finding, findings, validator
from benchyard.core.model import Json, JsonObject

#: Keywords of JSON Schema that look at a scalar's value and not only at its type.
_VALUE_KEYWORDS = frozenset({"const", "pattern", "minLength", "maxLength", "format"}) | {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "propertyNames",
}

#: So many forms are remembered; a case with more values than that begins anew.
_REMEMBERED = 10_000

Reduce = Callable[[Json], Hashable]


class Checker:
    """Validates against one schema, each kind of document once.

    Args:
        schema: What documents must be.
        reduce: Reduces a document to what the schema can tell apart; None takes the types of all
            values, and values where the schema lists some, or the whole document if it looks at
            values in other ways.
    """

    def __init__(self, schema: JsonObject, reduce: Reduce | None = None) -> None:
        self._compiled: Draft202012Validator = validator(schema)
        self._reduce = reduce or (repr if _looks_at_values(schema) else _by(schema))
        self._valid: set[Hashable] = set()

    def findings(self, value: Json) -> list[Finding]:
        """Return path and message of everything that is wrong with ``value``."""
        reduced = self._reduce(value)
        if reduced in self._valid:
            return []
        found = list(findings(self._compiled, value))
        if not found:
            if len(self._valid) >= _REMEMBERED:
                self._valid.clear()
            self._valid.add(reduced)
        return found


def _by(schema: Any) -> Reduce:
    """Make what reduces a document to its types, and to values where the schema lists some."""
    if not isinstance(schema, dict) or "enum" not in repr(cast("Any", schema)):
        return types_of
    fields = cast("dict[str, Any]", schema)
    if "anyOf" in fields and len(fields) == 1:
        branches = [_by(branch) for branch in fields["anyOf"]]
        return lambda value: tuple([reduce(value) for reduce in branches])
    if "properties" in fields:
        known = {name: _by(inner) for name, inner in fields["properties"].items()}
        return partial(_members, known, _by(fields.get("additionalProperties")))
    return repr


def _members(known: Mapping[str, Reduce], more: Reduce, value: Json) -> Hashable:
    if not isinstance(value, dict):
        return types_of(value)
    return tuple([(name, known.get(name, more)(item)) for name, item in value.items()])


def types_of(value: Json) -> Hashable:
    """Reduce a document to keys, lengths and types."""
    if isinstance(value, dict):
        return tuple([(name, types_of(item)) for name, item in value.items()])
    if isinstance(value, list):
        return ("list", *[types_of(item) for item in value])
    # 1.0 is an integer to JSON Schema, and True is not.
    return int if isinstance(value, float) and value.is_integer() else type(value)


def _looks_at_values(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(_looks_at_values(item) for item in cast("list[Any]", schema))
    if not isinstance(schema, dict):
        return False
    fields = cast("dict[str, Any]", schema)
    inner = [
        *fields.get("properties", {}).values(),
        *(v for k, v in fields.items() if k != "properties"),
    ]
    return bool(fields.keys() & _VALUE_KEYWORDS) or any(map(_looks_at_values, inner))
