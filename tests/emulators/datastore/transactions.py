"""Transactions: what each has read, and whether it is still so when it commits."""

import itertools
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.emulators.datastore.messages import Message
from tests.emulators.datastore.ordering import Row
from tests.emulators.datastore.refusals import aborted, invalid
from tests.emulators.datastore.store import Shelf, Store

#: Source: https://cloud.google.com/datastore/docs/concepts/limits
MAX_SECONDS = 270.0
MAX_IDLE_SECONDS = 60.0


@dataclass(slots=True)
class Transaction:
    """One transaction.

    Args:
        snapshot: The store's version when it began.
        read: The versions of the entities that it read, by identity; 0 for one that was not.
        queried: The kinds that it queried, which must not have changed either.
    """

    read_only: bool
    snapshot: int
    began: float
    used: float
    read: dict[bytes, int] = field(default_factory=dict[bytes, int])
    queried: list[Shelf] = field(default_factory=list[Shelf])

    def saw(self, identity: bytes, row: Row | None) -> None:
        """Remember what was read; the first time counts."""
        self.read.setdefault(identity, row.version if row else 0)

    def saw_all(self, rows: Iterable[Row]) -> None:
        """Remember what a query found."""
        for row in rows:
            self.saw(row.identity, row)

    def is_undone(self, store: Store) -> bool:
        """Tell whether something that it has read was changed since."""
        if self.read != store.current(self.read):
            return True
        latest: Iterable[int] = (*self.read.values(), *(each.version for each in self.queried))
        return any(version > self.snapshot for version in latest)


class Transactions:
    """All open transactions of a server. Not for several threads at once."""

    def __init__(self) -> None:
        self._open: dict[bytes, Transaction] = {}
        self._numbers = itertools.count(1)

    def begin(self, options: Message, store: Store) -> bytes:
        """Open one and return its name."""
        name = f"transaction-{next(self._numbers)}-{time.time_ns()}".encode()
        began = time.monotonic()
        read_only = options.WhichOneof("mode") == "read_only"
        self._open[name] = Transaction(read_only, store.version, began, began)
        return name

    def get(self, name: bytes) -> Transaction:
        """Return an open one.

        Raises:
            RefusedError: If it is over, or was open for too long.
        """
        found = self._open.get(name)
        now = time.monotonic()
        if found is None or now - found.began > MAX_SECONDS or now - found.used > MAX_IDLE_SECONDS:
            self._open.pop(name, None)
            invalid("The referenced transaction has expired or is no longer valid.")
        found.used = now
        return found

    def end(self, name: bytes) -> Transaction:
        """Return an open one and close it."""
        found = self.get(name)
        del self._open[name]
        return found

    def commit(self, name: bytes, store: Store, *, writes: bool) -> None:
        """Close one that is to be committed.

        Args:
            writes: Whether it changes something.

        Raises:
            RefusedError: If what it has read was changed since.
        """
        transaction = self.end(name)
        if writes and transaction.read_only:
            invalid("Cannot modify entities in a read-only transaction.")
        if transaction.is_undone(store):
            aborted()
