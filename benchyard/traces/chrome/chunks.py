"""Pieces of an array of events, cut between two events, in bounded memory."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.traces.chrome.events import BETWEEN, ChromeEvent, as_list
from benchyard.traces.unpacking import DAMAGE

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
    for place, depth, sign in _brackets(text):
        if depth == 1 and sign in b"{[":
            yield from _stray(text, behind, place)
            start = place
        elif depth == 0:
            behind = place + 1
            yield start, text[start:behind]
    yield from _stray(text, behind, len(text))


def _stray(text: bytes, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    inside = text[start:end].strip(BETWEEN)
    if inside:
        yield start, inside


def _behind_key(text: bytes) -> int | None:
    """Return the place behind the bracket that opens the list of events, if it is there yet."""
    behind = 0
    for place, depth, sign in _brackets(text):
        if depth == 2 and sign == b"[" and _KEY.search(text, behind, place):
            return place + 1
        behind = place + 1
    return None
