"""Publishing to the local store."""

import os
import sqlite3
import threading
from pathlib import Path

from benchyard.core.errors import DocumentRejectedError
from benchyard.publish.sinks.contract import Kind, Spooled
from benchyard.publish.sinks.local.opening import (
    check,
    connect_to_write,
    explaining,
    file_of,
    writing,
)
from benchyard.publish.sinks.local.writing import Packed, Writer
from benchyard.publish.testresults import parse


class LocalSink:
    """Writes to one SQLite file; any number of processes and threads may do so at once.

    A document is confirmed when it is on disk. SQLite has one writer at a time, so two threads are
    best: one reads its document while the other's is written.
    """

    name = "local"
    kind = Kind.RESULTS
    parallel = 2

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._open: tuple[sqlite3.Connection, Writer, tuple[int, int]] | None = None

    @classmethod
    def at(cls, detail: str) -> "LocalSink":
        """Return the sink of ``local:DETAIL``, or of the usual file."""
        return cls(file_of(detail))

    def check(self) -> None:
        """Look whether the file can be written to, or made; see ``contract.Sink``."""
        check(self._file)

    def store(self, spooled: Spooled) -> None:
        """Write a document; when this returns, it is on disk. See ``contract.Sink``."""
        if spooled.kind is not Kind.RESULTS:
            raise DocumentRejectedError("these are events; the local store takes TestResults")
        try:
            packed = Packed.of(parse(spooled.content))
            with self._lock:
                self._put(packed)
        except UnicodeEncodeError as error:
            raise DocumentRejectedError(f"a name in it is no Unicode: {error}") from error

    def close(self) -> None:
        """Close the file; the next ``store`` opens it again."""
        with self._lock:
            self._drop()

    def _put(self, packed: Packed) -> None:
        try:
            connection, writer = self._connected()
            with explaining(self._file), writing(connection):
                writer.put(packed)
        except BaseException:
            self._drop()
            raise

    def _connected(self) -> tuple[sqlite3.Connection, Writer]:
        # Somebody may have moved the file away: what is written to the old one would be lost.
        if self._open and self._open[2] != _inode(self._file):
            self._drop()
        if self._open is None:
            connection = connect_to_write(self._file)
            self._open = connection, Writer(connection), _inode(self._file)
        return self._open[0], self._open[1]

    def _drop(self) -> None:
        if self._open:
            self._open[0].close()
        self._open = None


def _inode(file: Path) -> tuple[int, int]:
    try:
        found = os.stat(file)  # noqa: PTH116
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino
