"""What is found, written into the index."""

import hashlib
import math
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchyard.catalogue.entry import RUNS, Entry, identified
from benchyard.catalogue.index import document_of, number_of, raw, text, text_of
from benchyard.catalogue.seeing import Signature, signature_of
from benchyard.core.model import Json
from benchyard.results.folders import run_number

#: SQLite keeps no larger numbers.
_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """Where an entry was found.

    Args:
        folder: Number of the folder that was listed.
        name: Of the file in it; ``.`` is the folder itself.
        files: Names of the files that it depends on, with their signatures.
    """

    folder: int
    name: str
    files: Mapping[str, Signature]


@dataclass(slots=True)
class Writer:
    """Writes entries through a connection, within the caller's transaction.

    Args:
        roots: The folders that are searched.
    """

    connection: sqlite3.Connection
    roots: list[Path]
    changed: bool = False
    _cases: set[str] = field(default_factory=set[str])

    def put(self, entry: Entry, place: EntryPlace) -> None:
        """Write an entry, in place of what was known of it."""
        try:
            row, steps = self._row(entry, place), _step_rows(entry)
        except (TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
            # One odd entry must not keep all others out.
            entry = _odd(entry, error)
            row, steps = self._row(entry, place), []
        asked = "SELECT n FROM entries WHERE place = ?"
        found = self.connection.execute(asked, (entry.id,)).fetchone()
        number = found[0] if found else 0
        if not found or not self._is(number, row, steps):
            if found:
                self._delete(number)
            number = self._insert(row, steps, _words(entry))
            self._note(row["results"])
        self.put_files(place, number)

    def _is(self, number: int, row: Mapping[str, Any], steps: list[tuple[Any, ...]]) -> bool:
        for columns, table, known in (
            (", ".join(row), "entries WHERE n = ?", [tuple(row.values())]),
            (_STEP_COLUMNS, "steps WHERE entry = ? ORDER BY position", steps),
        ):
            asked = f"SELECT {columns} FROM {table}"  # noqa: S608
            if self.connection.execute(asked, (number,)).fetchall() != known:
                return False
        return True

    def _id_of(self, entry: Entry) -> str:
        """Return the id of an entry: that of its record, or of its place if it is a copy.

        Of the places that have the same record, the one whose path comes first is the original.
        """
        other = self.connection.execute(_SAME_RECORD, (entry.identity, entry.id)).fetchone()
        if other:
            number, results, folder, name, *known = other
            now = signature_of(folder + b"/" + name, 0)
            if now is None or list(now[1:]) != known:
                self.remove(number)  # It was moved here; its folder is looked at in its turn.
            elif Path(os.fsdecode(folder)) < entry.place:
                return entry.id
            else:
                self.connection.execute("UPDATE entries SET id = place WHERE n = ?", (number,))
                self._note(results)
        return entry.identity or entry.id

    def _insert(self, row: Mapping[str, Any], steps: list[tuple[Any, ...]], words: str) -> int:
        values = ", ".join(f":{column}" for column in row)
        insert = f"INSERT INTO entries ({', '.join(row)}) VALUES ({values})"  # noqa: S608
        number = self.connection.execute(insert, row).lastrowid or 0
        self.connection.executemany(
            f"INSERT OR REPLACE INTO steps (entry, {_STEP_COLUMNS}) VALUES ({number}, "  # noqa: S608
            "?, ?, ?, ?, ?, ?, ?, ?)",
            steps,
        )
        self.connection.execute("INSERT INTO search (rowid, words) VALUES (?, ?)", (number, words))
        return number

    def take_in(self, folder: int, names: Iterable[str]) -> None:
        """Forget that files are of no format: they are gone, or are of one by now."""
        self.connection.executemany(
            "DELETE FROM files WHERE folder = ? AND entry = 0 AND name = ?",
            [(folder, raw(name)) for name in names],
        )

    def put_files(self, place: EntryPlace, entry: int = 0) -> None:
        """Write the files that an entry depends on; entry 0 has those that are of no format."""
        where = (place.folder, entry)
        if entry:
            self.connection.execute("DELETE FROM files WHERE folder = ? AND entry = ?", where)
        self.connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
            [(*where, raw(name), *signature) for name, signature in place.files.items()],
        )

    def remove(self, number: int) -> None:
        """Forget an entry, if it is there."""
        asked = "SELECT results, id FROM entries WHERE n = ?"
        for results, entry_id in self.connection.execute(asked, (number,)).fetchall():
            self._delete(number)
            self.connection.execute(_LOOK_AT_COPIES, (entry_id,))
            self._note(results)

    def _delete(self, number: int) -> None:
        self.connection.execute("DELETE FROM entries WHERE n = ?", (number,))

    def remove_below(self, folder: bytes) -> None:
        """Forget a folder and all below it."""
        # The byte after the slash ends what lies below.
        below = (folder.rstrip(b"/") + b"/", folder.rstrip(b"/") + b"0", folder)
        asked = "SELECT id FROM folders WHERE (path > ? AND path < ?) OR path = ?"
        folders = self.connection.execute(asked, below).fetchall()
        for one in folders:
            entries = self.connection.execute("SELECT n FROM entries WHERE folder = ?", one)
            for (number,) in entries.fetchall():
                self.remove(number)
        self.connection.executemany("DELETE FROM files WHERE folder = ?", folders)
        self.connection.executemany("DELETE FROM folders WHERE id = ?", folders)

    def _note(self, results: str) -> None:
        self.changed = True
        if results:
            self._cases.add(results)

    def finish(self) -> None:
        """Bring up to date what is counted; to be called before the transaction ends."""
        gone = [(case,) for case in self._cases]
        self.connection.executemany("DELETE FROM cases WHERE results = ?", gone)
        self.connection.executemany(_COUNT_CASE, gone)
        self._cases.clear()
        if self.changed:
            self.connection.execute("UPDATE facts SET value = value + 1 WHERE name = 'generation'")
            self.changed = False

    # -- what several entries share

    def _row(self, entry: Entry, place: EntryPlace) -> dict[str, Any]:
        began = entry.started_s if entry.started_s is not None else entry.updated_s
        return {
            "id": self._id_of(entry),
            "place": entry.id,
            "record": entry.identity,
            "folder": place.folder,
            "name": raw(place.name),
            "format": entry.format,
            "root": self.roots.index(entry.root),
            "path": raw(entry.path),
            "created_s": _finite(entry.created_s),
            "updated_s": _finite(entry.updated_s),
            "title": text(entry.title),
            "broken": text(entry.broken),
            "under_way": int(entry.under_way),
            "case_name": text(entry.case),
            "run": -1 if entry.run is None else min(entry.run, _LARGEST),
            "outcome": text(entry.outcome or ""),
            "began": _finite(began),
            "started_s": _finite(entry.started_s),
            "duration_s": _finite(entry.duration_s),
            "host": text(entry.host),
            "commit_id": text(entry.commit),
            "host_quality": text(entry.host_quality),
            "results": identified(entry.place.parent) if entry.format in RUNS else "",
            "label_set": self._label_set(entry),
            "parameter_set": self._parameter_set(entry.parameters),
            "counts": document_of(dict(entry.counts)),
        }

    def _label_set(self, entry: Entry) -> int:
        tags, versions = list(entry.tags), dict(entry.versions)
        document: Json = {"point": dict(entry.point), "tags": list(tags), "versions": {**versions}}
        number, is_new = self._set("label_sets", document_of(document))
        if is_new:
            self.connection.executemany(
                "INSERT OR IGNORE INTO tags VALUES (?, ?)", [(text(tag), number) for tag in tags]
            )
            self.connection.executemany(
                "INSERT OR IGNORE INTO versions VALUES (?, ?, ?)",
                [(text(version), text(name), number) for name, version in versions.items()],
            )
        return number

    def _parameter_set(self, parameters: Mapping[str, Json]) -> int:
        number, is_new = self._set("parameter_sets", document_of(dict(parameters)))
        if is_new:
            self.connection.executemany(
                "INSERT OR IGNORE INTO parameters VALUES (?, ?, ?, ?)",
                [(text(n), number, number_of(v), text_of(v)) for n, v in parameters.items()],
            )
        return number

    def _set(self, table: str, document: bytes) -> tuple[int, bool]:
        """Return the number of a set, and whether it was not there before."""
        digest = hashlib.blake2b(document, digest_size=16).digest()
        asked = f"SELECT id FROM {table} WHERE digest = ?"  # noqa: S608 - a name of ours
        if known := self.connection.execute(asked, (digest,)).fetchone():
            return known[0], False
        insert = f"INSERT INTO {table} (digest, document) VALUES (?, ?)"  # noqa: S608 - likewise
        return self.connection.execute(insert, (digest, document)).lastrowid or 0, True

    def remove_unused(self) -> None:
        """Remove the sets that no entry has any more; to be called outside of batches."""
        for one, tables in _TABLES_OF_SETS.items():
            gone = f"(SELECT id FROM {one}s WHERE id NOT IN (SELECT {one} FROM entries))"  # noqa: S608
            for table in tables:
                self.connection.execute(f"DELETE FROM {table} WHERE {one} IN {gone}")  # noqa: S608
            self.connection.execute(f"DELETE FROM {one}s WHERE id IN {gone}")  # noqa: S608


