"""One event of Chrome's format, from whatever stands in a file."""

import json
from decimal import Decimal
from typing import Any, cast

import msgspec

from benchyard.traces.model import MOST_NS

MOST_US = MOST_NS // 1000
#: Of a number of a process or thread: 64 bits have no more.
_MOST_DIGITS = 19
_NO_ARGS = msgspec.Raw(b"{}")
_DECODER = msgspec.json.Decoder(float_hook=Decimal)


class Event(msgspec.Struct, gc=False):
    """What is used of an event; times in microseconds, as near as floats come to them."""

    ph: str
    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: int | float | None = None
    dur: int | float | None = None
    cat: str = ""
    id: int | str = ""
    scope: str = ""
    id2: dict[str, int | str] = {}
    args: msgspec.Raw = _NO_ARGS


class Unreadable(Exception):  # noqa: N818 - what is unreadable is no error of ours
    """An event cannot be taken in; the text is the reason."""


def tolerant(raw: bytes) -> tuple[Event, Decimal, Decimal | None]:
    """Return an event that was written otherwise than most, its time, and its duration if any.

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
    event = Event(
        ph=members["ph"],
        pid=_number(members.get("pid", 0)),
        tid=_number(members.get("tid", 0)),
        id=_number(members.get("id", "")),
        id2={key: _number(value) for key, value in cast("dict[str, Any]", id2).items()}
        if isinstance(id2, dict)
        else {},
        args=msgspec.Raw(_json(members["args"]).encode()) if isinstance(args, dict) else _NO_ARGS,
        name=_text(members.get("name")),
        cat=_text(members.get("cat")),
        scope=_text(members.get("scope")),
    )
    return event, _time(members.get("ts", 0), "ts"), _duration(members)


def _decoded(raw: bytes) -> Any:
    try:
        return _DECODER.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return json.loads(raw.decode("utf-8", "replace"), parse_float=Decimal)
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except ValueError:
        raise Unreadable("not valid JSON") from None


def _text(value: object) -> str:
    """Return a text that every file can hold: half a surrogate pair has no UTF-8."""
    text = "" if value is None else value if isinstance(value, str) else _json(value)
    return text.encode("utf-8", "replace").decode()


def _json(value: object) -> str:
    return json.dumps(value, default=float)


def _number(value: object) -> int | str:
    return value if isinstance(value, int) else _text(value)


def as_number(value: int | str) -> int | str:
    """Make a number of a process or thread that is written as text a number."""
    if isinstance(value, int):
        return value
    whole = value.removeprefix("-")
    is_number = whole.isdecimal() and len(whole) <= _MOST_DIGITS and str(int(value)) == value
    return int(value) if is_number else value


def _time(value: object, member: str) -> Decimal:
    try:
        time = Decimal(cast("Any", value))
    except (TypeError, ValueError, ArithmeticError):
        raise Unreadable(f"{member} is no number") from None
    if time.is_nan() or not abs(time) < MOST_US:
        raise Unreadable(f"{member} is out of range")
    return time


def _duration(members: dict[str, Any]) -> Decimal | None:
    if members["ph"] != "X" or "dur" not in members:
        return None
    duration = _time(members["dur"], "dur")
    if duration < 0:
        raise Unreadable("dur is negative")
    return duration
