"""Plain data: JSON as text, dataclasses out of it, and how much memory it takes.

JSON is read by orjson where that is exact, else by Python's own module.

Both refuse NaN when they read, and write null for it. Names of files may be no Unicode; such
texts, and integers of any size, are Python's business. Of a dataclass what has a default may lack;
members that it does not have are ignored: a later version may write them.
"""

import json
import math
from contextlib import suppress
from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any, TypeVar

import orjson
from msgspec import MsgspecError, convert

from benchyard.core.model import Json

#: So many digits may be more than 64 bits hold; those of a fraction are no matter.
_LONG = b"0" * 19
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decoded(content: bytes, *, exact: bool = True) -> Any:
    """Read a document.

    Args:
        exact: Whether integers beyond 64 bits stay integers; else they may become floats. It takes
            about as long as the fast library takes for all.

    Raises:
        ValueError: If it is no JSON, or holds NaN or infinity.
        RecursionError: If it is nested too deeply.
    """
    # The fast library makes floats of such integers, and tells nobody.
    if not (exact and _may_hold_a_long_integer(content)):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(content)
    return json.loads(content.decode(), parse_constant=_refuse)


def _may_hold_a_long_integer(content: bytes) -> bool:
    # All digits become one: bytes are searched many times as fast for them as for a class.
    zeros = content.translate(_DIGITS)
    at = zeros.find(_LONG)
    while at >= 0:
        if zeros[at - 1 : at] != b".":
            return True
        at = zeros.find(_LONG, at + len(_LONG))
    return False


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


T = TypeVar("T")


def read_as(kind: type[T], document: object) -> T:
    """Make a dataclass out of an object.

    Raises:
        ValueError: If a member is missing or not of its type; it names the place.
    """
    try:
        return convert(document, kind)
    except MsgspecError as error:
        raise ValueError(str(error).replace("`", "'")) from error


def is_moment(text: str) -> bool:
    """Tell whether a text is a time with a zone that all other zones have, too.

    Raises:
        ValueError: If it is no time.
    """
    read = datetime.fromisoformat(text)
    return read.tzinfo is not None and MINYEAR < read.year < MAXYEAR
