"""The file that remembers what was found: an SQLite database, made anew whenever it is no use.

Nothing in it is anybody's only copy. Several processes may use one file: readers never wait, and
whoever looks at the folders holds a lock beside it, so that what was seen first is written first.

What many runs share is kept once: their parameters, and their labels (point, tags, versions).
Paths are kept as bytes, since names of files need not be Unicode; folders by their absolute path.
"""

import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Full, LifoQueue
from threading import Lock
from typing import Any

from benchyard.core import database
from benchyard.core.json_text import encoded
from benchyard.core.locks import try_lock
from benchyard.core.model import Json, plain

#: Inode of a folder that was never looked at.
NEVER = -1
#: A change is written by others in less; a first indexing commits often.
_WAIT_SECONDS = 30
#: Between two tries to look, while another process does.
_LOCK_SECONDS = 0.05
#: Connections of readers that are kept open.
READERS = 8

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO facts VALUES ('generation', 0), ('looked_s', 0.0);

-- mtime_ns is -1 where another look is due: never looked at (inode is -1 too), or too young to
-- tell later changes.
CREATE TABLE folders (
  id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, parent INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL DEFAULT -1, inode INTEGER NOT NULL DEFAULT -1,
  device INTEGER NOT NULL DEFAULT 0, is_run INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX folders_parent ON folders (parent);
CREATE INDEX folders_due ON folders (id) WHERE mtime_ns = -1;
CREATE INDEX folders_watched ON folders (path) WHERE NOT is_run;

-- Files that an entry depends on; entry 0 has those that are of no format.
CREATE TABLE files (
  folder INTEGER NOT NULL, entry INTEGER NOT NULL, name BLOB NOT NULL,
  mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL,
  PRIMARY KEY (folder, entry, name)
) WITHOUT ROWID;
CREATE INDEX files_due ON files (folder) WHERE mtime_ns = -1;

CREATE TABLE parameter_sets (id INTEGER PRIMARY KEY, digest BLOB UNIQUE, document BLOB);
CREATE TABLE parameters (
  name TEXT NOT NULL, parameter_set INTEGER NOT NULL, number REAL, text TEXT NOT NULL,
  PRIMARY KEY (name, parameter_set)
) WITHOUT ROWID;
CREATE INDEX parameters_number ON parameters (name, number, parameter_set);
CREATE INDEX parameters_text ON parameters (name, text, parameter_set);
CREATE TABLE label_sets (id INTEGER PRIMARY KEY, digest BLOB UNIQUE, document BLOB);
CREATE TABLE tags (
  tag TEXT NOT NULL, label_set INTEGER NOT NULL, PRIMARY KEY (tag, label_set)
) WITHOUT ROWID;
CREATE TABLE versions (
  version TEXT NOT NULL, resource TEXT NOT NULL, label_set INTEGER NOT NULL,
  PRIMARY KEY (version, resource, label_set)
) WITHOUT ROWID;

-- record is the digest of a run's record, place that of where it lies; id is record, but of copies
-- and of what has no record it is place.
-- began is started_s, else updated_s; of what is not known, numbers are -1 and texts are empty.
CREATE TABLE entries (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, place TEXT NOT NULL UNIQUE, record TEXT NOT NULL,
  folder INTEGER NOT NULL, name BLOB NOT NULL,
  format TEXT NOT NULL, root INTEGER NOT NULL, path BLOB NOT NULL, created_s REAL NOT NULL,
  updated_s REAL NOT NULL, title TEXT NOT NULL, broken TEXT NOT NULL, under_way INTEGER NOT NULL,
  case_name TEXT NOT NULL, run INTEGER NOT NULL, outcome TEXT NOT NULL, began REAL NOT NULL,
  started_s REAL NOT NULL, duration_s REAL NOT NULL, host TEXT NOT NULL, commit_id TEXT NOT NULL,
  host_quality TEXT NOT NULL,
  results TEXT NOT NULL, label_set INTEGER NOT NULL, parameter_set INTEGER NOT NULL,
  counts BLOB NOT NULL
);
CREATE INDEX entries_record ON entries (record) WHERE record != '';
CREATE INDEX entries_folder ON entries (folder);
CREATE INDEX entries_of_host ON entries (host, began, id);
CREATE INDEX entries_format ON entries (format, began, id);
CREATE INDEX entries_results ON entries (results, began, id);
CREATE INDEX entries_case ON entries (case_name);
CREATE INDEX entries_commit ON entries (commit_id) WHERE commit_id != '';
CREATE INDEX entries_labels ON entries (label_set);
CREATE INDEX entries_parameters ON entries (parameter_set);
CREATE INDEX entries_broken ON entries (began, id) WHERE broken != '';
CREATE INDEX entries_under_way ON entries (folder) WHERE under_way;

CREATE TABLE steps (
  entry INTEGER NOT NULL, position INTEGER NOT NULL, step TEXT NOT NULL, name TEXT NOT NULL,
  measure INTEGER NOT NULL, outcome TEXT NOT NULL, median_s REAL, attempts INTEGER NOT NULL,
  suspect INTEGER NOT NULL, PRIMARY KEY (entry, position)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (words, tokenize = 'unicode61 remove_diacritics 2');

-- Results folders with their runs, so that a list of cases need not count all runs.
CREATE TABLE cases (
  results TEXT PRIMARY KEY, id TEXT NOT NULL, newest INTEGER NOT NULL, newest_s REAL NOT NULL,
  runs INTEGER NOT NULL, failed INTEGER NOT NULL, hosts TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX cases_id ON cases (id);
CREATE INDEX cases_newest ON cases (newest_s, id);

CREATE TABLE tallies (format TEXT PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER entry_made AFTER INSERT ON entries BEGIN
  INSERT INTO tallies VALUES (new.format, 1) ON CONFLICT DO UPDATE SET entries = entries + 1;
END;
CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
  UPDATE tallies SET entries = entries - 1 WHERE format = old.format;
  DELETE FROM steps WHERE entry = old.n;
  DELETE FROM search WHERE rowid = old.n;
  DELETE FROM files WHERE folder = old.folder AND entry = old.n;
END;
"""
#: What entries may be sorted by, to its column; each has an index, in which ties are broken by id.
SORTED = {"started_s": "began"} | {
    name: name
    for name in (
        *("updated_s", "created_s", "title", "run", "outcome", "duration_s", "host"),
        *("host_quality", "path"),
    )
}
_SCRIPT = _TABLES + "".join(
    f"CREATE INDEX entries_{column} ON entries ({column}, id);\n" for column in SORTED.values()
)
#: "byci" in ASCII.
_APPLICATION_ID = 0x62796369
_NO_TABLES = ("no such table", "no such column")


class Index:
    """The file, opened. All methods may be called by several threads.

    Args:
        path: Where it lies; its folder is made. A damaged one, or one of other tables, is made
            anew.
        readers: What tells the programs that found what is in it: of others' it is made anew.
    """

    def __init__(self, path: Path, readers: str) -> None:
        self.path = path
        version = zlib.crc32(f"{_SCRIPT}{readers}".encode()) & 0x7FFFFFFF
        self._schema = database.Schema(_APPLICATION_ID, version, _SCRIPT)
        self._looking = Lock()
        self._idle: LifoQueue[tuple[tuple[int, int], sqlite3.Connection]] = LifoQueue(READERS)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._writer = self._usable() or self._made()
        self._inode = database.inode(path)

    def _usable(self) -> sqlite3.Connection | None:
        """Open the file for writing; None if it is damaged, or has not our tables."""
        try:
            with database.closed_on_failure(self._connected()) as connection:
                ours = self._schema.application, self._schema.version
                if database.marks(connection) == ours:
                    return connection
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return None
        connection.close()
        return None

    def _made(self) -> sqlite3.Connection:
        """Make the file, unless another process was quicker."""
        with self._locked_file(lambda: False):
            return self._usable() or self._made_anew()

    def _made_anew(self) -> sqlite3.Connection:
        database.remove(self.path)
        with database.closed_on_failure(self._connected()) as connection:
            database.write_ahead(connection, _WAIT_SECONDS)
            self._schema.create(connection)
        return connection

    def _connected(self) -> sqlite3.Connection:
        with database.closed_on_failure(database.connect(self.path, _WAIT_SECONDS)) as connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -8000")
            return connection

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Lend a connection that sees one state of the file for as long as the block runs."""
        inode, connection = self._lent()
        with (
            database.closed_on_failure(connection),
            database.transaction(connection, "DEFERRED"),
        ):
            yield connection
        self._take_back(inode, connection)

    def _lent(self) -> tuple[tuple[int, int], sqlite3.Connection]:
        with suppress(Empty):
            return self._idle.get_nowait()
        inode, connection = self._inode, self._connected()
        connection.execute("PRAGMA query_only = ON")
        return inode, connection

    def _take_back(self, inode: tuple[int, int], connection: sqlite3.Connection) -> None:
        """Keep a connection for others; not if there are enough, or the file is another by now."""
        if inode == self._inode:
            with suppress(Full):
                self._idle.put_nowait((inode, connection))
                return
        connection.close()

    @contextmanager
    def looking(self, stopped: Callable[[], bool]) -> Generator[sqlite3.Connection]:
        """Lend the connection that writes, to the only one who looks at the folders now.

        Args:
            stopped: Asked while another process looks.

        Raises:
            LookStoppedError: If it said so.
        """
        with self._looking, self._locked_file(stopped):
            if database.inode(self.path) != self._inode:  # another process made it anew
                self._reopen(lambda: self._usable() or self._made_anew())
            yield self._writer

    @contextmanager
    def _locked_file(self, stopped: Callable[[], bool]) -> Generator[None]:
        lock = self.path.with_name(self.path.name + ".lock")
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            while not try_lock(descriptor):
                if stopped():
                    raise LookStoppedError
                time.sleep(_LOCK_SECONDS)
            yield
        finally:
            os.close(descriptor)

    def make_anew(self) -> None:
        """Begin with an empty file in place of a damaged one."""
        with self._looking, self._locked_file(lambda: False):
            self._reopen(self._made_anew)

    def _reopen(self, opened: Callable[[], sqlite3.Connection]) -> None:
        self._close_all()
        self._writer = opened()
        self._inode = database.inode(self.path)

    def close(self) -> None:
        """Close all connections."""
        with self._looking:
            self._close_all()

    def _close_all(self) -> None:
        self._writer.close()
        while not self._idle.empty():
            self._idle.get_nowait()[1].close()


class LookStoppedError(Exception):
    """A look was given up before it began."""


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Tell whether an error says that the file is of no use, and must be made anew."""
    return database.is_damage(error) or any(words in str(error) for words in _NO_TABLES)


def fact(connection: sqlite3.Connection, name: str) -> Any:
    """Return what the index keeps of itself: ``generation``, ``looked_s``."""
    found = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return found[0] if found else None


# -- texts and numbers as SQLite keeps them


def document_of(value: Json) -> bytes:
    """Return a value as JSON."""
    return encoded(value).encode("utf-8", "backslashreplace")


def raw(name: str) -> bytes:
    """Return a name of a file as the bytes that the file system has."""
    return name.encode("utf-8", "surrogateescape")


def text(value: str) -> str:
    """Return a text that SQLite keeps: what is no Unicode becomes escapes."""
    return value.encode("utf-8", "backslashreplace").decode()


def number_of(value: Json) -> float | None:
    """Return the number that a parameter is, or that its text is; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def text_of(value: Json) -> str:
    """Return a parameter as a text; lists and objects as JSON."""
    return text(encoded(value) if isinstance(value, list | dict) else plain(value))
