"""Checking ten thousand alike documents once: what validity depends on is remembered.

A campaign has thousands of cases that differ in file names and nothing else, and jsonschema takes
most of a millisecond for each. A document is reduced to what its schema can tell apart; a reduced
form that was valid once is valid always. Only the good news is remembered: whatever is wrong is
looked at in full, for its own message.
"""

from collections.abc import Callable, Hashable
from typing import Any, cast

from jsonschema import Draft202012Validator

from benchyard.case.schema_errors import Finding, findings, validator
from benchyard.model import Json, JsonObject

#: Keywords of JSON Schema that look at a scalar's value and not only at its type.
_VALUE_KEYWORDS = frozenset({"enum", "const", "pattern", "minLength", "maxLength", "format"}) | {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "propertyNames",
}

Reduce = Callable[[Json], Hashable]


class Checker:
    """Validates against one schema, each kind of document once.

    Args:
        schema: What documents must be.
        reduce: Reduces a document to what the schema can tell apart; None takes the types of all
            values where the schema looks at nothing else, and the whole document where it does.
    """

    def __init__(self, schema: JsonObject, reduce: Reduce | None = None) -> None:
        self._compiled: Draft202012Validator = validator(schema)
        self._reduce = reduce or (repr if _looks_at_values(schema) else types_of)
        self._valid: set[Hashable] = set()

    def findings(self, value: Json) -> list[Finding]:
        """Return path and message of everything that is wrong with ``value``."""
        reduced = self._reduce(value)
        if reduced in self._valid:
            return []
        found = list(findings(self._compiled, value))
        if not found:
            self._valid.add(reduced)
        return found


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
