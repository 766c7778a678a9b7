"""Reading fields of proto3's JSON as protobuf's parser does; other types are refused.

A number may be a text, and null is a field that is not set.
Source: https://protobuf.dev/programming-guides/json (JSON Mapping).
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from benchyard.core.errors import DocumentRejectedError

#: What a field is called where the names of test_log.proto are preserved, or in its first version.
_ALSO = {
    "argument": "arguments",
    "commitId": "commit_id",
    "envVars": "env_vars",
    "machineConfiguration": "machine_configuration",
    "runConfiguration": "run_configuration",
    "runTime": "run_time",
    "startTime": "start_time",
    "wallTime": "wall_time",
}
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|-?Infinity|NaN")
_SHOWN = 40
_KINDS: Mapping[type, str] = {dict: "an object", list: "a list", str: "a text"}

Message = Mapping[str, Any]


def field(message: Message, name: str) -> Any:
    """Return the value of a field under any of its names; None if it is not set."""
    value = message.get(name)
    return message.get(_ALSO.get(name, name)) if value is None else value


def names_of(name: str) -> tuple[str, ...]:
    """Return all names that a field may have."""
    return (name, _ALSO[name]) if name in _ALSO else (name,)


def message(value: Any, where: str) -> Message:
    """Read a message; one that is not set is empty.

    Raises:
        DocumentRejectedError: If it is something else.
    """
    return _typed(value, dict, where)


def items(value: Any, where: str) -> list[Any]:
    """Read a repeated field, as ``message``."""
    return _typed(value, list, where)


def text(value: Any, where: str) -> str:
    """Read a text, as ``message``."""
    return _typed(value, str, where)


def _typed(value: Any, kind: type, where: str) -> Any:
    if value is None:
        return kind()
    if isinstance(value, kind):
        return value
    raise refused(f"{where} is {_kind(value)}, and no {_KINDS[kind].split()[1]}")


def number(value: Any, where: str) -> float:
    """Read a number, NaN and infinity among them; one that is not set is 0.

    Raises:
        DocumentRejectedError: If it is something else, or too large for a double.
    """
    if isinstance(value, float):
        return value
    if value is None:
        return 0.0
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        short = repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}…"
        raise refused(f"{where} is {short}, and no number")
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise refused(f"{where} is {_kind(value)}, and no number")
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if math.isinf(converted) and not str(value).endswith("Infinity"):
        raise refused(f"{where} is {str(value)[:_SHOWN]}…, which is larger than any double")
    return converted


def refused(reason: str) -> DocumentRejectedError:
    """Return the error for JSON that is no TestResults document."""
    return DocumentRejectedError(f"it is no TestResults document: {reason}")


def _kind(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else _KINDS.get(type(value), "a number")
