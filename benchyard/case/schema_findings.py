"""Findings of jsonschema in words for people; imported only once something is wrong."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any, cast

from jsonschema import Draft202012Validator, ValidationError, validators

from benchyard.case.problems import Finding, JsonPath
from benchyard.case.reading import kind_of
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import Sentence, hint, quote

#: So many errors of one document are looked at: each costs a kilobyte, a file may have millions.
_MOST_ERRORS = 1_000
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "an array", "null": "null"}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Take ``$`` for the very end, as JSON Schema does; Python's is before a last newline too."""
    return re.compile(re.sub(r"\$$", r"\\Z", pattern))


def _has_twins(items: list[Any]) -> bool:
    """Tell whether a scalar is there twice; 1 is not true, and it is 1.0."""
    scalars = [(isinstance(i, bool), i) for i in items if isinstance(i, str | int | float)]
    return len(set(scalars)) != len(scalars)


def _pattern(_: Any, wanted: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _compiled(wanted).search(instance):
        yield ValidationError(f"{instance!r} does not match {wanted!r}")


def _unique_items(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Compare scalars by their hashes: jsonschema takes hours for a long list of mixed types."""
    if wanted and isinstance(instance, list) and _has_twins(cast("list[Any]", instance)):
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


def explain(schema: JsonObject, value: Json) -> list[Finding]:
    """Return path and message of everything in ``value`` that is against ``schema``."""
    validator: Any = _Validator(cast("Any", schema))
    errors = islice(validator.iter_errors(value), _MOST_ERRORS)
    return list(islice(chain.from_iterable(map(_explain, errors)), _MOST_ERRORS))


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
    "enum": lambda i, w: Sentence("must be one of {}, not '{}'", ", ".join(map(str, w)), quote(i)),
    "minLength": lambda _i, _w: "must not be empty",
    "minItems": lambda i, w: f"needs at least {w} element{'s' * (w != 1)}, has {len(i)}",
    "maxItems": lambda i, w: f"takes at most {w} elements, has {len(i)}",
    "minimum": lambda i, w: Sentence("must be at least {least}, not {}", quote(i), least=w),
    "maximum": lambda i, w: Sentence("must be at most {most}, not {}", quote(i), most=w),
    "exclusiveMinimum": lambda i, w: Sentence("must be greater than {w}, not {}", quote(i), w=w),
    "uniqueItems": lambda _i, _w: "has an element twice",
    "pattern": lambda i, w: Sentence("'{}' does not have the form {wanted}", quote(i), wanted=w),
}
