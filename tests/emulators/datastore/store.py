"""What is stored: entities by kind and key, and the file that keeps them when the server is killed.

The file has a record for each commit: its length, its checksum and the request. A record that a
kill cut short is dropped.
"""

import struct
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.emulators.datastore.protocol import CommitRequest, Message

_HEAD = struct.Struct("<QI")


class Place(NamedTuple):
    """Where the entities of a kind are; all but the kind may be empty, for the default."""

    project: str
    database: str
    namespace: str
    kind: str


class Row(NamedTuple):
    """One entity as it is stored.

    Args:
        version: Microseconds since the epoch, when it was written.
    """

    entity: Message
    version: int


class Store:
    """All entities. Not for several threads at once.

    Args:
        file: Keeps the commits; None keeps them in memory alone.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.version = 0
        self._kinds: dict[Place, dict[bytes, Row]] = defaultdict(dict)
        self._id = 0
        self._journal = None
        if file:
            # Unbuffered, so that a kill -9 loses nothing.
            self._journal = file.open("ab", buffering=0)
            whole = 0
            for record, whole in _records(file.read_bytes()):  # noqa: B007 - the last one is used
                self._apply(CommitRequest.FromString(record))
            self._journal.truncate(whole)

    def kind(self, place: Place) -> dict[bytes, Row]:
        """Return the entities of a kind by their keys' bytes."""
        return self._kinds[place]

    def found(self, key: Message) -> Row | None:
        """Return what is stored under a key."""
        return self._kinds[place_of(key)].get(key.SerializeToString())

    def new_id(self) -> int:
        """Return an id that nobody has."""
        self._id = max(self._id + 1, time.time_ns() // 1000)
        return self._id

    def commit(self, request: Message, *, dies: bool = False) -> None:
        """Do all of a commit whose keys are complete.

        Args:
            dies: Write the first half of its record only, as if killed meanwhile.
        """
        if self._journal:
            content = request.SerializeToString()
            record = _HEAD.pack(len(content), zlib.crc32(content)) + content
            self._journal.write(record[: len(record) // 2] if dies else record)
        if not dies:
            self._apply(request)

    def clear(self) -> None:
        """Forget all entities."""
        self.version += 1
        self._kinds.clear()
        if self._journal:
            self._journal.truncate(0)

    def _apply(self, request: Message) -> None:
        self.version = max(self.version + 1, time.time_ns() // 1000)
        for mutation in request.mutations:
            if mutation.WhichOneof("operation") == "delete":
                self._kinds[place_of(mutation.delete)].pop(
                    mutation.delete.SerializeToString(), None
                )
            else:
                entity = mutation.upsert
                identity = entity.key.SerializeToString()
                self._kinds[place_of(entity.key)][identity] = Row(entity, self.version)


def place_of(key: Message) -> Place:
    """Return where a key's entity is."""
    where = key.partition_id
    return Place(where.project_id, where.database_id, where.namespace_id, key.path[-1].kind)


def _records(content: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the whole records and where each ends."""
    start = 0
    while len(content) >= start + _HEAD.size:
        length, checksum = _HEAD.unpack_from(content, start)
        end = start + _HEAD.size + length
        record = content[start + _HEAD.size : end]
        if len(record) < length or zlib.crc32(record) != checksum:
            return
        yield record, end
        start = end
