"""What lies in one folder: its entries, the folders in it, and what tells later changes."""

import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchyard.catalogue.entry import FOLDER, RUN, RUNS, Entry, identified
from benchyard.catalogue.formats.contract import Candidate, FolderListing, Format, listing_of
from benchyard.results.folders import DONE, METRICS_FILE, RUN_FILE, run_number

#: Time (ns), size and inode of a file.
Signature = tuple[int, int, int]
#: In place of the time: too young to tell whether it changes again.
DUE = -1
#: A file or folder that is younger (ns) may change again without another time or size.
_SETTLED_NS = 2_000_000_000
#: Folders that hold no results: of version control, of packages, of what is made or removed.
_PASSED = re.compile(
    r"\.git|\.hg|\.svn|\.?venv|node_modules|__pycache__|\.work|"
    r"\.(making|removing|moving)-.*|run_[1-9][0-9]*\..*"
)
#: Files of a folder that its entry depends on; those beyond are not watched.
_MOST_FILES = 1_000


@dataclass(frozen=True, slots=True)
class IndexedFolder:
    """What the index has of a folder.

    Args:
        entries: Id to number, and whether it was under way.
        files: Number of an entry to the names and signatures of its files; 0 has those of none.
    """

    entries: Mapping[str, tuple[int, bool]] = field(default_factory=dict[str, tuple[int, bool]])
    files: Mapping[int, Mapping[str, Signature]] = field(
        default_factory=dict[int, Mapping[str, Signature]]
    )

    def is_as_it_was(self, entry_id: str, files: Mapping[str, Signature]) -> bool:
        """Tell whether nothing that an entry depends on has changed."""
        number, under_way = self.entries.get(entry_id, (-1, True))
        settled = bool(files) and all(mtime_ns != DUE for mtime_ns, _, _ in files.values())
        return settled and not under_way and self.files.get(number) == files

    def is_none(self, name: str, files: Mapping[str, Signature]) -> bool:
        """Tell whether a file that is of no format has not changed."""
        told = files.get(name)
        return told is not None and told[0] != DUE and self.files.get(0, {}).get(name) == told


@dataclass(frozen=True, slots=True)
class Seen:
    """One folder.

    Args:
        signature: Its time, ``DUE`` if that is too young, inode and device.
        described: New and changed entries: name in the folder, ``.`` for itself; files that it
            depends on; the entry, or None where the file is of no format.
        kept: Ids of the entries that are as they were.
        passed: Names of the files that still are of no format.
        below: Names of the folders to look into.
        is_run: Whether it is the folder of a run, whose content belongs to the run.
    """

    signature: Signature
    described: Sequence[tuple[str, Mapping[str, Signature], Entry | None]]
    kept: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()
    is_run: bool = False


def see(
    folder: str, roots: Sequence[str], formats: Sequence[Format], known: IndexedFolder
) -> Seen | None:
    """Look at a folder; None if there is none.

    Args:
        folder: Absolute.
        roots: The folders that are searched, one of which it is or lies in.
        known: What is not described again unless it changed.
    """
    now_ns = time.time_ns()
    root = next(root for root in roots if folder == root or folder.startswith(f"{root}/"))
    try:
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode):
            return None
        listing = listing_of(Path(folder))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _closed(folder, root, error)
    mtime_ns, inode, device = told_by(status)
    signature = (settled(mtime_ns, now_ns), inode, device)
    return _seen(_Look(root, listing, known, now_ns), formats, signature)


def told_by(status: os.stat_result) -> tuple[int, int, int]:
    """Return time (ns), inode and device, as SQLite can keep them: some files are of year 9999."""
    return status.st_mtime_ns & 2**63 - 1, status.st_ino & 2**62 - 1, status.st_dev


def settled(mtime_ns: int, now_ns: int) -> int:
    """Return a time, or ``DUE`` if it is too near to tell the next change."""
    return DUE if abs(now_ns - mtime_ns) < _SETTLED_NS else mtime_ns


