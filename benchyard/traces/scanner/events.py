"""Intervals as Chrome's events: text made column by column, some ten thousand lines at once."""

import gzip
import io
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from benchyard.core.errors import InputError
from benchyard.core.files import writing_atomically
from benchyard.core.json_text import encoded
from benchyard.traces.model import microseconds

ENDINGS = (".trace", ".json", ".json.gz", ".tar.gz")
#: Few enough to stay in a processor's cache.
_LINES = 1 << 12
_COLOURS = {"idle": "grey"}
_GZIP_LEVEL = 1
_NS = 1000
_GROUP = 4
_SPACE, _POINT = ord(" "), ord(".")


def _digits(width: int) -> NDArray[np.uint8]:
    """Return the texts of all numbers of so many digits, a row each."""
    numbers = "".join(f"{number:0{width}d}" for number in range(10**width))
    return np.frombuffer(numbers.encode(), np.uint8).reshape(-1, width)


_FOUR, _THREE = _digits(_GROUP), _digits(3)


@dataclass(frozen=True, slots=True, eq=False)
class ThreadOfTrace:
    """A thread and its intervals.

    Args:
        process: Its process's name.
        pid: Its process's number in the trace.
        tid: Its own number.
        name: Its own name.
        category: Of its events.
        names: Of intervals, one for each of the 256 keys.
        intervals: Columns ``key``, ``start``, ``end``; nanoseconds.
    """

    process: str
    pid: int
    tid: int
    name: str
    category: str
    names: Sequence[str]
    intervals: NDArray[np.void]


def write_threads(threads: Iterable[ThreadOfTrace], path: Path) -> Path:
    """Write threads as one array of events.

    Raises:
        InputError: If the path does not end in one of ``ENDINGS``.
        OSError: If it cannot be written; what was there is then as it was.
    """
    ending = next((one for one in ENDINGS if path.name.endswith(one)), None)
    if ending is None:
        raise InputError(f"{path}: a trace must end in {', '.join(ENDINGS)}")
    with ExitStack() as stack:
        out: IO[bytes] = stack.enter_context(writing_atomically(path))
        if ending == ".tar.gz":
            _write_tar(threads, out, path.name.removesuffix(ending) + ".trace")
            return path
        if ending == ".json.gz":
            packed = gzip.GzipFile("", "wb", _GZIP_LEVEL, out, mtime=0)
            out = cast("IO[bytes]", stack.enter_context(packed))
        _write(threads, out)
    return path


def _write_tar(threads: Iterable[ThreadOfTrace], out: IO[bytes], name: str) -> None:
    with TemporaryFile() as whole:
        _write(threads, cast("IO[bytes]", whole))
        entry = tarfile.TarInfo(name)
        entry.size = whole.tell()
        whole.seek(0)
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=_GZIP_LEVEL) as tar:
            tar.addfile(entry, cast("io.BufferedIOBase", whole))


def _write(threads: Iterable[ThreadOfTrace], out: IO[bytes]) -> None:
    out.write(b"[\n")
    between = b""
    for thread in threads:
        for text in _texts(thread):
            out.write(between)
            out.write(text)
            between = b",\n"
    out.write(b"\n]\n")


def _texts(thread: ThreadOfTrace) -> Iterator[bytes | memoryview]:
    name = encoded(thread.name)
    yield (
        f'{{"name":"thread_name","ph":"M","pid":{thread.pid},"tid":{thread.tid},'
        f'"args":{{"name":{name}}}}}'
    ).encode()
    lines = _Lines(thread)
    for first in range(0, len(thread.intervals), _LINES):
        yield lines.text(thread.intervals[first : first + _LINES])


class _Lines:
    """Makes lines of events; shorter values are filled up with spaces, as JSON allows."""

    def __init__(self, thread: ThreadOfTrace) -> None:
        self._heads = [
            f'{{"name":{encoded(name)},{_colour(name)}"cat":{encoded(thread.category)},"ph":"X",'
            f'"pid":{thread.pid},"tid":{thread.tid},"ts":'
            for name in thread.names
        ]

    def text(self, intervals: NDArray[np.void]) -> bytes | memoryview:
        """Return the events of some intervals, with commas between them."""
        start, duration = intervals["start"], intervals["end"] - intervals["start"]
        if min(start.min(), duration.min()) < 0:
            return self._plain(intervals["key"], start, duration)
        between, end = (np.frombuffer(text, np.uint8) for text in (b',"dur":', b"},\n"))
        columns = [
            self._table(intervals["key"]),
            *(*_microseconds(start), between),
            *(*_microseconds(duration), end),
        ]
        lines = np.empty((len(intervals), sum(one.shape[-1] for one in columns)), np.uint8)
        place = 0
        for column in columns:
            lines[:, place : place + column.shape[-1]] = column
            place += column.shape[-1]
        return lines.reshape(-1)[: -len(b",\n")].data

    def _table(self, key: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the head of each event, as wide as the widest that is used."""
        used = np.flatnonzero(np.bincount(key)).tolist()
        heads = {one: self._heads[one].encode() for one in used}
        width = max(map(len, heads.values()))
        table = np.full((max(used) + 1, width), _SPACE, np.uint8)
        for one, head in heads.items():
            table[one, : len(head)] = np.frombuffer(head, np.uint8)
        return table[key]

    def _plain(
        self, key: NDArray[np.uint8], start: NDArray[np.int64], duration: NDArray[np.int64]
    ) -> bytes:
        """Return the same where some times are negative, a line at a time."""
        rows = zip(key.tolist(), start.tolist(), duration.tolist(), strict=True)
        lines = (
            f'{self._heads[one]}{microseconds(begin)},"dur":{microseconds(took)}}}'
            for one, begin, took in rows
        )
        return ",\n".join(lines).encode()


def _colour(name: str) -> str:
    return f'"cname":"{_COLOURS[name]}",' if name in _COLOURS else ""


def _microseconds(nanoseconds: NDArray[np.int64]) -> list[NDArray[np.uint8]]:
    """Return columns of text: whole microseconds, a point, and three digits."""
    whole = nanoseconds // _NS
    point = np.array([_POINT], np.uint8)
    return [*_whole(whole), point, _THREE[nanoseconds - whole * _NS]]


def _whole(numbers: NDArray[np.int64]) -> list[NDArray[np.uint8]]:
    """Return the texts of numbers, none negative: four digits a column, zeros before are spaces."""
    columns: list[NDArray[np.uint8]] = []
    rest, least = numbers, 1
    while True:
        higher = rest // 10**_GROUP
        column = _FOUR[rest - higher * 10**_GROUP]
        for digit in range(_GROUP):
            # A number that is lower than this digit's place has a zero there, or before it.
            unit = least * 10 ** (_GROUP - 1 - digit)
            if unit > 1:
                column[numbers < unit, digit] = _SPACE
        columns.insert(0, column)
        least *= 10**_GROUP
        rest = higher
        if not rest.any():
            return columns
