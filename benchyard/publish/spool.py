"""The spool: a folder in which finished documents wait to be published."""

import os
import re
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchyard.core.errors import (
    BenchyardError,
    DocumentRejectedError,
    InputError,
    SinkUnavailableError,
)
from benchyard.publish.archive import LocalArchive, key_of
from benchyard.publish.compression import LARGEST, Compression, reading, split_name
from benchyard.publish.exclusive_write import (
    link_exclusively,
    make_folder,
    rename_exclusively,
    write_again,
    write_exclusively,
)
from benchyard.publish.file_lock import ClaimedFile, Missed, claimed
from benchyard.publish.outcome import Left
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
        InputError: If publishers would not look at such a name.
        OSError: If the disk is full or not writable.
    """
    if kind_of(name) is None or "/" in name:
        raise InputError(f"'{name}' is no name for a spool: it must end in .json or .events.jsonl")
    make_folder(folder)
    if os.path.lexists(folder / name):
        return False
    key = f"{name} {os.getpid()} {threading.get_ident()}"
    return write_exclusively(folder / name, content, key)


def kind_of(name: str) -> DocumentKind | None:
    """Tell by a file's name what it holds; None if it is not published."""
    plain, _ = split_name(name)
    if name.startswith("."):
        return None
    return next(
        (kind for kind in (DocumentKind.EVENTS, DocumentKind.RESULTS) if plain.endswith(kind)), None
    )


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


class _Rejects(LocalArchive):
    """The folder of rejected files, which are compared by their bytes as they lie."""

    def _is(self, name: str, held: ClaimedFile, content: bytes) -> bool:
        path = self.folder / name
        if self._is_very_file(path, held):
            return True
        small = path.lstat().st_size == held.size <= LARGEST
        return small and self._read(name) == content

    def _create(self, name: str, held: ClaimedFile, payload: bytes | None) -> bool:
        if held.size <= LARGEST:
            return super()._create(name, held, payload)
        target = self.folder / name
        linked = link_exclusively(held.descriptor, target)
        return rename_exclusively(held.path, target) if linked is None else linked


def reject(held: ClaimedFile, reason: str) -> str:
    """Move a file that can never be published to ``rejected/``, with the reason beside it.

    Nothing there is overwritten.

    Returns:
        Its name there.

    Raises:
        SinkUnavailableError: If that folder cannot be written; the file is where it was.
    """
    folder = _Rejects(held.path.parent / REJECTED)
    folder.prepare()
    try:
        content = held.read() if held.size <= LARGEST else b""
        kept = Path(folder.keep(held, content).where)
        # Under its lock: nobody else writes the reason of this file.
        write_again(
            kept.with_name(kept.name + REASON),
            f"{reason}\n".encode(errors="backslashreplace"),
            key_of(held),
        )
        held.take_out()
    except OSError as error:
        text = error.strerror or str(error)
        raise SinkUnavailableError(f"{folder.shown}: {text}") from error
    return kept.name


def documents_of(found: Listing) -> Listing:
    """Return a listing without the files that are no documents; these count as left alone."""
    waiting = tuple(one for one in found.waiting if _is_document(one))
    others = len(found.waiting) - len(waiting)
    return replace(found, waiting=waiting, left_alone=found.left_alone + others)


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


def offer_again(spool: Path, only: DocumentKind | None = None) -> tuple[Left, ...]:
    """Move rejected documents back to the spool, and remove their reasons.

    A file gets its name in the spool before it loses the one in ``rejected/``. If a publisher is
    killed in between, the next one completes it.

    Args:
        spool: The spool.
        only: The kind that is wanted; both by default.

    Returns:
        What stays, because another file of that name waits, or it cannot be moved.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    try:
        found = listing(spool / REJECTED, only).waiting
    except FileNotFoundError:
        return ()
    left = (_offered(one.path, spool) for one in found)
    return tuple(one for one in left if one is not None)


def _offered(path: Path, spool: Path) -> Left | None:
    name = f"{REJECTED}/{path.name}"
    try:
        with claimed(path) as held:
            if isinstance(held, Missed) or _moved(held, spool / path.name):
                return None
    except (BenchyardError, OSError) as error:
        return Left(name, getattr(error, "strerror", None) or str(error))
    return Left(name, "another file of that name waits; publish or remove that one first")


def _moved(held: ClaimedFile, target: Path) -> bool:
    placed = link_exclusively(held.descriptor, target)
    if placed is None:
        placed = rename_exclusively(held.path, target)
    if not placed and not os.path.samestat(target.lstat(), os.fstat(held.descriptor)):
        return False
    held.path.with_name(held.name + REASON).unlink(missing_ok=True)
    held.take_out()
    return True
