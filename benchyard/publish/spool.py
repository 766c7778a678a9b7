"""The spool: a folder in which finished documents wait to be published."""

import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchyard.core.errors import BenchyardError, DocumentRejectedError, SinkUnavailableError
from benchyard.core.locks import is_at
from benchyard.publish.archive import numbered
from benchyard.publish.claims import ClaimedFile, claimed, make_folder, write_new
from benchyard.publish.compression import Compression, reading, split_name
from benchyard.publish.outcome import Left, reason_of
from benchyard.publish.sinks.contract import DocumentKind

#: Folder of a spool for what can never be published.
REJECTED = "rejected"
#: What the name of a file that says why ends in.
REASON = ".reason.txt"
#: As ``testresults.file_name`` makes them.
_OUR_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-.+-[0-9a-f]{12}\.(json|events\.jsonl)")
#: What a document has near its beginning, whatever of its end is missing.
_FORM = {
    DocumentKind.RESULTS: (b'"entries"',),
    DocumentKind.EVENTS: (b'"at"', b'"node"', b'"event"'),
}
_BEGINNING = 1024**2


@dataclass(frozen=True, slots=True)
class WaitingFile:
    """One file that waits.

    Args:
        path: Where it lies.
        size: In bytes, as it lies.
        modified_ns: When it was last written, in ns since 1970.
    """

    path: Path
    size: int
    modified_ns: int

    @property
    def name(self) -> str:
        """Its name in the spool."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in a spool.

    Args:
        waiting: Oldest first; of one age by name.
        left_alone: How many entries are no documents: links, folders, other names.
    """

    waiting: tuple[WaitingFile, ...]
    left_alone: int


def put(folder: Path, name: str, content: bytes) -> bool:
    """Put a document into a spool: it is there whole and on disk, or not at all.

    Returns:
        False if a file of that name waits there already; that one stays.

    Raises:
        OSError: If the disk is full or not writable.
    """
    make_folder(folder)
    key = f"{name} {os.getpid()} {threading.get_ident()}"
    return write_new(folder / name, content, key)


def kind_of(name: str) -> DocumentKind | None:
    """Tell by a file's name what it holds; None if it is not published."""
    plain, _ = split_name(name)
    if name.startswith("."):
        return None
    return next((kind for kind in DocumentKind if plain.endswith(kind)), None)


def listing(folder: Path, only: DocumentKind | None = None) -> Listing:
    """List what waits in a folder.

    Hidden files do not count: they are being written.

    Args:
        folder: The spool.
        only: The kind that is wanted; both by default.

    Raises:
        OSError: If there is no such folder, or it cannot be read.
    """
    with os.scandir(folder) as entries:
        seen = [entry for entry in entries if not entry.name.startswith(".")]
    waiting = sorted(_waiting(seen, only), key=lambda one: (one.modified_ns, one.name))
    own = sum(1 for entry in seen if entry.name == REJECTED)
    return Listing(tuple(waiting), len(seen) - own - len(waiting))


def _waiting(entries: list["os.DirEntry[str]"], only: DocumentKind | None) -> Iterator[WaitingFile]:
    for entry in entries:
        kind = kind_of(entry.name)
        if kind is None or (only is not None and kind is not only):
            continue
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if stat.S_ISREG(found.st_mode):
            yield WaitingFile(Path(entry.path), found.st_size, found.st_mtime_ns)


def reject(held: ClaimedFile, reason: str) -> str:
    """Move a file that can never be published to ``rejected/``, with the reason beside it.

    Nothing there is overwritten but the reason of the same file.

    Returns:
        Its name there.

    Raises:
        SinkUnavailableError: If that folder cannot be written; the file is where it was.
    """
    folder = held.path.parent / REJECTED
    plain, how = split_name(held.name)
    try:
        make_folder(folder)
        for number in count(1):
            target = folder / (numbered(plain, number) + how.ending)
            same = _is_same(target, held)
            if same is False:
                continue
            # First, so that whoever is killed in between leaves no file without one.
            text = f"{reason}\n".encode(errors="backslashreplace")
            write_new(target.with_name(target.name + REASON), text, held.key, replace=True)
            if same:
                held.take_out()
            if same or held.move(target):
                return target.name
    except OSError as error:
        raise SinkUnavailableError(f"{folder}: {reason_of(error)}") from error
    raise AssertionError  # pragma: no cover - count() does not end


def _is_same(target: Path, held: ClaimedFile) -> bool | None:
    """Tell whether another file has the bytes of a claimed one; None if there is no other."""
    if not os.path.lexists(target) or is_at(target, held.descriptor):
        return None
    with suppress(DocumentRejectedError):  # too large to be compared
        small = target.is_file() and target.stat().st_size == held.size
        return small and target.read_bytes() == held.read()
    return False


def waiting_for(kind: DocumentKind, spool: Path, *, own: bool = True) -> Listing:
    """List the files of a spool that a sink takes.

    Args:
        kind: What the sink takes; one that takes events makes them of documents, too.
        spool: The folder.
        own: Whether the spool is the lab's; in another folder only documents wait, and what else
            has such a name counts as left alone.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    try:
        found = listing(spool, None if kind is DocumentKind.EVENTS else kind)
    except FileNotFoundError:
        return Listing((), 0)
    if own:
        return found
    waiting = tuple(one for one in found.waiting if _is_document(one))
    return Listing(waiting, found.left_alone + len(found.waiting) - len(waiting))


def _is_document(waiting: WaitingFile) -> bool:
    name, how = split_name(waiting.name)
    if _OUR_NAME.fullmatch(name):
        return True
    kind = kind_of(waiting.name)
    beginning = _beginning(waiting, how)
    return kind is not None and all(part in beginning for part in _FORM[kind])


def _beginning(waiting: WaitingFile, how: Compression) -> bytes:
    try:
        with waiting.path.open("rb") as stream, reading(stream, how) as plain:
            return plain.read(_BEGINNING)
    except (OSError, DocumentRejectedError):
        return b""


def offer_again(spool: Path, kind: DocumentKind = DocumentKind.EVENTS) -> tuple[Left, ...]:
    """Move rejected documents back to the spool, and remove their reasons.

    A file gets its name in the spool before it loses the one in ``rejected/``. If a publisher is
    killed in between, the next one completes it.

    Args:
        spool: The spool.
        kind: As for ``waiting_for``.

    Returns:
        What stays, because another file of that name waits, or it cannot be moved.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    found = waiting_for(kind, spool / REJECTED)
    left = (_offered(one.path, spool) for one in found.waiting)
    return tuple(one for one in left if one is not None)


def _offered(path: Path, spool: Path) -> Left | None:
    name = f"{REJECTED}/{path.name}"
    try:
        with claimed(path) as held:
            if held is None:
                return None
            if held.move(spool / path.name):
                path.with_name(path.name + REASON).unlink(missing_ok=True)
                return None
    except (BenchyardError, OSError) as error:
        return Left(name, reason_of(error))
    return Left(name, "another file of that name waits; publish or remove that one first")
