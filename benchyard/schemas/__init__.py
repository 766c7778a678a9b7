"""The JSON Schemas of the file formats."""

import json
from functools import cache
from importlib.resources import files
from typing import cast

from benchyard.core.model import JsonObject


@cache
def load(name: str) -> JsonObject:
    """Return a schema, such as ``case`` or ``run``."""
    text = files(__name__).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    return cast("JsonObject", json.loads(text))
