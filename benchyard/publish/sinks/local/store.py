"""The file of the local store: its tables, opening and making it, and what is wrong with it.

``timings`` is ordered by block, entry and document, where a block is so many consecutive documents
of a test. Ordered by document alone, a document is written to few pages, and one entry is read from
as many places as there are documents; ordered by entry alone, it is the other way round. Blocks of
16 cost writing next to nothing, and reading then takes a sixteenth of the places.
"""

import os
import sqlite3
import stat
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchyard.core import database
from benchyard.core.errors import InputError, SinkUnavailableError
from benchyard.core.files import shown
from benchyard.core.places import home
from benchyard.publish.claims import make_folder

#: Documents of a test whose timings lie together.
BLOCK = 16

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

#: ``number``: how many documents of its test were there before. ``info``: its JSON, zlib.
#: ``ordinal``: how many entries of this name are before it in the document.
#: ``timing``: seconds; null is NaN, since SQLite has none.
#: ``host``, ``subject`` (digest) and ``commits``: what was measured, in short; empty if unknown.
#: ``whole``: all of it, as JSON.
#: ``suspect``: why a timing is not to be trusted; null is right.
_SCRIPT = """
CREATE TABLE IF NOT EXISTS test_names (id INTEGER PRIMARY KEY, test TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS entry_names (
    id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES test_names,
    entry TEXT NOT NULL,
    UNIQUE (test_id, entry)
);
CREATE TABLE IF NOT EXISTS origins (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    subject TEXT NOT NULL,
    commits TEXT NOT NULL,
    whole TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY,
    test_id INTEGER NOT NULL REFERENCES test_names,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    identity BLOB NOT NULL UNIQUE,
    info BLOB NOT NULL,
    origin INTEGER NOT NULL REFERENCES origins,
    UNIQUE (test_id, number)
);
CREATE INDEX IF NOT EXISTS documents_by_start ON documents (test_id, start, number);
CREATE TABLE IF NOT EXISTS timings (
    block INTEGER NOT NULL,
    entry_id INTEGER NOT NULL REFERENCES entry_names,
    number INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    timing REAL,
    suspect TEXT,
    PRIMARY KEY (block, entry_id, number, ordinal)
) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS moments AS
    SELECT id, strftime('%Y-%m-%dT%H:%M:%S', (start - fraction) / 1000000, 'unixepoch')
        || printf('.%06dZ', fraction) AS moment
    FROM (SELECT id, start, (start % 1000000 + 1000000) % 1000000 AS fraction
          FROM documents);
CREATE VIEW IF NOT EXISTS tests AS
    SELECT n.test, m.moment AS start, d.info, o.host, o.subject, o.commits
    FROM documents d
    JOIN test_names n ON n.id = d.test_id
    JOIN moments m ON m.id = d.id
    JOIN origins o ON o.id = d.origin;
CREATE VIEW IF NOT EXISTS entries AS
    SELECT n.test, e.entry, m.moment AS start, t.timing, o.host, o.subject, o.commits,
        t.suspect
    FROM timings t
    JOIN entry_names e ON e.id = t.entry_id
    JOIN test_names n ON n.id = e.test_id
    JOIN documents d ON d.test_id = e.test_id AND d.number = t.number
    JOIN moments m ON m.id = d.id
    JOIN origins o ON o.id = d.origin
"""
#: "byls" in ASCII; the version is raised with each change of the tables.
SCHEMA = database.Schema(application=0x62796C73, version=2, script=_SCRIPT)
#: How long to wait for other writers, in seconds; each needs milliseconds.
PATIENCE = 10.0
#: How long to look whether the store can be used, in seconds: nobody is to wait for that.
_GLANCE = 1.0
#: Pages of the log that are moved into the file at once; more makes writing faster, and the log
#: larger (16 MB).
_CHECKPOINT_PAGES = 4000
#: Memory for pages, in KiB: a block of large documents fits.
_CACHE_KIB = 16384
_MEND = (
    "move it away and call benchyard publish, which fills a new one with what waits; what was "
    "published before lies in the archive"
)
_DAMAGED = f"the local store is damaged; {_MEND}"
#: What reading a damaged store raises: SQLite gives back a value that is not what we have stored.
_DAMAGES = (ValueError, TypeError, LookupError, OverflowError)
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full; make room and publish again",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: "this is no SQLite database; move it away, or name another file",
    sqlite3.SQLITE_READONLY: "the local store cannot be written to; give yourself the right to, "
    "or name another file",
    sqlite3.SQLITE_CANTOPEN: "the local store cannot be opened; look at the rights of the file "
    "and of its folder",
}


def _problem(connection: sqlite3.Connection) -> str | None:
    """Return why the tables of this file cannot be used; None if they can, or it has none."""
    application, version = database.marks(connection) or (SCHEMA.application, SCHEMA.version)
    if application != SCHEMA.application:
        return "is a database, but no local store of Benchyard; name another file"
    if version != SCHEMA.version:
        return (
            f"is a local store of version {version}, and this Benchyard knows version "
            f"{SCHEMA.version}; use the Benchyard that made it, or name another file"
        )
    return None


