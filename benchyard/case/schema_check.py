"""jsonschema's findings in words for people, and a quick way to find nothing.

A campaign has thousands of cases, and jsonschema takes most of a millisecond for each. A test is
made of each schema that takes a fraction of that; only what fails it is looked at by jsonschema.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import Any, cast

from jsonschema import Draft202012Validator, ValidationError, validators

from benchyard.case.problems import Finding, JsonPath
from benchyard.case.reading import kind_of
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import hint, quote

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
    if wanted and isinstance(instance, list) and _has_twins(cast("list[Any]", instance)):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _has_twins(items: list[Any]) -> bool:
    scalars = [(isinstance(i, bool), i) for i in items if isinstance(i, str | int | float)]
    return len(set(scalars)) != len(scalars)


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


def _closest(error: ValidationError, path: JsonPath) -> Iterator[Finding]:
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
    "pattern": (str, lambda form: lambda v: bool(_compiled(form).search(v))),
    "minLength": (str, lambda least: lambda v: len(v) >= least),
    "minItems": (list, lambda least: lambda v: len(v) >= least),
    "maxItems": (list, lambda most: lambda v: len(v) <= most),
    "uniqueItems": (list, lambda wanted: lambda v: not (wanted and _has_twins(v))),
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
        self._compiled: Draft202012Validator = validator(schema)
        self._is_valid = _test(self._compiled, cast("Any", self._compiled).schema)

    def findings(self, value: Json) -> list[Finding]:
        """Return path and message of everything that is wrong with ``value``."""
        return [] if self._is_valid(value) else list(findings(self._compiled, value))


def _test(compiled: Any, schema: Any) -> Test:
    """Make a test of a schema; one with a keyword that has no test here is jsonschema's."""
    fields = cast("dict[str, Any]", schema if isinstance(schema, dict) else {"not": True})
    listed = any(isinstance(value, dict | list) for value in fields.get("enum", ()))
    if listed or not fields.keys() <= _FLAT.keys() | _DEEP | _SILENT:
        return compiled.evolve(schema=schema).is_valid
    flat = [(about, make(fields[word])) for word, (about, make) in _FLAT.items() if word in fields]
    tests = [test if about is None else _only(about, test) for about, test in flat]
    if "anyOf" in fields:
        branches = [_test(compiled, branch) for branch in fields["anyOf"]]
        tests.append(lambda value: any(branch(value) for branch in branches))
    if "items" in fields:
        item = _test(compiled, fields["items"])
        tests.append(_only(list, lambda value: all(map(item, value))))
    if fields.keys() & _DEEP - {"anyOf", "items"}:
        tests.append(_only(dict, _of_members(compiled, fields)))
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


def _of_members(compiled: Any, schema: dict[str, Any]) -> Test:
    known = {name: _test(compiled, inner) for name, inner in schema.get("properties", {}).items()}
    more = _test(compiled, schema.get("additionalProperties", {}))
    name_test = _test(compiled, schema.get("propertyNames", {}))
    return lambda members: all(
        known.get(name, more)(item) and name_test(name) for name, item in members.items()
    )
