"""Publishing to the local store: each document in one transaction."""

import json
import sqlite3
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchyard.core import database
from benchyard.core.errors import DocumentRejectedError
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.sinks.local.connection import (
    check,
    connect_to_write,
    explaining,
    file_of,
)
from benchyard.publish.sinks.local.schema import BLOCK, microseconds
from benchyard.publish.testresults import BenchmarkEntry, Document, parse
from benchyard.publish.testresults.document import subject_in, suspect_in
from benchyard.results.subject import Subject, commit_of

#: Of zlib, 1 to 9: a higher one takes twice the time for a tenth of the size.
_LEVEL = 1
#: Names of entries that are remembered at most.
_REMEMBERED = 200_000


def _ordinals(entries: Iterable[BenchmarkEntry]) -> Iterator[int]:
    """Yield the ordinal of each entry among those of the same name."""
    seen: Counter[str] = Counter()
    for entry in entries:
        yield seen[entry.name]
        seen[entry.name] += 1


def _suspect(entry: BenchmarkEntry) -> str | None:
    return suspect_in(entry.body) or None


class TableWriter:
    """Writes through one connection, and caches the ids of names.

    After a failed transaction it must not be used again: it may have cached ids that are in no
    table.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tests: dict[str, int] = {}
        self._entries: dict[int, dict[str, int]] = {}

    def put(self, document: Document, info: bytes) -> None:
        """Write a document and its entries, in the transaction that is open.

        A document that is there already, by its identity, is not written again.

        Args:
            document: The document.
            info: Its JSON, compressed.
        """
        identity = bytes.fromhex(document.identity)
        there = self._connection.execute("SELECT 1 FROM documents WHERE identity = ?", (identity,))
        if there.fetchone():
            return
        test = self._test(document.test)
        [number] = self._connection.execute(
            "SELECT ifnull(max(number) + 1, 0) FROM documents WHERE test_id = ?", (test,)
        ).fetchone()
        start = microseconds(document.started_at)
        self._connection.execute(
            "INSERT INTO documents (test_id, number, start, identity, info, origin) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (test, number, start, identity, info, self._origin(subject_in(document))),
        )
        self._put_timings(test, number, document.entries)

    def _put_timings(self, test: int, number: int, entries: Sequence[BenchmarkEntry]) -> None:
        names = self._names(test, {entry.name for entry in entries})
        block = number // BLOCK
        rows = [
            (block, names[entry.name], number, ordinal, entry.wall_time, _suspect(entry))
            for entry, ordinal in zip(entries, _ordinals(entries), strict=True)
        ]
        self._connection.executemany(
            "INSERT INTO timings (block, entry_id, number, ordinal, timing, suspect) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )

    def _origin(self, subject: Subject) -> int:
        # ASCII: a name in it may be no Unicode.
        whole = json.dumps(subject, sort_keys=True)
        told = (subject.get("host"), subject.get("digest"), commit_of(subject))
        short = [one if isinstance(one, str) else "" for one in told]
        self._connection.execute(
            "INSERT OR IGNORE INTO origins (host, subject, commits, whole) VALUES (?, ?, ?, ?)",
            (*short, whole),
        )
        [number] = self._connection.execute(
            "SELECT id FROM origins WHERE whole = ?", (whole,)
        ).fetchone()
        return number

    def _test(self, name: str) -> int:
        if name not in self._tests:
            self._connection.execute("INSERT OR IGNORE INTO test_names (test) VALUES (?)", (name,))
            [self._tests[name]] = self._connection.execute(
                "SELECT id FROM test_names WHERE test = ?", (name,)
            ).fetchone()
        return self._tests[name]

    def _names(self, test: int, wanted: Iterable[str]) -> Mapping[str, int]:
        """Return the ids of a test's entries; make those that are wanted and missing."""
        known = self._entries.get(test)
        if known is None:
            known = self._remember(test)
        new = [(test, name) for name in wanted if name not in known]
        if new:
            self._connection.executemany(
                "INSERT OR IGNORE INTO entry_names (test_id, entry) VALUES (?, ?)", new
            )
            known = self._remember(test)
        return known

    def _remember(self, test: int) -> dict[str, int]:
        rows = self._connection.execute(
            "SELECT entry, id FROM entry_names WHERE test_id = ?", (test,)
        )
        if sum(map(len, self._entries.values())) > _REMEMBERED:
            self._entries.clear()
        self._entries[test] = dict(rows)
        return self._entries[test]


class LocalSink:
    """Writes to one SQLite file; any number of processes and threads may do so at once.

    A document is confirmed when it is on disk. SQLite has one writer at a time, so two threads are
    best: one parses a document while the other writes.
    """

    name = "local"
    kind = DocumentKind.RESULTS
    parallel = 2

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._open: tuple[sqlite3.Connection, TableWriter, tuple[int, int]] | None = None

    @classmethod
    def at(cls, detail: str) -> "LocalSink":
        """Return the sink of ``local:DETAIL``, or of the usual file."""
        return cls(file_of(detail))

    def check(self) -> None:
        """Check whether the file can be written to, or made; see ``contract.Sink``."""
        check(self._file)

    def store(self, spooled: Spooled) -> None:
        """Write a document; when this returns, it is on disk. See ``contract.Sink``."""
        if spooled.kind is not DocumentKind.RESULTS:
            raise DocumentRejectedError("these are events; the local store takes TestResults")
        try:
            document = parse(spooled.content)
            info = zlib.compress(document.info.encode(), _LEVEL)
            with self._lock:
                self._put(document, info)
        except UnicodeEncodeError as error:
            raise DocumentRejectedError(f"a name in it is no Unicode: {error}") from error

    def close(self) -> None:
        """Close the file; the next ``store`` opens it again."""
        with self._lock:
            self._drop()

    def _put(self, document: Document, info: bytes) -> None:
        try:
            connection, writer = self._connected()
            with explaining(self._file), database.transaction(connection):
                writer.put(document, info)
        except BaseException:
            self._drop()
            raise

    def _connected(self) -> tuple[sqlite3.Connection, TableWriter]:
        # Somebody may have moved the file away: what is written to the old one would be lost.
        if self._open and self._open[2] != database.inode(self._file):
            self._drop()
        if self._open is None:
            connection = connect_to_write(self._file)
            self._open = connection, TableWriter(connection), database.inode(self._file)
        return self._open[0], self._open[1]

    def _drop(self) -> None:
        if self._open:
            self._open[0].close()
        self._open = None
