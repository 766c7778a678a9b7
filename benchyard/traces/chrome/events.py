"""Events of Chrome's format, from whatever stands in a file, and their times."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchyard.traces.model import MOST_NS, Times

#: What stands between two events, commas included.
BETWEEN = b" \t\r\n,"
_MOST_US = MOST_NS // 1000
_NS = Decimal(1000)
#: A float is at most so much of itself away from what is written; and in nanoseconds.
_FLOAT_ERROR = 2.0**-53 * 1000
#: More than what the sums of parts of a microsecond are off by, in nanoseconds.
_SUM_ERROR = 1e-9
_NO_ARGS = msgspec.Raw(b"{}")


class ChromeEvent(msgspec.Struct, gc=False):
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


class _Exact(msgspec.Struct, gc=False):
    ts: int | Decimal | None = None
    dur: int | Decimal | None = None


_EXACT = msgspec.json.Decoder(list[_Exact], strict=False)


class Unreadable(Exception):  # noqa: N818 - what is unreadable is no error of ours
    """An event cannot be taken in; the text is the reason."""


def tolerant(raw: bytes) -> tuple[ChromeEvent, Decimal, Decimal | None]:
    """Return an event that was written otherwise than most, its time, and its duration if any.

    Raises:
        Unreadable: If it is none.
    """
    members = _members(raw)
    if not isinstance(members.get("ph"), str) or not members["ph"]:
        raise Unreadable("no phase (ph)")
    if members["ph"] != "M" and "ts" not in members:
        raise Unreadable("no time (ts)")
    args, id2 = members.get("args"), members.get("id2")
    ids = cast("dict[str, Any]", id2).items() if isinstance(id2, dict) else ()
    event = ChromeEvent(
        ph=members["ph"],
        name=_text(members.get("name")),
        pid=_text(members.get("pid", 0)),
        tid=_text(members.get("tid", 0)),
        cat=_text(members.get("cat")),
        id=_text(members.get("id")),
        scope=_text(members.get("scope")),
        id2={key: _text(value) for key, value in ids},
        args=msgspec.Raw(_json(cast("Any", args)).encode()) if isinstance(args, dict) else _NO_ARGS,
    )
    time, duration = _time(members.get("ts", 0), "ts"), None
    if event.ph == "X" and "dur" in members:
        duration = _time(members["dur"], "dur")
        if duration < 0:
            raise Unreadable("dur is negative")
    return event, time, duration


def _members(raw: bytes) -> dict[str, Any]:
    try:
        event = json.loads(raw.decode("utf-8", "replace"), parse_float=Decimal)
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except ValueError:
        raise Unreadable("not valid JSON") from None
    if not isinstance(event, dict):
        raise Unreadable("not an event")
    return cast("dict[str, Any]", event)


def _text(value: object) -> str:
    """Return a text that every file can hold: half a surrogate pair has no UTF-8."""
    text = "" if value is None else value if isinstance(value, str) else _json(value)
    return text.encode("utf-8", "replace").decode()


def _json(value: object) -> str:
    return json.dumps(value, default=float)


def _time(value: object, member: str) -> Decimal:
    try:
        time = Decimal(cast("Any", value))
    except (TypeError, ValueError, ArithmeticError):
        raise Unreadable(f"{member} is no number") from None
    if time.is_nan() or not abs(time) < _MOST_US:
        raise Unreadable(f"{member} is out of range")
    return time


def as_list(text: bytes) -> bytes:
    """Return events with commas between them as a list of JSON."""
    return b"[" + text.lstrip(BETWEEN) + b"]"


def times_of(text: bytes, events: Sequence[ChromeEvent]) -> tuple[Times, Times] | None:
    """Return when events begin and end; None if one has no such time, or one out of range."""
    begins = np.array([0 if event.ph == "M" else event.ts for event in events])
    took = np.array([event.dur if event.ph == "X" else 0 for event in events])
    if begins.dtype.kind not in "if" or took.dtype.kind not in "if":
        return None
    if not ((np.abs(begins) < _MOST_US).all() and ((took >= 0) & (took < _MOST_US)).all()):
        return None
    starts, ends = _rounded(begins), _rounded(begins, took)
    if starts is None or ends is None:
        return _exact(text, events)
    return starts, ends


def _rounded(*microseconds: NDArray[np.float64]) -> Times | None:
    """Return sums in nanoseconds; None if floats do not tell which is the nearest."""
    whole, part, doubt = np.zeros((3, len(microseconds[0])))
    for one in microseconds:
        whole += np.trunc(one)
        part += (one - np.trunc(one)) * 1000
        if one.dtype.kind == "f":
            doubt += np.abs(one) * _FLOAT_ERROR
    rounded = np.rint(part)
    if (np.abs(part - rounded) + doubt < 0.5 - _SUM_ERROR).all():
        return whole.astype(np.int64) * 1000 + rounded.astype(np.int64)
    return None


def _exact(text: bytes, events: Sequence[ChromeEvent]) -> tuple[Times, Times]:
    starts: list[int] = []
    ends: list[int] = []
    for event, one in zip(events, _EXACT.decode(as_list(text)), strict=True):
        begin = 0 if event.ph == "M" else one.ts or 0
        starts.append(round(begin * _NS))
        ends.append(round((begin + one.dur) * _NS) if event.ph == "X" and one.dur else starts[-1])
    return np.array(starts, np.int64), np.array(ends, np.int64)


def ns(microseconds: Decimal) -> int:
    """Return a time in nanoseconds."""
    return round(microseconds * _NS)
