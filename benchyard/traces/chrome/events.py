"""One event of Chrome's format, from whatever stands in a file."""

import json
import math
from typing import Any, cast

import msgspec

#: Microseconds; a beginning and a duration below it add up below 2^63 nanoseconds.
MOST_US = 4e15
_NO_ARGS = msgspec.Raw(b"{}")
_TEXTS = ("name", "cat", "scope")


class Event(msgspec.Struct, gc=False):
    """What is used of an event; times in microseconds."""

    ph: str
    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: float = math.nan
    dur: float = math.nan
    cat: str = ""
    id: int | str = ""
    scope: str = ""
    id2: dict[str, int | str] = {}
    args: msgspec.Raw = _NO_ARGS


class Unreadable(Exception):  # noqa: N818 - what is unreadable is no error of ours
    """An event cannot be taken in; the text is the reason."""


def tolerant(raw: bytes) -> Event:
    """Return an event that was written otherwise than most; ``dur`` is NaN if it has none.

    Raises:
        Unreadable: If it is none.
    """
    found = _decoded(raw)
    if not isinstance(found, dict):
        raise Unreadable("not an event")
    members = cast("dict[str, Any]", found)
    if not isinstance(members.get("ph"), str) or not members["ph"]:
        raise Unreadable("no phase (ph)")
    if members["ph"] != "M" and "ts" not in members:
        raise Unreadable("no time (ts)")
    args = members.get("args")
    id2 = members.get("id2")
    return Event(
        ph=members["ph"],
        pid=_number(members.get("pid", 0)),
        tid=_number(members.get("tid", 0)),
        ts=_time(members.get("ts", 0), "ts"),
        dur=_duration(members),
        id=_number(members.get("id", "")),
        id2={key: _number(value) for key, value in cast("dict[str, Any]", id2).items()}
        if isinstance(id2, dict)
        else {},
        args=msgspec.Raw(json.dumps(args).encode()) if isinstance(args, dict) else _NO_ARGS,
        **{key: _text(members.get(key)) for key in _TEXTS},
    )


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except ValueError:
        raise Unreadable("not valid JSON") from None


def _text(value: object) -> str:
    """Return a text that every file can hold: half a surrogate pair has no UTF-8."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()


def _number(value: object) -> int | str:
    return value if isinstance(value, int) else _text(value)


def _time(value: object, member: str) -> float:
    try:
        time = float(cast("Any", value))
    except OverflowError:
        time = math.inf
    except (TypeError, ValueError):
        raise Unreadable(f"{member} is no number") from None
    if not abs(time) < MOST_US or math.isnan(time):
        raise Unreadable(f"{member} is out of range")
    return time


def _duration(members: dict[str, Any]) -> float:
    if members["ph"] != "X":
        return 0.0
    if "dur" not in members:
        return math.nan
    duration = _time(members["dur"], "dur")
    if duration < 0:
        raise Unreadable("dur is negative")
    return duration
