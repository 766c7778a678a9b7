"""What lies in a folder, and which of it may be entries."""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchyard.catalogue.entry import RUNS
from benchyard.catalogue.formats.contract import Format, Listing
from benchyard.catalogue.writing import DUE, Signature
from benchyard.results.folders import DONE, METRICS_FILE, RUN_FILE

#: Folders that hold no results: of version control, of packages, of what is made or removed.
_PASSED = re.compile(
    r"\.git|\.hg|\.svn|\.?venv|node_modules|__pycache__|\.work|"
    r"\.(making|removing|moving)-.*|run_[1-9][0-9]*\..*"
)
#: A file that is younger (ns) may change again without another time or size.
_SETTLED_NS = 2_000_000_000
#: Files of a folder that its entry depends on; those beyond are not watched.
_MOST_FILES = 1_000
_RUN_FILES = {RUN_FILE, METRICS_FILE, DONE}


@dataclass(frozen=True, slots=True)
class Looked:
    """A folder as it was seen.

    Args:
        mtime_ns: ``DUE`` if it may have changed since in the same moment.
        candidates: Name of a file, or ``.``, to the formats that may have it.
        below: Names of the folders to look into.
    """

    mtime_ns: int
    inode: int
    device: int
    listing: Listing
    candidates: Mapping[str, Sequence[Format]]
    below: frozenset[str]
    is_run: bool


def look_at(folder: Path, formats: Sequence[Format], now_ns: int) -> Looked:
    """List a folder.

    Raises:
        OSError: If it is not there, is no folder, or may not be listed.
    """
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(folder)
    listing = _listing(folder)
    candidates = _candidates(listing, formats)
    is_run = any(one.name in RUNS for one in candidates.get(".", ()))
    if is_run:
        candidates = {".": [one for one in candidates["."] if one.name in RUNS]}
    below = (name for name in listing.folders if not (is_run or _PASSED.fullmatch(name)))
    mtime_ns = settled(status.st_mtime_ns, now_ns)
    inode, device = status.st_ino & 2**62 - 1, status.st_dev
    return Looked(mtime_ns, inode, device, listing, candidates, frozenset(below), is_run)


def settled(mtime_ns: int, now_ns: int) -> int:
    """Return a time, or ``DUE`` if it is too near to tell the next change."""
    return DUE if abs(now_ns - mtime_ns) < _SETTLED_NS else mtime_ns


def _listing(folder: Path) -> Listing:
    files: set[str] = set()
    folders: set[str] = set()
    with os.scandir(folder) as found:
        for one in found:
            if one.is_dir(follow_symlinks=False):
                folders.add(one.name)
            elif one.is_file(follow_symlinks=False):
                files.add(one.name)
    return Listing(folder, frozenset(files), frozenset(folders))


def _candidates(listing: Listing, formats: Sequence[Format]) -> dict[str, list[Format]]:
    found: dict[str, list[Format]] = {}
    for one in formats:
        for name in one.detect(listing):
            found.setdefault(name, []).append(one)
    return found


def signatures(looked: Looked, name: str, now_ns: int) -> dict[str, Signature]:
    """Return the signatures of the files that an entry depends on; of those that are there."""
    files = [name]
    if name == ".":
        own = _RUN_FILES if looked.is_run else looked.listing.files
        files = sorted(own & looked.listing.files)[:_MOST_FILES]
    found = {file: signature(looked.listing.folder / file, now_ns) for file in files}
    return {file: told for file, told in found.items() if told is not None}


def signature(file: Path, now_ns: int) -> Signature | None:
    """Return what tells whether a file has changed; None if it is not there."""
    try:
        status = file.lstat()
    except OSError:
        return None
    return settled(status.st_mtime_ns, now_ns), status.st_size, status.st_ino & 2**62 - 1
