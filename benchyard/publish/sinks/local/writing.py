"""A document into the tables, in one transaction."""

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from benchyard.publish.sinks.local.schema import BLOCK
from benchyard.publish.testresults import Document, Entry, parse
from benchyard.publish.testresults.document import subject_in, suspect_in
from benchyard.results.subject import Subject, commit_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: Of zlib, 1 to 9: a higher one takes twice the time for a tenth of the size.
_LEVEL = 1
#: Names of entries that are remembered at most.
_REMEMBERED = 200_000


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


def ordinals(entries: Sequence[Entry]) -> list[int]:
    """Return the ordinal of each entry among those of the same name."""
    names = [entry.name for entry in entries]
    if len(set(names)) == len(names):  # as nearly always
        return [0] * len(names)
    seen: Counter[str] = Counter()
    found: list[int] = []
    for name in names:
        found.append(seen[name])
        seen[name] += 1
    return found


def _suspect(entry: Entry) -> str | None:
    return suspect_in(entry.body) or None


@dataclass(frozen=True, slots=True)
class Packed:
    """A document, ready to be written.

    Args:
        info: Its JSON, compressed.
    """

    document: Document
    info: bytes

    @classmethod
    def of(cls, document: Document) -> "Packed":
        """Do what needs no database."""
        return cls(document, zlib.compress(document.info.encode(), _LEVEL))


class Writer:
    """Writes through one connection and remembers the numbers of names.

    To be thrown away with its connection when a transaction fails: it may then remember names that
    are in no table.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tests: dict[str, int] = {}
        self._entries: dict[int, dict[str, int]] = {}

    def put(self, packed: Packed) -> None:
        """Write a document and its entries, in the transaction that is open.

        One that is there already is left: its identity says that nothing in it would be new.
        """
        document = packed.document
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
            (test, number, start, identity, packed.info, self._origin(subject_in(document))),
        )
        self._put_timings(test, number, document.entries)

    def _put_timings(self, test: int, number: int, entries: Sequence[Entry]) -> None:
        names = self._names(test, {entry.name for entry in entries})
        block = number // BLOCK
        rows = [
            (block, names[entry.name], number, ordinal, entry.wall_time, _suspect(entry))
            for entry, ordinal in zip(entries, ordinals(entries), strict=True)
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
        """Return the ids of a test's entries; those that are wanted are made."""
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
