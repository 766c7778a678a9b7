"""jsonschema's findings in words for people; ten thousand alike documents are checked once.

A campaign has thousands of cases that differ in file names and nothing else, and jsonschema takes
most of a millisecond for each. A document is reduced to what its schema can tell apart; a reduced
form that was valid once is valid always. Only the good news is remembered: whatever is wrong is
looked at in full, for its own message.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache, partial
from itertools import chain, islice
from typing import Any, cast

from jsonschema import Draft202012Validator, ValidationError, validators

from benchyard.case.reading import kind_of
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import hint, quote

Finding = tuple[tuple[str | int, ...], str]

#: So many errors of one document are looked at: each costs a kilobyte, a file may have millions.
_MOST_ERRORS = 1_000
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "an array", "null": "null"}


def validator(schema: JsonObject) -> Draft202012Validator:
    """Return a compiled validator.

    References are put in place first: looking them up costs more than half of a validation.
    """
    definitions = cast("JsonObject", schema.get("$defs", {}))
    return _Validator(cast("JsonObject", _inlined(schema, definitions)))


def _pattern(_: Any, wanted: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Take ``$`` for the very end, as JSON Schema does; Python's is before a last newline too."""
    if isinstance(instance, str) and not _compiled(wanted).search(instance):
        yield ValidationError(f"{instance!r} does not match {wanted!r}")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\$$", r"\\Z", pattern))


def _unique_items(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Compare scalars by their hashes: jsonschema takes hours for a long list of mixed types."""
    if wanted and isinstance(instance, list):
        items = cast("list[Any]", instance)
        scalars = [(isinstance(i, bool), i) for i in items if isinstance(i, str | int | float)]
        if len(set(scalars)) != len(scalars):
            yield ValidationError(f"{instance!r} has non-unique elements")


def _any_of(compiled: Any, branches: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    """Look at a few errors of each branch: jsonschema keeps one for each item of a long list."""
    found: list[ValidationError] = []
    for index, branch in enumerate(branches):
        errors = [*islice(compiled.descend(instance, branch, schema_path=index), _MOST_ERRORS)]
        if not errors:
            return
        found.extend(errors)
    yield ValidationError("is not valid under any of the given schemas", context=found)


_KEYWORDS = {"pattern": _pattern, "uniqueItems": _unique_items, "anyOf": _any_of}
_Validator: type[Draft202012Validator] = cast("Any", validators).extend(
    Draft202012Validator, _KEYWORDS
)


def _inlined(schema: Json, definitions: JsonObject) -> Json:
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _inlined(definitions[reference.removeprefix("#/$defs/")], definitions)
    keep = {name: item for name, item in schema.items() if name not in ("$defs", "$id", "$schema")}
    return {name: _inlined(item, definitions) for name, item in keep.items()}


def findings(compiled: Draft202012Validator, value: Json) -> Iterator[Finding]:
    """Yield path and message of everything that is wrong with ``value``."""
    errors = islice(cast("Any", compiled).iter_errors(value), _MOST_ERRORS)
    yield from islice(chain.from_iterable(map(_explain, errors)), _MOST_ERRORS)


def _explain(error: ValidationError) -> Iterator[Finding]:
    path = tuple(cast("Iterator[str | int]", error.absolute_path))
    instance, wanted = cast("Any", error.instance), cast("Any", error.validator_value)
    if error.validator == "anyOf":
        yield from _closest(error, path)
    elif error.validator == "additionalProperties":
        known = cast("dict[str, object]", cast("Any", error.schema).get("properties", {}))
        for name in sorted(set(instance) - set(known)):
            yield (*path, name), f"is unknown here{hint(name, known)}"
    else:
        say = _MESSAGES.get(str(error.validator), lambda _i, _w: error.message)
        yield path, say(instance, wanted)


def _closest(error: ValidationError, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """Explain an ``anyOf`` by the types it allows, or by the branch whose type fits."""
    branches = error.context or []
    fitting = [b for b in branches if b.validator != "type" and len(b.absolute_path) == len(path)]
    numeric = [b for b in fitting if not isinstance(cast("Any", b.instance), str)]
    deeper = [b for b in branches if len(b.absolute_path) > len(path)]
    if numeric or deeper:
        yield from _explain((numeric or deeper)[0])
        return
    types = dict.fromkeys(
        _article(str(b.validator_value)) for b in branches if b.validator == "type"
    )
    yield path, f"must be {' or '.join(types)}, not {kind_of(cast('Any', error.instance))}"


def _article(name: str) -> str:
    return _ARTICLES.get(name, f"a {name}")


def _types(wanted: str | list[str]) -> str:
    return " or ".join(_article(w) for w in ([wanted] if isinstance(wanted, str) else wanted))


def _missing(instance: dict[str, object], wanted: list[str]) -> str:
    absent = [name for name in wanted if name not in instance]
    return "lacks " + " and ".join(f"'{name}'" for name in absent)


_MESSAGES: dict[str, Callable[[Any, Any], str]] = {
    "type": lambda i, w: f"must be {_types(w)}, not {kind_of(i)}",
    "required": _missing,
    "enum": lambda i, w: f"must be one of {', '.join(map(str, w))}, not '{quote(i)}'",
    "minLength": lambda _i, _w: "must not be empty",
    "minItems": lambda i, w: f"needs at least {w} element{'s' * (w != 1)}, has {len(i)}",
    "maxItems": lambda i, w: f"takes at most {w} elements, has {len(i)}",
    "minimum": lambda i, w: f"must be at least {w}, not {quote(i)}",
    "maximum": lambda i, w: f"must be at most {w}, not {quote(i)}",
    "exclusiveMinimum": lambda i, w: f"must be greater than {w}, not {quote(i)}",
    "uniqueItems": lambda _i, _w: "has an element twice",
    "pattern": lambda i, w: f"'{quote(i)}' does not have the form {w}",
}


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
