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
from pathlib import Path

from benchyard.catalogue.formats.contract import Format
from benchyard.catalogue.index import NEVER, raw
from benchyard.catalogue.seeing import (
    DUE,
    IndexedFolder,
    Seen,
    Signature,
    see,
    signature_of,
    told_by,
)
from benchyard.catalogue.writing import EntryPlace, Writer
from benchyard.core import database

#: Seconds of work between two commits: others may write, and readers see what was found.
_BATCH_SECONDS = 0.5


class FolderScan:
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
        self._roots = [str(root) for root in roots]
        self._formats = formats
        self._stopped = stopped
        self._writer = Writer(connection, roots)

    # -- which folders

    def everywhere(self) -> None:
        """Look at all folders that changed."""
        with database.transaction(self._connection):
            self._add_folders(map(raw, self._roots))
        began = time.time()
        changed = self._due() | self._changed_folders(_FOLDERS) | self._changed_files()
        self._look(sorted(changed))
        with database.transaction(self._connection):
            self._writer.remove_unused()
            if not self._stopped():
                told = "UPDATE facts SET value = ? WHERE name = 'looked_s'"
                self._connection.execute(told, (began,))

    def in_folders(self) -> None:
        """Look at the folders that changed, runs left out, and where it is due."""
        self._look(sorted(self._due() | self._changed_folders(f"{_FOLDERS} WHERE NOT is_run")))

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
        if self._is_known(path):
            yield path
        above = os.path.dirname(path)  # noqa: PTH120 - bytes are no Path
        while above != path:
            if self._is_known(above):
                yield above
                return
            path, above = above, os.path.dirname(above)  # noqa: PTH120

    def _is_known(self, path: bytes) -> bool:
        asked = "SELECT 1 FROM folders WHERE path = ?"
        return self._connection.execute(asked, (path,)).fetchone() is not None

    def _due(self) -> set[bytes]:
        return {path for (path,) in self._connection.execute(_DUE)}

    def _changed_folders(self, asked: str) -> set[bytes]:
        return {
            path
            for path, *known in self._connection.execute(asked)
            if _folder_signature(path) != tuple(known)
        }

    def _changed_files(self) -> set[bytes]:
        """Return the folders in which a file of an entry changed."""
        now_ns, changed = time.time_ns(), set[bytes]()
        for path, name, *known in self._connection.execute(_FILES):
            told = signature_of(path + b"/" + name, now_ns)
            if told != tuple(known):
                changed.add(path)
        return changed

    # -- what is in them

    def _look(self, due: list[bytes]) -> None:
        """Look at folders, and at all that is new below them."""
        due.reverse()
        while due and not self._stopped():
            with database.transaction(self._connection):
                end = time.monotonic() + _BATCH_SECONDS
                while due and time.monotonic() < end and not self._stopped():
                    due += self._look_at(due.pop())
                self._writer.finish()

    def _look_at(self, path: bytes) -> list[bytes]:
        """Look at one folder; return those in it that were not known."""
        asked = "SELECT id, mtime_ns, inode FROM folders WHERE path = ?"
        row = self._connection.execute(asked, (path,)).fetchone()
        if row is None:
            return []
        number, is_new = row[0], row[1:] == (DUE, NEVER)
        known = IndexedFolder() if is_new else self._known(number)
        seen = see(os.fsdecode(path), self._roots, self._formats, known)
        if seen is None:
            self._writer.remove_below(path)
            return []
        self._put(number, known, seen)
        return self._put_below(number, path, seen, is_new=is_new)

    def _put(self, folder: int, known: IndexedFolder, seen: Seen) -> None:
        ids, passed = set(seen.kept), set(seen.passed)
        for name, files, entry in seen.described:
            place = EntryPlace(folder, name, files)
            if entry is None:
                self._writer.put_files(place)
                passed.add(name)
            else:
                self._writer.put(entry, place)
                ids.add(entry.id)
        for entry_id, (number, _) in known.entries.items():
            if entry_id not in ids:
                self._writer.remove(number)
        self._writer.take_in(folder, known.files.get(0, {}).keys() - passed)
        row = (*seen.signature, seen.is_run, folder)
        self._connection.execute(
            "UPDATE folders SET mtime_ns = ?, inode = ?, device = ?, is_run = ? WHERE id = ?", row
        )

    def _put_below(self, number: int, path: bytes, seen: Seen, *, is_new: bool) -> list[bytes]:
        asked = "SELECT path FROM folders WHERE parent = ?"
        rows = () if is_new else self._connection.execute(asked, (number,)).fetchall()
        known = {below for (below,) in rows}
        below = {os.path.join(path, raw(name)) for name in seen.below}  # noqa: PTH118
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

    def _known(self, folder: int) -> IndexedFolder:
        entries = self._connection.execute(_ENTRIES, (folder,)).fetchall()
        files: dict[int, dict[str, Signature]] = {}
        for entry, name, *told in self._connection.execute(_FILES_OF, (folder,)):
            files.setdefault(entry, {})[os.fsdecode(name)] = (told[0], told[1], told[2])
        return IndexedFolder({one: (number, bool(way)) for one, number, way in entries}, files)


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
_ENTRIES = "SELECT place, n, under_way FROM entries WHERE folder = ?"
_FILES_OF = "SELECT entry, name, mtime_ns, size, inode FROM files WHERE folder = ?"


def _folder_signature(path: bytes) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return told_by(status)
