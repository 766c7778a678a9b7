"""The entities, in memory: by key, and by kind with the indexes that queries asked for."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.emulators.datastore.keys import Partition
from tests.emulators.datastore.ordering import Row, Signature, Sorted


@dataclass(slots=True)
class Shelf:
    """All entities of one kind in one partition.

    Args:
        version: Of the last commit that touched one.
    """

    rows: dict[bytes, Row] = field(default_factory=dict[bytes, Row])
    indexes: dict[Signature, Sorted] = field(default_factory=dict[Signature, Sorted])
    version: int = 0

    def index(self, signature: Signature) -> Sorted:
        """Return an index, brought up to date; the first to ask for one pays for it."""
        found = self.indexes.get(signature)
        if found is None or found.is_outgrown(len(self.rows)):
            found = self.indexes[signature] = Sorted(signature, self.rows.values())
        return found.refreshed()


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit does to one key.

    Args:
        shelf: Where it belongs.
        raw: The entity's bytes; None to delete it.
    """

    identity: bytes
    shelf: tuple[Partition, str]
    raw: bytes | None


class Store:
    """Everything that is stored. Not for several threads at once."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Row] = {}
        self.shelves: dict[tuple[Partition, str], Shelf] = {}
        self.version = 0
        self._next_id = 0

    def shelf(self, partition: Partition, kind: str) -> Shelf:
        """Return all of a kind."""
        return self.shelves.setdefault((partition, kind), Shelf())

    def kinds(self, partition: Partition) -> list[str]:
        """Return the kinds of a partition that have entities, sorted."""
        found = self.shelves.items()
        return sorted(kind for (where, kind), shelf in found if where == partition and shelf.rows)

    def namespaces(self, partition: Partition) -> list[str]:
        """Return the namespaces of a partition's database that have entities, sorted."""
        wanted = partition[:2]
        found = {
            where.namespace
            for (where, _), shelf in self.shelves.items()
            if shelf.rows and where[:2] == wanted
        }
        return sorted(found)

    def new_version(self) -> int:
        """Return the next version: the microseconds of now, or one more than the last one."""
        self.version = max(self.version + 1, time.time_ns() // 1000)
        return self.version

    def new_id(self) -> int:
        """Return an id that nobody has; scattered, as the real ones are, but always the same."""
        self._next_id += 1
        return 1 + self._next_id * 0x9E37_79B9_7F4A_7C15 % (1 << 53)

    def apply(self, changes: Sequence[Change], version: int) -> None:
        """Do all of a commit's changes."""
        self.version = max(self.version, version)
        for change in changes:
            if change.raw is None:
                self._remove(change, version)
            else:
                self._put(change, change.raw, version)

    def clear(self) -> None:
        """Forget all entities."""
        self.rows.clear()
        self.shelves.clear()

    def current(self, identities: Iterable[bytes]) -> dict[bytes, int]:
        """Return the versions of what is stored under keys; 0 for nothing."""
        rows = self.rows
        return {each: rows[each].version if each in rows else 0 for each in identities}

    def _put(self, change: Change, raw: bytes, version: int) -> None:
        shelf = self.shelves.get(change.shelf) or self.shelf(*change.shelf)
        shelf.version = version
        before = self.rows.get(change.identity)
        row = Row(change.identity, raw, before.created if before else version, version)
        self.rows[change.identity] = shelf.rows[change.identity] = row
        for index in shelf.indexes.values():
            index.pending.append(row)
        if before:
            _retire(before, shelf)

    def _remove(self, change: Change, version: int) -> None:
        before = self.rows.pop(change.identity, None)
        if before is None:
            return
        shelf = self.shelves[change.shelf]
        shelf.version = version
        del shelf.rows[change.identity]
        _retire(before, shelf)


def _retire(row: Row, shelf: Shelf) -> None:
    row.alive = False
    for index in shelf.indexes.values():
        index.has_dead = True
