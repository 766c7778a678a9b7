"""Publishing to the local store: each document in one transaction."""

import json
import sqlite3
import threading
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchyard.core import database
from benchyard.core.errors import DocumentRejectedError
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.sinks.local.store import (
    BLOCK,
    check,
    connect_to_write,
    explaining,
    microseconds,
)
from benchyard.publish.testresults import BenchmarkEntry, Document, parse
from benchyard.publish.testresults.document import subject_in, suspect_in
from benchyard.results.subject import Subject, commit_of

#: Of zlib, 1 to 9: a higher one takes twice the time for a tenth of the size.
_LEVEL = 1


def _put(connection: sqlite3.Connection, document: Document, info: bytes) -> None:
    """Write a document and its entries, in the transaction that is open.

    A document that is there already, by its identity, is not written again.

    Args:
        connection: To the store.
        document: The document.
        info: Its JSON, compressed.
    """
    execute = connection.execute
    identity = bytes.fromhex(document.identity)
    if execute("SELECT 1 FROM documents WHERE identity = ?", (identity,)).fetchone():
        return
    name = (document.test,)
    execute("INSERT OR IGNORE INTO test_names (test) VALUES (?)", name)
    [test] = execute("SELECT id FROM test_names WHERE test = ?", name).fetchone()
    [number] = execute(
        "SELECT ifnull(max(number) + 1, 0) FROM documents WHERE test_id = ?", (test,)
    ).fetchone()
    origin, start = _origin(connection, subject_in(document)), microseconds(document.started_at)
    execute(
        "INSERT INTO documents (test_id, number, start, identity, info, origin) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (test, number, start, identity, info, origin),
    )
    _put_timings(connection, test, number, document.entries)


def _put_timings(
    connection: sqlite3.Connection, test: int, number: int, entries: Sequence[BenchmarkEntry]
) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO entry_names (test_id, entry) VALUES (?, ?)",
        ((test, entry.name) for entry in entries),
    )
    ordinals: Counter[str] = Counter()
    rows: list[tuple[object, ...]] = []
    for entry in entries:
        suspect = suspect_in(entry.body) or None
        times = (number, ordinals[entry.name], entry.wall_time, suspect)
        rows.append((number // BLOCK, test, entry.name, *times))
        ordinals[entry.name] += 1
    connection.executemany(
        "INSERT INTO timings (block, entry_id, number, ordinal, timing, suspect) VALUES "
        "(?, (SELECT id FROM entry_names WHERE test_id = ? AND entry = ?), ?, ?, ?, ?)",
        rows,
    )


def _origin(connection: sqlite3.Connection, subject: Subject) -> int:
    # ASCII: a name in it may be no Unicode.
    whole = json.dumps(subject, sort_keys=True)
    told = (subject.get("host"), subject.get("digest"), commit_of(subject))
    short = [one if isinstance(one, str) else "" for one in told]
    connection.execute(
        "INSERT OR IGNORE INTO origins (host, subject, commits, whole) VALUES (?, ?, ?, ?)",
        (*short, whole),
    )
    [number] = connection.execute("SELECT id FROM origins WHERE whole = ?", (whole,)).fetchone()
    return number


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
        self._open: sqlite3.Connection | None = None
        self._inode = (0, 0)

    def check(self) -> None:
        """Check whether the file can be written to, or made; see ``contract.Sink``."""
        check(self._file)

    def store(self, spooled: Spooled) -> None:
        """Write a document; when this returns, it is on disk. See ``contract.Sink``."""
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
            # Somebody may have moved the file away: what is written to the old one would be lost.
            if self._open and self._inode != database.inode(self._file):
                self._drop()
            if self._open is None:
                self._open = connect_to_write(self._file)
                self._inode = database.inode(self._file)
            with explaining(self._file), database.transaction(self._open):
                _put(self._open, document, info)
        except BaseException:
            self._drop()
            raise

    def _drop(self) -> None:
        if self._open:
            self._open.close()
        self._open = None
