"""Files of others: unpacked, how they begin, and of which format of traces they are."""

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import IO, cast

import msgspec

from benchyard.core.errors import InputError
from benchyard.core.files import opened, shown
from benchyard.traces.callgrind import looks_like_callgrind
from benchyard.traces.cprofile import looks_like_cprofile
from benchyard.traces.perf_script import looks_like_perf_script
from benchyard.traces.protobuf import WireError, fields
from benchyard.traces.stacks import looks_collapsed

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
#: What a file in another encoding begins with: its byte order mark, or JSON without one.
_ENCODINGS = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"{\0": "utf-16-le",
    b"[\0": "utf-16-le",
    b"\0{": "utf-16-be",
    b"\0[": "utf-16-be",
}
#: What compressed data raise that are damaged or cut off.
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
#: What is not read piece by piece is read whole, so it must be smaller.
WHOLE_BYTES = 1 << 30


@contextmanager
def unpacked_stream(path: Path) -> Generator[IO[bytes]]:
    """Open a file, gzipped or not; UTF-16 becomes UTF-8, a byte order mark is passed over.

    Reading it raises one of ``DAMAGE`` where compressed data break.

    Raises:
        OSError: If it cannot be read.
    """
    with opened(path) as file:
        packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file) if packed else file)
        try:
            start = stream.read(len(_BOM))
        except DAMAGE:
            start = b""
        stream.seek(len(_BOM) if start == _BOM else 0)
        encoding = _ENCODINGS.get(start[:2])
        if encoding:
            stream = BytesIO(stream.read(WHOLE_BYTES).decode(encoding, "replace").encode())
        yield stream


def unpacked(path: Path, most: int, *, partly: bool = False) -> bytes:
    """Read so many bytes at most of a file, gzipped or not.

    Args:
        path: Of the file.
        most: Bytes of what is unpacked.
        partly: Whether compressed data that break are read up to there.

    Raises:
        InputError: If it cannot be read.
    """
    parts: list[bytes] = []
    try:
        with unpacked_stream(path) as stream:
            while most > 0 and (part := cast("BytesIO", stream).read1(most)):
                parts.append(part)
                most -= len(part)
    except (OSError, *DAMAGE) as error:
        if not (partly and parts):
            said = getattr(error, "strerror", None) or error
            raise InputError(f"{shown(path)} cannot be read: {said}") from error
    return b"".join(parts)