def microseconds(moment: datetime) -> int:
    """Return a moment as microseconds since 1970; one without an offset is taken as UTC."""
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def moment_of(start: int) -> datetime:
    """Return a moment from its microseconds since 1970, UTC."""
    return _EPOCH + timedelta(0, 0, start)  # by position: this is done for each timing


def file_of(detail: str) -> Path:
    """Return the file that ``local:DETAIL`` names; the usual one for an empty detail."""
    return Path(detail).absolute() if detail else home() / "results.sqlite"


@contextmanager
def explaining(file: Path) -> Generator[None]:
    """Turn errors of SQLite and the system into a sentence that names the file and the remedy.

    All reading and writing of a store happens within this.

    Raises:
        SinkUnavailableError: Instead of their errors.
    """
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise SinkUnavailableError(f"{shown(file)}: {_reason(error)}") from error
    except UnicodeEncodeError:  # of a new document
        raise
    except _DAMAGES as error:  # of what is stored: the new is parsed before
        raise SinkUnavailableError(f"{shown(file)}: {_DAMAGED}") from error
    except OSError as error:
        text = f"{shown(file)}: the local store cannot be used: {error.strerror or error}"
        raise SinkUnavailableError(text) from error


def _reason(error: Exception) -> str:
    if database.is_busy(error):
        return (
            "another program has kept the local store locked for too long; call benchyard publish "
            "when it is done"
        )
    general = f"the local store does not work ({error}); {_MEND}"
    return _REASONS.get(database.kind_of(error), general)


def connect_to_write(file: Path) -> sqlite3.Connection:
    """Open the store, or make it; every commit is synced to disk.

    Raises:
        SinkUnavailableError: If that is not possible, or the file is no store of ours.
    """
    with explaining(file):
        make_folder(file.parent)
        _refuse_others(file)
        with database.closed_on_failure(database.connect(file, PATIENCE)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            if database.marks(connection) is None:
                database.write_ahead(connection, PATIENCE)
                SCHEMA.create(connection)
            if wrong := _problem(connection):
                raise SinkUnavailableError(f"{shown(file)} {wrong}")
        return connection


def _refuse_others(file: Path) -> None:
    """Refuse what is no file: opening a pipe would wait for a writer without end."""
    for part in database.PARTS:
        beside = Path(f"{os.path.realpath(file)}{part}")
        try:
            is_file = stat.S_ISREG(beside.stat().st_mode)
        except FileNotFoundError:
            continue
        if not is_file:
            raise SinkUnavailableError(
                f"{shown(beside)}: there is something else than a file where the local store has "
                f"one; {_MEND}"
            )


def connect_to_read(file: Path) -> sqlite3.Connection:
    """Open the store; nothing in it is changed.

    Raises:
        InputError: If there is no such file, or it is no store of ours.
        SinkUnavailableError: If it cannot be read.
    """
    with explaining(file):
        if not file.exists():
            raise InputError(f"there is no local store {shown(file)} yet; publishing makes it")
        with database.closed_on_failure(_readable(file, PATIENCE)) as connection:
            if wrong := _problem(connection):
                raise InputError(f"{shown(file)} {wrong}")
            if database.marks(connection) is None:
                raise InputError(f"{shown(file)} is empty: nothing was published to it yet")
        return connection


def _readable(file: Path, patience: float) -> sqlite3.Connection:
    _refuse_others(file)
    try:
        with database.closed_on_failure(database.connect(file, patience, "ro")) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        if database.kind_of(error) != sqlite3.SQLITE_CANTOPEN or _has_log(file):
            raise
        # Reading needs a file beside the store, to agree with writers (SQLite, "Write-Ahead
        # Logging", 5). Where none can be made, on a read-only disk, there are no writers.
        return database.connect(file, patience, "ro&immutable=1")
    return connection


def _has_log(file: Path) -> bool:
    log = Path(f"{file.resolve()}-wal")  # SQLite puts it beside what a link leads to
    return log.exists() and log.stat().st_size > 0


def check(file: Path) -> None:
    """Check whether documents can be written to the store; write nothing.

    Raises:
        SinkUnavailableError: If they cannot.
    """
    with explaining(file):
        if file.exists():
            with closing(_readable(file, _GLANCE)) as connection:
                if wrong := _problem(connection):
                    raise SinkUnavailableError(f"{shown(file)} {wrong}")
        nearest = next(path for path in (file, *file.parents) if path.exists())
    if nearest != file and not nearest.is_dir():
        text = f"{shown(file)}: {shown(nearest)} is no folder; name another file"
        raise SinkUnavailableError(text)
    folder = file.parent if nearest == file else nearest
    if not all(os.access(path, os.W_OK) for path in (nearest, folder)):
        raise SinkUnavailableError(f"{shown(file)} cannot be written to; name another file")
