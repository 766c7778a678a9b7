"""Looking for what is new, changed and gone.

A folder is listed again when its time changed: then something in it was made, removed or renamed.
What its entries depend on is looked at file by file, since what is written into a file changes no
folder. All else is left as it was. Each batch of what was seen is written at once, together with
the folders that are still to be looked at, so a look that was killed goes on where it was.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchyard.catalogue.entry import FOLDER, RUN, Entry, identified
from benchyard.catalogue.formats.contract import Format, Found
from benchyard.catalogue.index import transaction
from benchyard.catalogue.listing import Looked, look_at, signature, signatures
from benchyard.catalogue.writing import DUE, Place, Signature, Writer, raw
from benchyard.results.folders import run_number

#: Seconds of work between two commits: others may write, and readers see what was found.
_BATCH_SECONDS = 0.5
_ROWS = 5_000


class Scan:
    """One look at the folders, or at some of them.

    Args:
        connection: The one that writes, for as long as the look goes on.
        roots: The folders that are searched.
        stopped: Asked between two folders; what was not looked at stays due.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        roots: list[Path],
        formats: Sequence[Format],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._connection = connection
        self._roots = roots
        self._formats = formats
        self._stopped = stopped
        self._writer = Writer(connection, roots)

    # -- which folders

    def everywhere(self) -> None:
        """Look at all folders that changed."""
        with transaction(self._connection):
            self._add_folders(raw(str(root)) for root in self._roots)
        began = time.time()
        changed = self._due() | self._changed_folders(_FOLDERS) | self._changed_files()
        self._look(sorted(changed))
        with transaction(self._connection):
            self._writer.remove_unused()
            if not self._stopped():
                self._note_look(began)

    def in_folders(self) -> None:
        """Look at the folders that changed, runs left out, and where it is due."""
        self._look(sorted(self._due() | self._changed_folders(f"{_FOLDERS} WHERE NOT is_run")))

    def where_due(self) -> None:
        """Look where something was too young to be sure of, or is under way."""
        self._look(sorted(self._due()))

    @staticmethod
    def is_due(connection: sqlite3.Connection) -> bool:
        """Tell whether there is anything to look at again."""
        return connection.execute(f"SELECT EXISTS ({_DUE})").fetchone() == (1,)

    @staticmethod
    def folders(connection: sqlite3.Connection) -> list[tuple[bytes, int]]:
        """Return path and inode of the folders that are no runs."""
        return connection.execute("SELECT path, inode FROM folders WHERE NOT is_run").fetchall()

    def around(self, paths: Iterable[Path]) -> None:
        """Look at the known folders that are nearest to paths, and where it is due."""
        near = {folder for path in paths for folder in self._nearest(raw(str(path)))}
        self._look(sorted(near | self._due()))

    def _nearest(self, path: bytes) -> Iterator[bytes]:
        """Yield the folder that a path is, and the nearest known one above it."""
        if self._number(path) is not None:
            yield path
        above = os.path.dirname(path)  # noqa: PTH120 - bytes are no Path
        while above != path:
            if self._number(above) is not None:
                yield above
                return
            path, above = above, os.path.dirname(above)  # noqa: PTH120

    def _due(self) -> set[bytes]:
        return {path for (path,) in self._connection.execute(_DUE)}

    def _changed_folders(self, asked: str) -> set[bytes]:
        return {
            path for path, *known in self._rows(asked) if _folder_signature(path) != tuple(known)
        }

    def _changed_files(self) -> set[bytes]:
        """Return the folders in which a file of an entry changed."""
        now_ns, changed = time.time_ns(), set[bytes]()
        for path, name, *known in self._rows(_FILES):
            told = signature(Path(os.fsdecode(path), os.fsdecode(name)), now_ns)
            if told != tuple(known):
                changed.add(path)
        return changed

    def _rows(self, asked: str) -> Iterator[tuple[Any, ...]]:
        cursor = self._connection.execute(asked)
        while rows := cursor.fetchmany(_ROWS):
            yield from rows

    def _note_look(self, began: float) -> None:
        told = "UPDATE facts SET value = ? WHERE name = 'looked_s'"
        self._connection.execute(told, (began,))

    # -- what is in them

    def _look(self, due: list[bytes]) -> None:
        """Look at folders, and at all that is new below them."""
        due.reverse()
        while due and not self._stopped():
            with transaction(self._connection):
                end = time.monotonic() + _BATCH_SECONDS
                while due and time.monotonic() < end and not self._stopped():
                    due += self._look_at(due.pop())
                self._writer.finish()

    def _look_at(self, path: bytes) -> list[bytes]:
        """Look at one folder; return those in it that were not known."""
        folder = Path(os.fsdecode(path))
        number = self._number(path)
        if number is None:
            return []
        now_ns = time.time_ns()
        try:
            looked = look_at(folder, self._formats, now_ns)
        except (FileNotFoundError, NotADirectoryError):
            self._writer.remove_below(path)
            return []
        except OSError as error:
            self._note_closed(number, folder, error)
            return []
        self._put_entries(looked, number, now_ns)
        self._put_folder(number, looked)
        return self._put_below(looked, number)

    def _number(self, path: bytes) -> int | None:
        asked = "SELECT id FROM folders WHERE path = ?"
        found = self._connection.execute(asked, (path,)).fetchone()
        return found[0] if found else None

    def _put_folder(self, number: int, looked: Looked) -> None:
        row = (looked.mtime_ns, looked.inode, looked.device, looked.is_run, number)
        self._connection.execute(
            "UPDATE folders SET mtime_ns = ?, inode = ?, device = ?, is_run = ? WHERE id = ?", row
        )

    def _put_below(self, looked: Looked, number: int) -> list[bytes]:
        asked = "SELECT path FROM folders WHERE parent = ?"
        known = {path for (path,) in self._connection.execute(asked, (number,))}
        below = {raw(str(looked.listing.folder / name)) for name in looked.below}
        for gone in known - below:
            self._writer.remove_below(gone)
        new = sorted(below - known, reverse=True)
        self._add_folders(new, number)
        return new

    def _add_folders(self, paths: Iterable[bytes], parent: int = 0) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO folders (path, parent) VALUES (?, ?)",
            [(path, parent) for path in paths],
        )

    def _note_closed(self, number: int, folder: Path, error: OSError) -> None:
        """List a folder that may not be looked into, which nothing tells when it may be again."""
        path = raw(str(folder))
        self._writer.remove_below(path, itself=False)
        found = self._found(folder, identified(folder))
        kind = RUN if run_number(folder.name) else FOLDER
        entry = _unreadable(found, kind, f"{folder}: {error.strerror or error}")
        known = self._known(number)
        self._writer.put(entry, Place(number, ".", {}))
        self._remove(known, but={entry.id})
        told = (kind == RUN, number)
        self._connection.execute("UPDATE folders SET mtime_ns = -1, is_run = ? WHERE id = ?", told)

    # -- what is in one folder

    def _put_entries(self, looked: Looked, folder: int, now_ns: int) -> None:
        known, seen, left_out = self._known(folder), set[str](), set[str]()
        for entry_id, name, formats in _possible(looked):
            files = signatures(looked, name, now_ns)
            place = Place(folder, name, files)
            if known.is_as_it_was(entry_id, files):
                seen.add(entry_id)
            elif name != "." and known.is_none(name, files):
                left_out.add(name)
            elif self._describe(formats, looked.listing.folder, entry_id, place):
                seen.add(entry_id)
            elif name != ".":
                self._writer.leave_out(place)
                left_out.add(name)
        self._remove(known, but=seen)
        self._writer.take_in(folder, known.files.get(0, {}).keys() - left_out)

    def _describe(
        self, formats: Sequence[Format], folder: Path, entry_id: str, place: Place
    ) -> bool:
        """Write what the first format that knows it says of it; tell whether one does."""
        found = self._found(folder / place.name, entry_id)
        for one in formats:
            entry = _described(one, found)
            if entry is not None and not (entry.broken and not os.path.lexists(found.place)):
                self._writer.put(entry, place)
                return True
        return False

    def _found(self, place: Path, entry_id: str) -> Found:
        root = next(root for root in self._roots if place.is_relative_to(root))
        return Found(entry_id, root, place.relative_to(root).as_posix())

    def _known(self, folder: int) -> "_Known":
        entries = self._connection.execute(_ENTRIES, (folder,)).fetchall()
        files: dict[int, dict[str, Signature]] = {}
        for entry, name, *told in self._connection.execute(_FILES_OF, (folder,)):
            files.setdefault(entry, {})[os.fsdecode(name)] = (told[0], told[1], told[2])
        return _Known({one: (number, bool(way)) for one, number, way in entries}, files)

    def _remove(self, known: "_Known", but: set[str]) -> None:
        for entry_id, (number, _) in known.entries.items():
            if entry_id not in but:
                self._writer.remove(number)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the index has of a folder.

    Args:
        entries: Id to number, and whether it was under way.
        files: Number of an entry to the names and signatures of its files.
    """

    entries: dict[str, tuple[int, bool]]
    files: dict[int, dict[str, Signature]]

    def is_as_it_was(self, entry_id: str, files: dict[str, Signature]) -> bool:
        """Tell whether nothing that an entry depends on has changed."""
        number, under_way = self.entries.get(entry_id, (-1, True))
        settled = bool(files) and all(mtime_ns != DUE for mtime_ns, _, _ in files.values())
        return settled and not under_way and self.files.get(number) == files

    def is_none(self, name: str, files: dict[str, Signature]) -> bool:
        """Tell whether a file that is of no format has not changed."""
        told = files.get(name)
        return told is not None and told[0] != DUE and self.files.get(0, {}).get(name) == told


_DUE = """
SELECT path FROM folders WHERE mtime_ns = -1
UNION SELECT path FROM folders WHERE id IN (SELECT folder FROM files WHERE mtime_ns = -1)
UNION SELECT path FROM folders WHERE id IN (SELECT folder FROM entries WHERE under_way)
"""
_FOLDERS = "SELECT path, mtime_ns, inode, device FROM folders"
_FILES = """
SELECT folders.path, name, files.mtime_ns, size, files.inode
FROM files JOIN folders ON folders.id = files.folder
"""
_ENTRIES = "SELECT id, n, under_way FROM entries WHERE folder = ?"
_FILES_OF = "SELECT entry, name, mtime_ns, size, inode FROM files WHERE folder = ?"


def _possible(looked: Looked) -> Iterator[tuple[str, str, Sequence[Format]]]:
    """Yield id, name and formats of what may be entries; a folder may be one of each format."""
    folder = looked.listing.folder
    for name, formats in looked.candidates.items():
        if name != "." or looked.is_run:
            yield identified(folder / name), name, formats
        else:
            yield from ((identified(folder, one.name), name, (one,)) for one in formats)


def _folder_signature(path: bytes) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino & 2**62 - 1, status.st_dev


def _described(one: Format, found: Found) -> Entry | None:
    try:
        return one.describe(found)
    except Exception as error:  # noqa: BLE001 - one odd file must not keep all others out
        return _unreadable(found, one.name, f"{found.place}: {type(error).__name__}: {error}")


def _unreadable(found: Found, kind: str, why: str) -> Entry:
    place, at = (found.id, kind, found.root, found.path), 0.0
    with suppress(OSError):
        at = found.place.stat().st_mtime
    number = run_number(found.place.name)
    return Entry(*place, at, at, title=found.place.name, run=number, broken=why)