#: How files of formats begin that are not read, and what makes one that is.
#: Sources: perf's tools/perf/util/header.c; gperftools.github.io/gperftools/cpuprofile-fileformat;
#: binutils' gprof/gmon_out.h.
_ADVICE = {
    (b"PERFILE2", b"2ELIFREP"): "perf's own format; make a text: perf script -i FILE > FILE.perf",
    (b"gmon\1\0\0\0",): "gprof's format; gprof PROGRAM FILE prints it, perf makes one to read",
    (struct.pack("<3Q", 0, 3, 0), struct.pack("<3L", 0, 3, 0)): (
        "gperftools' old format; convert it: pprof -proto PROGRAM FILE > FILE.pb.gz"
    ),
}
_GECKO_ADVICE = "Firefox' unprocessed profile; profiler.firefox.com opens it and saves one to read"
#: Formats of texts, by what tells each; collapsed stacks are whatever else has counts.
_TEXTS: Mapping[str, Callable[[str], bool]] = {
    "callgrind": looks_like_callgrind,
    "perf-script": looks_like_perf_script,
    "collapsed-stacks": looks_collapsed,
}
#: Formats of JSON, by keys of which a file has one.
_JSON_KEYS = {
    "chrome-trace": ("traceEvents", "[].ph", "displayTimeUnit"),
    "v8-cpuprofile": ("nodes.[].callFrame",),
    "speedscope": ("shared.frames",),
}
#: So much is read of each file to tell its format.
HEAD_BYTES = 1 << 14
#: So much of a file whose head does not tell it.
MOST_BYTES = 1 << 26
#: So much is searched for keys of JSON that is cut off or damaged.
_SEARCHED_BYTES = 1 << 22
#: So much of each member of an object.
_MEMBER_BYTES = 1 << 12
#: A format is looked at by several readers, one after the other.
_REMEMBERED = 16
#: A text that the head breaks off is one too: to look for its end at each quote takes seconds.
_TOKEN = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)(?:"(?:\s*(:))?|\\?\Z)|[\[\]{}]', re.DOTALL)
_DEEPEST = 3
_JSON = re.compile(rb'\{\s*["}]|\[\s*[\[{"\]]|[{\[]\s*\Z')
_SCHEMA = re.compile(rb'"\$schema"\s*:\s*"[^"]*speedscope')
#: Fields of pprof's Profile that are messages or texts, and those that are numbers.
#: Source: github.com/google/pprof, proto/profile.proto; 13 is a list of numbers.
_PPROF_KIND = 1
_PPROF_MESSAGES, _PPROF_NUMBERS = {1, 2, 3, 4, 5, 6, 11, 13}, {7, 8, 9, 10, 12, 13, 14, 15}

Keys = tuple[str, ...]


@dataclass(frozen=True)
class Head:
    """How a file begins.

    Args:
        content: Its first bytes, unpacked.
        longer: The file, if it has more than these.
    """

    content: bytes
    longer: Path | None = None

    @cached_property
    def text(self) -> bytes:
        """The same without leading space."""
        return self.content.lstrip()

    @property
    def is_json(self) -> bool:
        """Whether it begins as an object, or a list of other than numbers.

        Stacks may begin with ``[unknown];main`` or ``{closure};main``.
        """
        return _JSON.match(self.text) is not None

    @cached_property
    def keys(self) -> frozenset[Keys]:
        """The keys of JSON down to the third level, each behind those that lead to it.

        ``[]`` stands for an item of a list. A file that is no JSON has some keys or none.
        """
        return frozenset(_keys(self.text)) if self.is_json else frozenset()

    @cached_property
    def all_keys(self) -> frozenset[Keys]:
        """Those of the whole file, up to ``MOST_BYTES``: the order of members means nothing."""
        if not self.is_json or self.longer is None:
            return self.keys
        return self.keys | _keys_of_members(self._read_on())

    def has(self, *keys: str) -> bool:
        """Tell whether all of these keys are there, written as ``results.[].command``."""
        wanted = {tuple(key.split(".")) for key in keys}
        return wanted <= self.keys or (not self._begins_events and wanted <= self.all_keys)

    @cached_property
    def trace_format(self) -> str:
        """The format of traces that the file is of; empty if it is of none."""
        if self.is_json:
            return self._json_format()
        return "cprofile" if looks_like_cprofile(self.content) else self._other_format()

    @property
    def advice(self) -> str:
        """What is to be done with a file of a known format that is not read; empty of another."""
        if self.has("meta.version", "libs", "threads") and not self.trace_format:
            return _GECKO_ADVICE
        return next(
            (said for starts, said in _ADVICE.items() if self.content.startswith(starts)), ""
        )

    def _other_format(self) -> str:
        numbers = _pprof_numbers(self.content)
        if numbers and _PPROF_KIND not in numbers:  # behind the samples
            numbers = _pprof_numbers(self._read_on())
        if _PPROF_KIND in numbers:
            return "pprof"
        cut_off = self.longer is not None and b"\n" not in self.text
        text = (self._read_on() if cut_off else self.text).decode(errors="replace")
        return next((name for name, looks in _TEXTS.items() if looks(text)), "")

    def _json_format(self) -> str:
        if _SCHEMA.search(self.text):
            return "speedscope"
        if self._begins_events:
            return "chrome-trace"
        # The key may lie behind a long member, so the whole file is searched.
        if self.has("meta", "threads") and b'"preprocessedProfileVersion"' in self._read_on():
            return "firefox-profile"
        return next((name for name, keys in _JSON_KEYS.items() if any(map(self.has, keys))), "")

    @property
    def _begins_events(self) -> bool:
        """Whether this is all that need be read of it: a list of events has any length."""
        return not self.keys.isdisjoint({("traceEvents",), ("[]", "ph")})

    def _read_on(self) -> bytes:
        return unpacked(self.longer, MOST_BYTES, partly=True) if self.longer else self.content


def _keys_of_members(content: bytes) -> set[Keys]:
    try:
        members = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _keys(content[:_SEARCHED_BYTES])
    inner = {name: _keys(bytes(memoryview(raw)[:_MEMBER_BYTES])) for name, raw in members.items()}
    return {(name, *way)[:_DEEPEST] for name, ways in inner.items() for way in [(), *ways]}


def _keys(text: bytes) -> set[Keys]:
    found: set[Keys] = set()
    # The key or [] of each level that is open, the outermost first.
    way: list[str] = []
    for token in _TOKEN.finditer(text):
        sign = token[0][:1]
        if sign in (b"{", b"["):
            way.append("" if sign == b"{" else "[]")
        elif sign in (b"}", b"]"):
            if way:
                way.pop()
        elif token[2] and way and len(way) <= _DEEPEST:
            way[-1] = token[1].decode(errors="replace")
            found.add(tuple(way))
    return found


def _pprof_numbers(content: bytes) -> set[int]:
    """Return which fields of a profile there are, as far as they are whole; none of other data."""
    found: set[int] = set()
    try:
        for number, value in fields(memoryview(content)):
            if number not in (_PPROF_NUMBERS if isinstance(value, int) else _PPROF_MESSAGES):
                return set()
            if number == _PPROF_KIND and not isinstance(value, int):
                inner = {inner for inner, _ in fields(value)}
                if not inner <= {1, 2}:
                    return set()
            found.add(number)
    except WireError:  # the head, or the file, ends within a field
        pass
    return found


def head_of(path: Path) -> Head | None:
    """Return how a file begins; None if it cannot be read."""
    try:
        return beginning_of(path)
    except InputError:
        return None


def beginning_of(path: Path) -> Head:
    """Return how a file begins.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be read: {error.strerror}") from error
    return _head(path, status.st_mtime_ns, status.st_size)


@lru_cache(_REMEMBERED)
def _head(path: Path, _changed: int, _size: int) -> Head:
    content = unpacked(path, HEAD_BYTES, partly=True)
    return Head(content, path if len(content) == HEAD_BYTES else None)
