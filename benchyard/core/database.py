"""SQLite files: opened, made, changed in transactions, removed; the same for all of them."""

import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

#: What lies beside a database and belongs to it, by the end of its name.
PARTS = ("", "-wal", "-shm", "-journal")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a file.

    Args:
        application: Tells our files from other programs'. Source: SQLite, "Database File Format",
            1.3.17, application ID.
        version: Another one for each other form of the tables; 31 bits.
        script: The statements that make them.
    """

    application: int
    version: int
    script: str

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the tables, all or none; other processes may do the same at once."""
        marks = f"PRAGMA application_id = {self.application}; PRAGMA user_version = {self.version}"
        connection.executescript(f"BEGIN IMMEDIATE; {self.script}; {marks}; COMMIT")


def connect(file: Path, patience: float, mode: str = "rwc") -> sqlite3.Connection:
    """Open a database in autocommit mode; any thread may use the connection.

    Args:
        file: Its path; characters with a meaning in URIs and invalid UTF-8 are escaped.
        patience: Seconds to wait for other writers.
        mode: Of SQLite's URIs: ``rwc``, ``ro``.
    """
    return sqlite3.connect(
        f"file:{quote(os.fsencode(file.absolute()))}?mode={mode}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )


def write_ahead(connection: sqlite3.Connection, patience: float) -> None:
    """Turn the write-ahead log on; wait while another process does.

    SQLite does not wait here by itself (sqlite3_busy_handler: it may return SQLITE_BUSY at once
    where waiting could lead to a deadlock).
    """
    end = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > end:
                raise
            time.sleep(_POLL_SECONDS)
        else:
            return


def marks(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return whose tables a file has, and their version; None if it is empty."""
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    return (application, version) if application or version or tables else None


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Generator[None]:
    """Do all that the block does, or nothing of it; wait for other writers before it."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk has undone everything already
            connection.execute("ROLLBACK")
        raise


@contextmanager
def closed_on_failure(connection: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    """Close a connection if the block fails."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def kind_of(error: Exception) -> int:
    """Return SQLite's primary code of an error; 0 if there is none.

    Source: SQLite, "Result and Error Codes", 2: the upper bits are details.
    """
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_busy(error: Exception) -> bool:
    """Tell whether another program kept the file locked for too long."""
    return kind_of(error) in _BUSY


def is_damage(error: Exception) -> bool:
    """Tell whether an error says that a file is damaged, or no database."""
    return kind_of(error) in _DAMAGED


def inode(file: Path) -> tuple[int, int]:
    """Return what tells a file from another of its name; zeros if there is none."""
    try:
        status = file.stat()
    except OSError:
        return (0, 0)
    return status.st_dev, status.st_ino


def remove(file: Path) -> None:
    """Remove a database with its log and shared-memory files."""
    for part in PARTS:
        file.with_name(file.name + part).unlink(missing_ok=True)
