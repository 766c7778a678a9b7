"""The tables of the local store.

``timings`` is ordered by block, entry and document, where a block is so many consecutive documents
of a test. Ordered by document alone, a document is written to few pages, and one entry is read from
as many places as there are documents; ordered by entry alone, it is the other way round. Blocks of
16 cost writing next to nothing, and reading then takes a sixteenth of the places.
"""

import sqlite3
import zlib
from datetime import UTC, datetime, timedelta

from benchyard.core import database
from benchyard.publish.testresults import Document, parse

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


def problem(connection: sqlite3.Connection) -> str | None:
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


def document_in(info: bytes) -> Document:
    """Return a stored document.

    Raises:
        zlib.error: If it is damaged; likewise ``DocumentRejectedError``.
    """
    return parse(zlib.decompress(info))
