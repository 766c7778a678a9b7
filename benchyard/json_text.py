"""JSON by a fast library where it can, by Python's own where only that can.

Both refuse NaN when they read, and write null for it. Names of files may be no Unicode; such
texts, and integers of any size, are Python's business.
"""

import json
import math
from typing import Any

import orjson

from benchyard.model import Json

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decoded(content: bytes) -> Any:
    """Read a document.

    Raises:
        ValueError: If it is no JSON, or holds NaN or infinity.
        RecursionError: If it is nested too deeply.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content.decode(), parse_constant=_refuse)


def encoded(value: Json) -> str:
    """Write a value without any space; a number that is not finite becomes null."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return _ENCODER.encode(_finite(value))


def _finite(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number that a document may hold")
