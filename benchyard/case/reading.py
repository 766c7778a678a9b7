"""Reading metadata.json: whatever the file holds, it is one JSON object or one problem."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from benchyard.case.problems import Problem
from benchyard.core.errors import WrongFileError
from benchyard.core.files import content
from benchyard.core.model import Json, JsonObject
from benchyard.core.wording import quote

#: A metadata.json of KROWN has about a kilobyte; data belongs into data/shared.
MAX_BYTES = 4 * 1024 * 1024
#: Far above any real case, far below where Python's own recursion ends.
MAX_DEPTH = 64
#: More than any unit needs, and few enough for every reader of JSON to take them.
MAX_DIGITS = 300


def read_metadata(file: Path) -> JsonObject | Problem:
    """Read one metadata.json, or say in one problem why it cannot be read."""
    value = read_json(file)
    if not isinstance(value, dict | Problem):
        return Problem(file, "$", f"must be an object, not {kind_of(value)}")
    return value


def read_json(file: Path) -> "Json | Problem":
    """Read a file that a person wrote, or say in one problem why it cannot be read."""
    try:
        text = content(file, MAX_BYTES).decode("utf-8-sig")
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short,
        )
        _refuse_deep(value)
        _refuse_surrogates(text, value)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Problem(file, "$", f"not JSON: {error.msg.removesuffix(' at')} at {where}")
    except UnicodeDecodeError as error:
        return Problem(file, "$", f"not UTF-8: byte {error.start} cannot be read; save it as UTF-8")
    except RecursionError:
        return Problem(file, "$", f"nested deeper than {MAX_DEPTH} levels")
    except WrongFileError as error:
        return Problem(file, "$", f"{error.strerror}; data belongs into data/shared")
    except OSError as error:
        return Problem(file, "$", f"cannot be read: {error.strerror or error}")
    except ValueError as error:
        return Problem(file, "$", str(error))
    return cast("Json", value)


def kind_of(value: object) -> str:
    """Name the JSON type of a value, with its article."""
    names: dict[type, str] = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise ValueError(f"the key '{quote(twice)}' stands twice in one object")
    return made


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON; write a number or null")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _short(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"the number {text[:40]}… has {len(text):,} digits; write a string")
    return int(text)


def _refuse_deep(value: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(cast("dict[str, object]", item).values())
            elif isinstance(item, list):
                inner.extend(cast("list[object]", item))
        if not inner:
            return
        level = inner
    raise RecursionError


def _refuse_surrogates(text: str, value: object) -> None:
    r"""Refuse half characters such as "\ud800": no file, terminal or database takes them."""
    if "\\u" in text:
        dump: Callable[..., str] = json.dumps
        try:
            dump(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("holds half of a surrogate pair (\\ud800 to \\udfff)") from None
