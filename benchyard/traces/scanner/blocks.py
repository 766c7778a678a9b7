"""A file of Scanner's profiler: blocks of intervals and counters, none read beyond its end.

Source: scanner/util/profiler.inl and python/scannerpy/profiler.py of Scanner (2020).
"""

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: An interval as it lies in the file: 17 bytes, nothing between them.
INTERVAL = np.dtype([("key", "u1"), ("start", "<i8"), ("end", "<i8")])
KEYS = 256
#: A file with more has lost its place; so the original reads none of them.
MOST_COUNTERS = 1_000_000
_LONG = struct.Struct("<q")
_LEAST_KEY_BYTES, _LEAST_COUNTER_BYTES = 2, 9
_TOLD_NAMES = 3


class FormatError(ValueError):
    """A file is cut off or corrupt; the text says what, and at which byte."""


@dataclass(frozen=True, slots=True, eq=False)
class ScannerWorker:
    """What one worker of a node did.

    Args:
        node: The node's number, as the file tells it.
        kind: ``process_job``, ``load``, ``eval``, ``save`` or ``master``.
        tag: Of workers of the same kind and number, such as ``pre``.
        number: Among those of its kind.
        names: Of intervals, by their key.
        intervals: Columns ``key``, ``start``, ``end``; nanoseconds from the master's start.
        counters: By name.
    """

    node: int
    kind: str
    tag: str
    number: int
    names: Mapping[int, str]
    intervals: NDArray[np.void]
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NodeFile:
    """The content of one file.

    Args:
        start: When the node began to work, in nanoseconds.
        end: When it ended.
        workers: In the file's order.
        problems: What is odd in it and did not keep it from being read.
    """

    start: int
    end: int
    workers: list[ScannerWorker]
    problems: list[str]


def read_node(content: bytes, *, master: bool = False) -> NodeFile:
    """Read a file; the intervals stay where they are in ``content``.

    Args:
        content: Of the whole file.
        master: Whether it is ``profile_master.bin``, which has one block.

    Raises:
        FormatError: If the file breaks off, or announces what cannot be.
    """
    reader = _Reader(content)
    start, end = reader.long("start"), reader.long("end")
    workers = [_worker(reader) for n in _block_counts(reader, master=master) for _ in range(n)]
    if reader.left:
        reader.problems.append(f"{reader.left:,} bytes are left over from byte {reader.place:,} on")
    return NodeFile(start, end, workers, reader.problems)


def _block_counts(reader: "_Reader", *, master: bool) -> Iterator[int]:
    """Yield the number of blocks that follow; the next one stands behind these blocks."""
    yield 1
    if not master:
        yield reader.byte("number of load workers")
        yield reader.byte("number of evaluation pipelines") * reader.byte("length of a pipeline")
        yield reader.byte("number of save workers")


def _worker(reader: "_Reader") -> ScannerWorker:
    start = reader.place
    node = reader.long("node")
    kind, tag = reader.text("kind"), reader.text("tag")
    number = reader.long("worker's number")
    names = _names(reader)
    count = reader.count("intervals", INTERVAL.itemsize)
    place = reader.take(count * INTERVAL.itemsize, "intervals")
    intervals = np.frombuffer(reader.content, INTERVAL, count, place)
    counters = _counters(reader, f"block at byte {start:,}")
    return ScannerWorker(node, kind, tag, number, names, intervals, counters)


def _names(reader: "_Reader") -> Mapping[int, str]:
    """Return the name of each key; keys that several names share get all of these."""
    found: dict[int, list[str]] = defaultdict(list)
    start = reader.place
    count = reader.count("keys", _LEAST_KEY_BYTES)
    for _ in range(count):
        name = reader.text("key")
        found[reader.byte("key's number")].append(name)
    shared = sum(len(names) > 1 for names in found.values())
    if shared:
        reader.problems.append(
            f"{count:,} kinds of intervals at byte {start:,} share {len(found):,} numbers; those "
            f"of {shared:,} cannot be told apart and keep all their names"
        )
    return {key: _together(names) for key, names in found.items()}


def _together(names: Sequence[str]) -> str:
    more = f" or {len(names) - _TOLD_NAMES:,} more" if len(names) > _TOLD_NAMES else ""
    return " or ".join(names[:_TOLD_NAMES]) + more


def _counters(reader: "_Reader", where: str) -> Mapping[str, int]:
    start = reader.place
    count = reader.long("number of counters")
    if count > MOST_COUNTERS:
        reader.problems.append(
            f"{where}: {count:,} counters announced at byte {start:,}, taken for none"
        )
        return {}
    reader.check(count, _LEAST_COUNTER_BYTES, "counters", start)
    return {reader.text("counter"): reader.long("counter") for _ in range(count)}


class _Reader:
    """Takes values off a file, from front to back."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0
        self.problems: list[str] = []

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self.content) - self.place

    def take(self, size: int, what: str) -> int:
        """Go on behind the next bytes; return where they begin."""
        if size > self.left:
            raise FormatError(f"cut off at byte {len(self.content):,}, within the {what}")
        self.place += size
        return self.place - size

    def long(self, what: str) -> int:
        """Take an integer of 8 bytes."""
        return int(_LONG.unpack_from(self.content, self.take(_LONG.size, what))[0])

    def byte(self, what: str) -> int:
        """Take an integer of one byte."""
        return self.content[self.take(1, what)]

    def text(self, what: str) -> str:
        """Take a text that ends with a zero; what is no UTF-8 is read byte by byte."""
        end = self.content.find(b"\0", self.place)
        if end < 0:
            raise FormatError(f"the {what} at byte {self.place:,} has no end")
        raw = self.content[self.place : end]
        start = self.take(end + 1 - self.place, what)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.problems.append(f"the {what} at byte {start:,} is no UTF-8; read as Latin-1")
            return raw.decode("latin-1")

    def count(self, what: str, least_bytes: int) -> int:
        """Take the number of things that follow, of so many bytes each at least."""
        start = self.place
        number = self.long(f"number of {what}")
        self.check(number, least_bytes, what, start)
        return number

    def check(self, number: int, least_bytes: int, what: str, start: int) -> None:
        """Refuse a number of things that there cannot be."""
        if number < 0:
            raise FormatError(f"{number:,} {what} are announced at byte {start:,}")
        if number * least_bytes > self.left:
            raise FormatError(
                f"{number:,} {what} are announced at byte {start:,}, and {self.left:,} bytes left"
            )
