"""A quick test of what a schema asks for; only what fails it is explained by jsonschema.

A campaign has thousands of cases, jsonschema takes most of a millisecond for each, and 40 ms to be
imported. A test is made of each schema that takes a fraction of that.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

from benchyard.case.problems import Finding
from benchyard.core.model import Json, JsonObject
from benchyard.schemas import compiled_pattern, has_twins, inlined

if TYPE_CHECKING:
    from benchyard.case.schema_findings import Explainer

Test = Callable[[Any], bool]

#: JSON's types to Python's own: what is read from a file is of no derived class.
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_NUMBER = frozenset(_TYPES["number"])


def _of_type(wanted: str | list[str]) -> Test:
    names = [wanted] if isinstance(wanted, str) else wanted
    types = frozenset(kind for name in names for kind in _TYPES[name])
    if "integer" not in names or "number" in names:
        return lambda value: type(value) in types
    return lambda value: type(value) in types or (type(value) is float and value.is_integer())


def _of_values(wanted: list[Any]) -> Test:
    # To JSON Schema 1 and 1.0 are the same, and 1 and true are not.
    allowed = {(type(value) is bool, value) for value in wanted}
    return lambda v: type(v) not in {dict, list} and (type(v) is bool, v) in allowed


#: Keywords that look at no part of a value: what they are about, and a test of what they want.
_FLAT: dict[str, tuple[type | None, Callable[[Any], Test]]] = {
    "type": (None, _of_type),
    "enum": (None, _of_values),
    "required": (dict, lambda names: lambda v: all(name in v for name in names)),
    "pattern": (str, lambda form: lambda v: bool(compiled_pattern(form).search(v))),
    "minLength": (str, lambda least: lambda v: len(v) >= least),
    "minItems": (list, lambda least: lambda v: len(v) >= least),
    "maxItems": (list, lambda most: lambda v: len(v) <= most),
    "uniqueItems": (list, lambda wanted: lambda v: not (wanted and has_twins(v))),
    "minimum": (float, lambda least: lambda v: v >= least),
    "maximum": (float, lambda most: lambda v: v <= most),
    "exclusiveMinimum": (float, lambda bound: lambda v: v > bound),
}
_DEEP = {"anyOf", "items", "properties", "additionalProperties", "propertyNames"}
_SILENT = {"title", "description"}


class Checker:
    """Validates against one schema: first by a quick test that is made of it.

    Args:
        schema: What documents must be.
    """

    def __init__(self, schema: JsonObject) -> None:
        flat = inlined(schema, cast("JsonObject", schema.get("$defs", {})))
        self._is_valid = _test(flat)
        self._explainer = _explainer_when_asked(flat)

    def findings(self, value: Json) -> list[Finding]:
        """Return path and message of everything that is wrong with ``value``."""
        return [] if self._is_valid(value) else self._explainer().findings(value)


def _explainer_when_asked(schema: Json) -> "Callable[[], Explainer]":
    @cache
    def made() -> "Explainer":
        from benchyard.case.schema_findings import Explainer  # noqa: PLC0415 - imports jsonschema

        return Explainer(schema)

    return made


def _test(schema: Any) -> Test:
    """Make a test of a schema; one with a keyword that has no test here is jsonschema's."""
    fields = cast("dict[str, Any]", schema if isinstance(schema, dict) else {"not": True})
    listed = any(isinstance(value, dict | list) for value in fields.get("enum", ()))
    if listed or not fields.keys() <= _FLAT.keys() | _DEEP | _SILENT:
        explainer = _explainer_when_asked(cast("Json", schema))
        return lambda value: explainer().is_valid(value)
    flat = [(about, make(fields[word])) for word, (about, make) in _FLAT.items() if word in fields]
    tests = [test if about is None else _only(about, test) for about, test in flat]
    if "anyOf" in fields:
        branches = [_test(branch) for branch in fields["anyOf"]]
        tests.append(lambda value: any(branch(value) for branch in branches))
    if "items" in fields:
        item = _test(fields["items"])
        tests.append(_only(list, lambda value: all(map(item, value))))
    if fields.keys() & _DEEP - {"anyOf", "items"}:
        tests.append(_only(dict, _of_members(fields)))
    return tests[0] if len(tests) == 1 else partial(_passes, tests)


def _only(about: type, test: Test) -> Test:
    """Let values of other types pass."""
    types = _NUMBER if about is float else {about}
    return lambda value: type(value) not in types or test(value)


def _passes(tests: Sequence[Test], value: Any) -> bool:
    for test in tests:  # noqa: SIM110 - half as fast with all()
        if not test(value):
            return False
    return True


def _of_members(schema: dict[str, Any]) -> Test:
    known = {name: _test(inner) for name, inner in schema.get("properties", {}).items()}
    more = _test(schema.get("additionalProperties", {}))
    name_test = _test(schema.get("propertyNames", {}))
    return lambda members: all(
        known.get(name, more)(item) and name_test(name) for name, item in members.items()
    )
