"""One index: the entities of a kind in the order of some of their properties, made when asked."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from typing import NamedTuple

from tests.emulators.datastore.messages import Entity, Key, Message
from tests.emulators.datastore.values import encoded, encoded_key, indexed, turned

KEY = "__key__"
_first = itemgetter(0)


@dataclass(slots=True, eq=False)
class Row:
    """One entity as it is stored; a changed one is another row.

    Args:
        identity: Its key's bytes, partition and all.
        raw: Its bytes.
        created: Microseconds since the epoch, as ``version``.
        version: When it was last written; so it grows with every commit.
        alive: Whether it is still what is stored under its key.
    """

    identity: bytes
    raw: bytes
    created: int
    version: int
    alive: bool = True

    def entity(self) -> Message:
        """Return it as a message of its own."""
        return Entity.FromString(self.raw)

    def key(self) -> Message:
        """Return its key."""
        return Key.FromString(self.identity)


class Column(NamedTuple):
    """What an index is sorted by.

    Args:
        name: A property's name, or ``__key__``.
        descending: Whether the largest comes first.
    """

    name: str
    descending: bool = False


class Signature(NamedTuple):
    """Which index.

    Args:
        equal: The properties that queries hold equal to something, first in the index. One that
            is held equal to several values at a time is there as often.
        columns: What it is sorted by after these; the last one is always the key.
    """

    equal: tuple[str, ...]
    columns: tuple[Column, ...]


class Sorted:
    """An index.

    Args:
        rows: What is in it from the start.
    """

    def __init__(self, signature: Signature, rows: Iterable[Row]) -> None:
        self._signature = signature
        self._entries: list[tuple[bytes, Row]] = []
        self.pending: list[Row] = list(rows)
        self.has_dead = False

    def is_outgrown(self, rows: int) -> bool:
        """Tell whether making it anew is less work than keeping it."""
        return len(self.pending) > 1000 + 2 * rows

    def refreshed(self) -> "Sorted":
        """Take in what has changed since the last time."""
        if self.has_dead:
            self._entries = [entry for entry in self._entries if entry[1].alive]
        if self.pending:
            fresh = (entry for row in self.pending if row.alive for entry in self._made(row))
            self._entries.extend(fresh)
            self._entries.sort(key=_first)
        self.pending, self.has_dead = [], False
        return self

    def after(self, place: bytes) -> int:
        """Return the number of the first entry after a place."""
        return bisect_right(self._entries, place, key=_first)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, number: int) -> tuple[bytes, Row]:
        return self._entries[number]

    def _made(self, row: Row) -> Iterator[tuple[bytes, Row]]:
        entity = row.entity()
        values = [values_of(entity, name) for name in self._signature.equal]
        for column in self._signature.columns:
            found = values_of(entity, column.name)
            values.append([turned(each) for each in found] if column.descending else found)
        for combination in product(*values):
            yield b"".join(combination), row


def values_of(entity: Message, name: str) -> list[bytes]:
    """Return a property's values as an index has them; none keeps the entity out of it."""
    if name == KEY:
        return [encoded_key(entity.key)]
    if name not in entity.properties:
        return []
    found = [encoded(value) for value in indexed(entity.properties[name])]
    return list(dict.fromkeys(found)) if len(found) > 1 else found
