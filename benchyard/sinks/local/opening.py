"""The store's file: opened, made, and what is wrong with it in a sentence."""

import os
import sqlite3
import time
import zlib
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from benchyard.errors import DocumentRejectedError, InputError, SinkUnavailableError
from benchyard.files import shown, sync_folder
from benchyard.places import local_store
from benchyard.sinks.local.schema import VERSION, create, is_empty, problem, upgrade, version_of

#: How long to wait for other writers, in seconds; each needs milliseconds.
PATIENCE = 30.0
#: Pages of the log that are moved into the file at once; more makes writing faster, and the log
#: larger (16 MB).
_CHECKPOINT_PAGES = 4000
#: Memory for pages, in KiB: a block of large documents fits.
_CACHE_KIB = 16384

_DAMAGED = "the local store is damaged; move it away and publish again what lies in the archive"
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full; make room and publish again",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: "this is no SQLite database; move it away, or name another file",
    sqlite3.SQLITE_READONLY: "the local store cannot be written to; give yourself the right to, "
    "or name another file",
    sqlite3.SQLITE_CANTOPEN: "the local store cannot be opened; look at the rights of the file "
    "and of its folder",
}
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def file_of(detail: str) -> Path:
    """Return the file that ``local:DETAIL`` names; the usual one for an empty detail."""
    return Path(detail).absolute() if detail else local_store()


@contextmanager
def explaining(file: Path) -> Generator[None]:
    """Turn what SQLite and the system say into a sentence that names the file.

    Raises:
        SinkUnavailableError: Instead of their errors.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise SinkUnavailableError(f"{shown(file)}: {_reason(error)}") from error
    except (zlib.error, DocumentRejectedError) as error:  # of what is stored: the new is parsed
        raise SinkUnavailableError(f"{shown(file)}: {_DAMAGED}") from error
    except OSError as error:
        text = f"{shown(file)}: the local store cannot be used: {error.strerror or error}"
        raise SinkUnavailableError(text) from error


def _reason(error: sqlite3.Error) -> str:
    # The lower eight bits are the kind, the others details (SQLite, "Result and Error Codes", 2).
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if kind in _BUSY:
        return (
            f"another program has kept the local store locked for {PATIENCE:.0f} s; "
            "publish again when it is done"
        )
    return _REASONS.get(kind, f"the local store does not work: {error}")


def connect_to_write(file: Path) -> sqlite3.Connection:
    """Open the store, made before if it is not there; every commit is on disk.

    Raises:
        SinkUnavailableError: If that is not possible, or the file is no store of ours.
    """
    with explaining(file):
        _make_folder(file.parent)
        connection = _connect(file, "rwc")
        try:
            wrong = _prepare(connection)
        except BaseException:
            connection.close()
            raise
    if wrong:
        connection.close()
        raise SinkUnavailableError(f"{shown(file)} {wrong}")
    return connection


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    # A name may hold what a URI gives a meaning to, and bytes that are no text.
    uri = f"file:{quote(os.fsencode(file))}?mode={mode}"
    return sqlite3.connect(
        uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )


def _prepare(connection: sqlite3.Connection) -> str | None:
    """Make the tables if the file is new; say why it cannot be used, or nothing if it can."""
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    if is_empty(connection):
        _write_ahead(connection)
        with writing(connection):
            if is_empty(connection):
                create(connection)
    wrong = problem(connection)
    if wrong is None and version_of(connection) < VERSION:
        with writing(connection):
            if version_of(connection) < VERSION:  # else another program was faster
                upgrade(connection)
    return wrong


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn the write-ahead log on; whoever else does so at this moment is waited for.

    SQLite does not wait here by itself (sqlite3_busy_handler: it may return SQLITE_BUSY at once
    where waiting could lead to a deadlock).
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def writing(connection: sqlite3.Connection) -> Generator[None]:
    """Make one transaction of the block; the right to write is waited for first."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk has undone everything already
            connection.execute("ROLLBACK")
        raise


def connect_to_read(file: Path) -> sqlite3.Connection:
    """Open the store; nothing in it is changed.

    Raises:
        InputError: If there is no such file, or it is no store of ours.
        SinkUnavailableError: If it cannot be read.
    """
    with explaining(file):
        if not file.exists():
            raise InputError(f"there is no local store {shown(file)} yet; publishing makes it")
        connection = _readable(file)
        try:
            wrong = _unusable(connection)
        except sqlite3.Error:
            connection.close()
            raise
    if wrong:
        connection.close()
        raise InputError(f"{shown(file)} {wrong}")
    return connection


def _readable(file: Path) -> sqlite3.Connection:
    connection = _connect(file, "ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN or _has_log(file):
            raise
        # Reading needs a file beside the store, to agree with writers (SQLite, "Write-Ahead
        # Logging", 5). Where none can be made, on a read-only disk, there are no writers.
        return _connect(file, "ro&immutable=1")
    except BaseException:
        connection.close()
        raise
    return connection


def _has_log(file: Path) -> bool:
    log = Path(f"{file.resolve()}-wal")  # SQLite puts it beside what a link leads to
    return log.exists() and log.stat().st_size > 0


def _unusable(connection: sqlite3.Connection) -> str | None:
    if is_empty(connection):
        return "is empty: nothing was published to it yet"
    return problem(connection)


def check(file: Path) -> None:
    """Look whether documents can be written to the store, and write nothing.

    Raises:
        InputError: If they cannot.
    """
    try:
        if file.exists():
            with explaining(file), closing(_readable(file)) as connection:
                wrong = None if is_empty(connection) else problem(connection)
            if wrong:
                raise InputError(f"{shown(file)} {wrong}")
        nearest = next(path for path in (file, *file.parents) if path.exists())
    except SinkUnavailableError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{shown(file)}: {error.strerror}; name another file") from error
    if nearest != file and not nearest.is_dir():
        raise InputError(f"{shown(file)}: {shown(nearest)} is no folder; name another file")
    if not all(os.access(path, os.W_OK) for path in {nearest, _folder_of(file, nearest)}):
        raise InputError(f"{shown(file)} cannot be written to; name another file")


def _folder_of(file: Path, nearest: Path) -> Path:
    return file.parent if nearest == file else nearest
