"""Pieces of an array of events, cut between two events, in bounded memory.

A cut is proved by decoding: text that ends within a text or within a nested list is no JSON.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.traces.chrome.events import Event
from benchyard.traces.unpacking import DAMAGE, unpacked_stream

CHUNK_BYTES = 1 << 20
#: So much is read of what stands behind the events.
_MOST_BEHIND = 1 << 26
_BETWEEN = b" \t\r\n,"
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*("|\\?\Z)|[\[\]{}]', re.DOTALL)
_CUT = re.compile(rb"\}\s*,\s*(?=\{)")
#: How far before the end of a piece a cut is looked for.
_LOOK_BYTES = 1 << 14
_KEY = "traceEvents"
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_EVENTS = msgspec.json.Decoder(list[Event], strict=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole events, one after the other.

    Args:
        offset: Where they begin, in bytes of the unpacked file.
        text: The events, with commas between them.
        events: The same decoded, if all are written as most tools write them.
    """

    offset: int
    text: bytes
    events: Sequence[Event] | None = None

    @property
    def listed(self) -> bytes:
        """The text as a list of JSON."""
        return _listed(self.text)


def _listed(text: bytes) -> bytes:
    return b"[" + text.lstrip(_BETWEEN) + b"]"


@dataclass(slots=True)
class Source:
    """A file of events, read once from front to back.

    Attributes:
        other: The members before the events, and once these are read those behind them.
        cut_off: Why the file ended too early, and where; empty if it did not.
    """

    path: Path
    stream: IO[bytes]
    other: dict[str, msgspec.Raw]
    cut_off: str = ""
    _offset: int = 0
    _text: bytes = b""
    _is_object: bool = False

    def chunks(self) -> Iterator[Chunk]:
        """Yield all events, piece by piece.

        Raises:
            InputError: If the file holds no list of events.
        """
        self._skip_head()
        wanted = CHUNK_BYTES
        while True:
            more = self._read(wanted)
            self._text += more
            end, events = self._cut() if more else (0, None)
            if not end:
                end, over = _exact_cut(self._text)
                if over or not more:
                    yield Chunk(self._offset, self._text[:end])
                    self._end(end, over=over)
                    return
                wanted = CHUNK_BYTES if end else 2 * wanted
            if end:
                yield Chunk(self._offset, self._text[:end], events)
                self._offset += end
                self._text = self._text[end:]

    def _read(self, size: int) -> bytes:
        try:
            return self.stream.read(size)
        except DAMAGE as error:
            self.cut_off = f"the compressed data end or break here: {error}"
            return b""

    def _cut(self) -> tuple[int, Sequence[Event] | None]:
        """Return where a cut is, near the end, and the events before it; 0 if none is found."""
        near = max(0, len(self._text) - _LOOK_BYTES)
        cuts = [found.start() + 1 for found in _CUT.finditer(self._text, near)]
        for end in reversed(cuts[-3:]):
            listed = _listed(self._text[:end])
            try:
                return end, _EVENTS.decode(listed)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                if _whole(listed):
                    return end, None
        return 0, None

    def _end(self, end: int, *, over: bool) -> None:
        rest = self._text[end:].strip(_BETWEEN)
        self._offset += end
        if not over and rest:
            self.cut_off = self.cut_off or "the file ends within an event"
        elif over and self._is_object:
            self._read_behind(rest.removeprefix(b"]") + self._read(_MOST_BEHIND))

    def _read_behind(self, text: bytes) -> None:
        members = text.strip(_BETWEEN)
        if members not in (b"", b"}"):
            try:
                self.other |= _MEMBERS.decode(b"{" + members)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                self.cut_off = self.cut_off or "what stands behind the events cannot be read"

    @property
    def offset(self) -> int:
        """Where the next chunk begins, in bytes of the unpacked file."""
        return self._offset

    def _skip_head(self) -> None:
        self._text = self._read(CHUNK_BYTES)
        start = len(self._text) - len(self._text.lstrip())
        if self._text[start : start + 1] == b"[":
            self._begin_at(start + 1)
        elif self._text[start : start + 1] == b"{":
            self._is_object = True
            self._skip_members(start)
        else:
            raise InputError(f"{shown(self.path)}: no JSON array or object at byte {start}")

    def _begin_at(self, place: int) -> None:
        self._offset += place
        self._text = self._text[place:]

    def _skip_members(self, start: int) -> None:
        """Find the list of events among the members of an object."""
        while (place := _events_begin(self._text, start)) is None:
            more = self._read(max(CHUNK_BYTES, len(self._text)))
            if not more:
                raise InputError(f'{shown(self.path)}: its JSON object has no list "{_KEY}"')
            self._text += more
        head = self._text[start:place] + b"]}"
        try:
            self.other = _MEMBERS.decode(head)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self.other = {}
        self._begin_at(place)


@contextmanager
def opened(path: Path) -> Generator[Source]:
    """Open a file, gzipped or plain.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        with unpacked_stream(path) as stream:
            yield Source(path, stream, {})
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be read: {error.strerror or error}") from error


def _whole(listed: bytes) -> bool:
    try:
        msgspec.json.decode(listed, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return True


def _exact_cut(text: bytes) -> tuple[int, bool]:
    """Return where the last whole event ends, and whether the array ends behind it."""
    depth, end = 0, 0
    for found in _TOKEN.finditer(text):
        token = found[0][:1]
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
            if depth < 0:
                return found.start(), True
            end = found.end() if depth == 0 else end
    return end, False


def spans(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each element of the list that ``text`` is the inside of, with its place.

    What stands between two objects, commas apart, is an element too.
    """
    depth, start, between = 0, 0, 0
    for found in _TOKEN.finditer(text):
        token = found[0][:1]
        if token in b"{[":
            if depth == 0:
                yield from _odd(text, between, found.start())
                start = found.start()
            depth += 1
        elif token in b"}]" and depth:
            depth -= 1
            if depth == 0:
                between = found.end()
                yield start, text[start:between]
    yield from _odd(text, start if depth else between, len(text))


def _odd(text: bytes, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    inside = text[start:end].strip(_BETWEEN)
    if inside:
        yield start, inside


def _events_begin(text: bytes, start: int) -> int | None:
    """Return the place behind the bracket that opens the list of events, if it is there yet."""
    depth, key = 0, b""
    for found in _TOKEN.finditer(text, start):
        token = found[0]
        if token[:1] == b'"':
            key = token[1:-1] if depth == 1 else key
        elif token in b"{[":
            if depth == 1 and token == b"[" and key == _KEY.encode():
                return found.end()
            depth += 1
        else:
            depth -= 1
    return None
