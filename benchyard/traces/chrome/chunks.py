"""Pieces of an array of events of Chrome's format, in bounded memory; events and their times."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.traces.model import MOST_NS, Times
from benchyard.traces.recognising import DAMAGE

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


CHUNK_BYTES = 1 << 20
#: What msgspec raises on text that is no JSON of the type.
BROKEN = (msgspec.MsgspecError, ValueError, RecursionError)
#: So much is read of what stands behind the events.
_MOST_BEHIND = 1 << 26
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*("|\\?\Z)|[\[\]{}]', re.DOTALL)
_KEY = re.compile(rb'(?<!\\)"traceEvents"\s*:\s*\Z')
_CUT = re.compile(rb"\}\s*,\s*(?=\{)")
#: How far before the end of a piece a cut is looked for.
_LOOK_BYTES = 1 << 14
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_EVENTS = msgspec.json.Decoder(list[ChromeEvent], strict=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole events, one after the other.

    Args:
        offset: Where they begin, in bytes of the unpacked file.
        text: The events, with commas between them.
        events: The same decoded; None if some are written otherwise than most.
    """

    offset: int
    text: bytes
    events: Sequence[ChromeEvent] | None = None


@dataclass(slots=True)
class EventStream:
    """A file of events, read once from front to back.

    Attributes:
        offset: Where the next chunk begins, in bytes of the unpacked file.
        other: The members beside the events; those behind them once all chunks were read.
        cut_off: Why the file ended too early; empty if it did not.
    """

    path: Path
    stream: IO[bytes]
    offset: int = 0
    other: dict[str, msgspec.Raw] = field(default_factory=dict[str, msgspec.Raw])
    cut_off: str = ""

    def chunks(self) -> Iterator[Chunk]:
        """Yield all events, piece by piece.

        Raises:
            InputError: If the file holds no list of events.
        """
        text, is_object = self._behind_head()
        size, closed = CHUNK_BYTES, False
        while not closed:
            more = self._read(size)
            text += more
            end, events = _decoded(text) if more else (0, None)
            if events is None:
                end, closed = _end(text)
            if end:
                yield Chunk(self.offset, text[:end], events)
                self.offset += end
                text = text[end:]
            if not more and not closed:
                break
            size = CHUNK_BYTES if end else 2 * size
        rest = text.lstrip(BETWEEN)
        if closed and is_object:
            self._read_behind(rest.removeprefix(b"]") + self._read(_MOST_BEHIND))
        elif rest and not closed:
            self.cut_off = self.cut_off or "the file ends within an event"

    def _read(self, size: int) -> bytes:
        try:
            return self.stream.read(size)
        except DAMAGE as error:
            self.cut_off = f"the compressed data end or break here: {error}"
            return b""

    def _behind_head(self) -> tuple[bytes, bool]:
        """Read up to the first event; return what was read of the list, and if an object holds it.

        Keeps the members before the list.
        """
        text = self._read(CHUNK_BYTES)
        start = len(text) - len(text.lstrip())
        is_object = text[start : start + 1] == b"{"
        if not is_object and text[start : start + 1] != b"[":
            raise InputError(f"{shown(self.path)}: no JSON array or object at byte {start}")
        place = None if is_object else start + 1
        while place is None and (place := _behind_key(text)) is None:
            more = self._read(max(CHUNK_BYTES, len(text)))
            if not more:
                raise InputError(f'{shown(self.path)}: its JSON object has no list "traceEvents"')
            text += more
        if is_object:
            self._keep(text[start:place] + b"]}")
        self.offset = place or 0
        return text[place:], is_object

    def _read_behind(self, text: bytes) -> None:
        members = text.strip(BETWEEN)
        if members not in (b"", b"}") and not self._keep(b"{" + members):
            self.cut_off = self.cut_off or "what stands behind the events cannot be read"

    def _keep(self, text: bytes) -> bool:
        try:
            self.other |= _MEMBERS.decode(text)
        except BROKEN:
            return False
        return True


def _decoded(text: bytes) -> tuple[int, Sequence[ChromeEvent] | None]:
    """Return a place between two events near the end, and the events before it.

    Decoding confirms a split: a piece cut inside a string or a nested list is invalid JSON.
    """
    near = max(0, len(text) - _LOOK_BYTES)
    cuts = [cut.start() + 1 for cut in _CUT.finditer(text, near)]
    for end in reversed(cuts[-3:]):
        try:
            return end, _EVENTS.decode(as_list(text[:end]))
        except BROKEN:
            continue
    return 0, None


def _brackets(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield where each bracket outside of texts begins, the depth behind it, and the bracket.

    The depth is below 0 where something closes that began before.
    """
    depth = 0
    for token in _TOKEN.finditer(text):
        sign = token[0][:1]
        if sign != b'"':
            depth += 1 if sign in b"{[" else -1
            yield token.start(), depth, sign


def _end(text: bytes) -> tuple[int, bool]:
    """Return where the last whole event ends, and whether the list ends behind it."""
    end = 0
    for place, depth, _ in _brackets(text):
        if depth < 0:
            return place, True
        if depth == 0:
            end = place + 1
    return end, False


def elements(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each element of the list that ``text`` is the inside of, with its place.

    What stands between two objects, commas apart, is an element too.
    """
    behind = start = 0
    for place, depth, sign in (*_brackets(text), (len(text), 1, b"{")):
        if depth == 1 and sign in b"{[":
            if stray := text[behind:place].strip(BETWEEN):
                yield behind, stray
            start = place
        elif depth == 0:
            behind = place + 1
            yield start, text[start:behind]


def _behind_key(text: bytes) -> int | None:
    """Return the place behind the bracket that opens the list of events, if it is there yet."""
    behind = 0
    for place, depth, sign in _brackets(text):
        if depth == 2 and sign == b"[" and _KEY.search(text, behind, place):
            return place + 1
        behind = place + 1
    return None