_TABLES_OF_SETS = {"parameter_set": ("parameters",), "label_set": ("tags", "versions")}
_STEP_COLUMNS = "step, name, measure, outcome, median_s, attempts, suspect, position"
#: The original of a record at another place, with a file that it depends on.
_SAME_RECORD = """
SELECT e.n, e.results, o.path, f.name, f.size, f.inode
FROM entries e JOIN folders o ON o.id = e.folder
JOIN files f ON f.folder = e.folder AND f.entry = e.n
WHERE e.id = ? AND e.place != ? LIMIT 1
"""
#: One of them becomes the original.
_LOOK_AT_COPIES = """
UPDATE files SET mtime_ns = -1
WHERE (folder, entry) IN (SELECT folder, n FROM entries WHERE record = ? AND record != '')
"""
# A case is called as its first run, with the halves swapped; copies are called after their places.
_COUNT_CASE = """
INSERT INTO cases (results, id, newest, newest_s, runs, failed, hosts)
SELECT results, coalesce((
         SELECT substr(f.id, 9) || substr(f.id, 1, 8) FROM entries f
         WHERE f.results = e.results AND f.id != f.place ORDER BY f.began, f.id LIMIT 1
       ), results), n, max(began), count(*), sum(outcome != 'completed' AND NOT under_way),
       json_group_array(DISTINCT host) FILTER (WHERE host != '')
FROM entries e WHERE results = ? AND results != '' GROUP BY results
"""


def _odd(entry: Entry, error: Exception) -> Entry:
    place = (entry.id, entry.format, entry.root, entry.path, 0.0, 0.0)
    name, why = entry.place.name, f"{entry.place}: {error}"
    return Entry(*place, title=name, run=run_number(name), broken=why)


def _finite(value: float | None) -> float:
    """Return a time; -1 if it is not known."""
    known = -1.0 if value is None else float(value)
    if not math.isfinite(known):
        raise ValueError(f"{value} is no time")
    return known


def _step_rows(entry: Entry) -> list[tuple[Any, ...]]:
    if any(abs(step.index) > _LARGEST for step in entry.steps):
        raise ValueError("a step has a number that no step has")
    return [
        (
            *(text(step.step), text(step.name), int(step.measure), text(step.outcome)),
            None if step.median_s is None else float(step.median_s),
            *(step.attempts, int(step.suspect), step.index),
        )
        for step in entry.steps
    ]


def _words(entry: Entry) -> str:
    versions: Iterable[str] = (f"{name} {version}" for name, version in entry.versions.items())
    told = (entry.case, entry.title, *entry.tags, entry.host, entry.commit, *versions)
    return text(" ".join((*told, entry.outcome or "", entry.path)))
