"""The JSON Schemas of the file formats, and what they mean where Python differs."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any, cast

from benchyard.core.model import Json, JsonObject


@cache
def load(name: str) -> JsonObject:
    """Return a schema, such as ``case`` or ``run``."""
    text = files(__name__).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    return cast("JsonObject", json.loads(text))


@cache
def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Take ``$`` for the very end, as JSON Schema does; Python's is before a last newline too."""
    return re.compile(re.sub(r"\$$", r"\\Z", pattern))


def has_twins(items: list[Any]) -> bool:
    """Tell whether a scalar is there twice; 1 is not true, and it is 1.0."""
    scalars = [(isinstance(i, bool), i) for i in items if isinstance(i, str | int | float)]
    return len(set(scalars)) != len(scalars)


def inlined(schema: Json, definitions: JsonObject) -> Json:
    """Replace each reference by what it names: looking it up costs more than half of a check."""
    if isinstance(schema, list):
        return [inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return inlined(definitions[reference.removeprefix("#/$defs/")], definitions)
    keep = {name: item for name, item in schema.items() if name not in ("$defs", "$id", "$schema")}
    return {name: inlined(item, definitions) for name, item in keep.items()}