def signature_of(path: str | bytes, now_ns: int) -> Signature | None:
    """Return what tells whether a file has changed; None if it is not there."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    mtime_ns, inode, _ = told_by(status)
    return settled(mtime_ns, now_ns), status.st_size, inode


@dataclass(frozen=True, slots=True)
class _Look:
    """A folder that is being looked at."""

    root: str
    listing: FolderListing
    known: IndexedFolder
    now_ns: int

    @property
    def folder(self) -> str:
        return str(self.listing.folder)

    def found(self, entry_id: str, name: str) -> Candidate:
        path = self.folder if name == "." else f"{self.folder}/{name}"
        below = path.removeprefix(self.root).lstrip("/") or "."
        return Candidate(entry_id, Path(self.root), below)

    def signatures(self, names: Sequence[str]) -> dict[str, Signature]:
        """Return the signatures of the files that are there."""
        told = ((name, signature_of(f"{self.folder}/{name}", self.now_ns)) for name in names)
        return {name: signature for name, signature in told if signature is not None}


def _seen(look: _Look, formats: Sequence[Format], signature: Signature) -> Seen:
    described: list[tuple[str, Mapping[str, Signature], Entry | None]] = []
    kept: set[str] = set()
    passed: set[str] = set()
    possible = _possible(look.listing, formats)
    is_run = any(
        one.name in RUNS for _, name, several in possible if name == "." for one in several
    )
    for entry_id, name, several in possible:
        files = look.signatures(_files_of(name, look.listing, is_run=is_run))
        if look.known.is_as_it_was(entry_id, files):
            kept.add(entry_id)
        elif name != "." and look.known.is_none(name, files):
            passed.add(name)
        else:
            entry = _described(several, look.found(entry_id, name))
            if entry is not None or name != ".":
                described.append((name, files, entry))
    folders = look.listing.folders
    below = () if is_run else (name for name in folders if not _PASSED.fullmatch(name))
    sets = (frozenset(kept), frozenset(passed), frozenset(below))
    return Seen(signature, described, *sets, is_run)


def _possible(
    listing: FolderListing, formats: Sequence[Format]
) -> list[tuple[str, str, Sequence[Format]]]:
    """Return id, name and formats of what may be entries.

    A folder may be one of each format, but a run's is nothing else.
    """
    folder = listing.folder
    runs = [one for one in formats if one.name in RUNS] if run_number(folder.name) else []
    as_run = [one for one in runs if "." in one.detect(listing)]
    if as_run:
        return [(identified(folder), ".", as_run)]
    by_name: dict[str, list[Format]] = {}
    for one in formats:
        for name in one.detect(listing):
            by_name.setdefault(name, []).append(one)
    itself = [(identified(folder, one.name), ".", [one]) for one in by_name.pop(".", ())]
    return [*itself, *((identified(folder / name), name, on) for name, on in by_name.items())]


def _files_of(name: str, listing: FolderListing, *, is_run: bool) -> Sequence[str]:
    """Return the names of the files that an entry depends on."""
    if name != ".":
        return (name,)
    if not is_run:
        return sorted(listing.files)[:_MOST_FILES]
    if RUN_FILE in listing.files:
        return (RUN_FILE,)
    return sorted(listing.files & {METRICS_FILE, DONE})


def _described(formats: Sequence[Format], found: Candidate) -> Entry | None:
    """Return what the first format that knows it says of it; None also of what is gone by now."""
    for one in formats:
        try:
            entry = one.describe(found)
        except Exception as error:  # noqa: BLE001 - one odd file must not keep all others out
            why = f"{found.place.name}: {type(error).__name__}: {error}"
            entry = _unreadable(found, one.name, why)
        if entry is not None:
            return None if entry.broken and not os.path.lexists(found.place) else entry
    return None


def _closed(folder: str, root: str, error: OSError) -> Seen:
    """Return a folder that may not be listed; it stays due, since no time tells when it may be."""
    path = Path(folder)
    found = Candidate(identified(path), Path(root), path.relative_to(root).as_posix())
    kind = RUN if run_number(path.name) else FOLDER
    entry = _unreadable(found, kind, f"{path.name}: {error.strerror or error}")
    return Seen((DUE, 0, 0), [(".", {}, entry)], is_run=kind == RUN)


def _unreadable(found: Candidate, kind: str, why: str) -> Entry:
    at, name = found.changed_s, found.place.name
    return found.entry(kind, at, at, title=name, run=run_number(name), broken=why)
