"""What keeps the entities of a server that is killed: a file that each commit is added to, whole.

A record is its length, its checksum and its content; one that a kill cut short is not there.
"""

import marshal
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.emulators.datastore.keys import Partition
from tests.emulators.datastore.store import Change, Store

_HEAD = struct.Struct("<QI")


class Journal:
    """A file that remembers commits. It is written unbuffered, so a kill -9 loses none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        kept = _whole(path)
        with path.open("ab") as file:
            file.truncate(kept)
        self._file = path.open("ab", buffering=0)

    def replay(self, store: Store) -> None:
        """Do all commits again."""
        for version, changes in _records(self._path.read_bytes()):
            store.apply(changes, version)

    def add(self, changes: Sequence[Change], version: int, *, half: bool = False) -> None:
        """Add a commit.

        Args:
            half: Whether to write only its first half, as one who is killed meanwhile.
        """
        done = [(each.identity, *map(_plain, each.shelf), each.raw) for each in changes]
        content = marshal.dumps((version, done))
        record = _HEAD.pack(len(content), zlib.crc32(content)) + content
        self._file.write(record[: len(record) // 2] if half else record)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def clear(self) -> None:
        """Forget all commits."""
        self._file.truncate(0)


def _plain(part: Partition | str) -> tuple[str, ...] | str:
    """Return what marshal takes, which knows no named tuples."""
    return part if isinstance(part, str) else tuple(part)


def _records(content: bytes) -> Iterator[tuple[int, list[Change]]]:
    for start, end in _places(content):
        version, changes = marshal.loads(content[start:end])  # noqa: S302 - written by ourselves
        yield (
            version,
            [Change(i, (Partition(*where), kind), raw) for i, where, kind, raw in changes],
        )


def _whole(path: Path) -> int:
    """Return how many bytes of a journal are whole records."""
    content = path.read_bytes() if path.exists() else b""
    return max((end for _, end in _places(content)), default=0)


def _places(content: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while len(content) >= start + _HEAD.size:
        length, checksum = _HEAD.unpack_from(content, start)
        start, end = start + _HEAD.size, start + _HEAD.size + length
        if len(content) < end or zlib.crc32(content[start:end]) != checksum:
            return
        yield start, end
        start = end
