"""The archive: where documents go after a sink has confirmed them. Nothing there is overwritten."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from benchyard.core.errors import DocumentRejectedError, InputError, SinkUnavailableError
from benchyard.core.files import sync_file, sync_folder
from benchyard.publish.compression import Compression, compress, decompress, split_name
from benchyard.publish.exclusive_write import (
    beside_of,
    link_exclusively,
    make_folder,
    write_exclusively,
)
from benchyard.publish.file_lock import ClaimedFile
from benchyard.publish.sinks.contract import DocumentKind

T = TypeVar("T")
#: How often another may take a name between looking and writing, before something else is wrong.
_RACES = 100


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a file lies in the archive.

    Args:
        where: Its path or address there.
        new: False if the same content lay there under this name before.
    """

    where: str
    new: bool


class Archive(ABC):
    """A folder, or an address, to which files are added and from which none is taken.

    Args:
        compression: How files are compressed on their way; ``none`` leaves them as they lie.
    """

    def __init__(self, compression: Compression = Compression.NONE) -> None:
        self.compression = compression

    @property
    @abstractmethod
    def shown(self) -> str:
        """What to call it in texts; without credentials."""

    @abstractmethod
    def prepare(self) -> None:
        """Make the folder.

        Raises:
            InputError: If there is no such kind of storage.
            SinkUnavailableError: If it cannot be made now.
        """

    def has(self, name: str) -> bool:
        """Tell whether a file of that name lies there, compressed or not.

        Raises:
            SinkUnavailableError: If the archive does not answer.
        """
        plain, _ = split_name(name)
        return self._tried(lambda: next(self._versions(plain), None) is not None)

    def planned(self, held: ClaimedFile, content: bytes) -> str:
        """Tell where a file would lie if it were archived now.

        Args:
            held: The file, claimed.
            content: What the file holds, uncompressed.

        Raises:
            SinkUnavailableError: If the archive does not answer.
        """
        return self._tried(lambda: self._shown(self._place(held, content)[0]))

    def keep(self, held: ClaimedFile, content: bytes) -> Kept:
        """Archive a file; it stays in the spool.

        The same content under the same name is there already; other content under that name stays
        as it is, and this file's name gets a number: ``a~2.json``.

        Args:
            held: The file, claimed.
            content: What the file holds, uncompressed.

        Raises:
            SinkUnavailableError: If that is not possible now: disk full, no permission, no answer.
        """
        return self._tried(lambda: self._keep(held, content))

    def _keep(self, held: ClaimedFile, content: bytes) -> Kept:
        for _ in range(_RACES):
            name, there = self._place(held, content)
            if there:
                self._confirm(name, held)
                return Kept(self._shown(name), new=False)
            # Else somebody took the name just now: look at what that is.
            if self._create(name, held, self._payload(held, content)):
                return Kept(self._shown(name), new=True)
        raise OSError(f"{held.name} is refused because it exists, and yet it cannot be found")

    def _place(self, held: ClaimedFile, content: bytes) -> tuple[str, bool]:
        """Return the name for a file, and whether it lies there already."""
        plain, how = split_name(held.name)
        ending = self._how(how).ending
        for number in count(1):
            version = _numbered(plain, number)
            found = list(self._versions(version))
            same = next((name for name in found if self._is(name, held, content)), None)
            if same is not None:
                return same, True
            if not found:
                return version + ending, False
        raise AssertionError  # pragma: no cover - count() does not end

    def _how(self, lies: Compression) -> Compression:
        return lies if self.compression is Compression.NONE else self.compression

    def _payload(self, held: ClaimedFile, content: bytes) -> bytes | None:
        """Return what to write; None for the file as it lies."""
        how = self._how(held.compression)
        return None if how is held.compression else compress(content, how)

    def _versions(self, name: str) -> Iterator[str]:
        """Yield what lies there under a name, however compressed."""
        return (name + how.ending for how in Compression if self._lies_there(name + how.ending))

    def _is(self, name: str, held: ClaimedFile, content: bytes) -> bool:
        """Tell whether an archived file holds what the claimed one holds."""
        del held
        if not _may_be(self._size(name), split_name(name)[1], len(content)):
            return False
        try:
            return decompress(self._read(name), split_name(name)[1], len(content)) == content
        except DocumentRejectedError:
            return False

    def _tried(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except SinkUnavailableError:
            raise
        except OSError as error:
            text = error.strerror or str(error)
            raise SinkUnavailableError(f"archive {self.shown}: {text}") from error

    @abstractmethod
    def _shown(self, name: str) -> str: ...

    @abstractmethod
    def _lies_there(self, name: str) -> bool: ...

    @abstractmethod
    def _read(self, name: str) -> bytes: ...

    @abstractmethod
    def _size(self, name: str) -> int | None:
        """Return how many bytes lie there; None if that is not known."""

    @abstractmethod
    def _create(self, name: str, held: ClaimedFile, payload: bytes | None) -> bool:
        """Write a file unless there is one of that name; None is the file as it lies."""

    @abstractmethod
    def _confirm(self, name: str, held: ClaimedFile) -> None:
        """Bring a file that lies there already to disk."""


def _may_be(size: int | None, how: Compression, plain: int) -> bool:
    """Tell by a file's size whether it can hold so many bytes; only then is it read."""
    if size is None or (how is Compression.NONE and size == plain):
        return True
    return how is not Compression.NONE and size <= plain + plain // 100 + 1024


def _numbered(name: str, number: int) -> str:
    if number == 1:
        return name
    ending = next(
        kind for kind in (DocumentKind.EVENTS, DocumentKind.RESULTS) if name.endswith(kind)
    )
    return f"{name.removesuffix(ending)}~{number}{ending}"


class LocalArchive(Archive):
    """An archive in a folder of this host."""

    def __init__(self, folder: Path, compression: Compression = Compression.NONE) -> None:
        super().__init__(compression)
        self.folder = folder

    @property
    def shown(self) -> str:
        """Its path."""
        return str(self.folder)

    def prepare(self) -> None:
        """See ``Archive``."""
        self._tried(lambda: make_folder(self.folder))

    def _shown(self, name: str) -> str:
        return str(self.folder / name)

    def _lies_there(self, name: str) -> bool:
        return os.path.lexists(self.folder / name)

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        return path.read_bytes() if path.is_file() else b""

    def _size(self, name: str) -> int | None:
        return (self.folder / name).lstat().st_size

    def _is(self, name: str, held: ClaimedFile, content: bytes) -> bool:
        path = self.folder / name
        return self._is_very_file(path, held) or super()._is(name, held, content)

    def _is_very_file(self, path: Path, held: ClaimedFile) -> bool:
        """Tell whether this file is archived, and was not taken out of the spool."""
        found = path.lstat()
        if not os.path.samestat(found, os.fstat(held.descriptor)):
            return False
        if found.st_nlink < 2:
            raise InputError(f"the archive {self.shown} is the spool itself; name another folder")
        return True

    def _create(self, name: str, held: ClaimedFile, payload: bytes | None) -> bool:
        target = self.folder / name
        linked = link_exclusively(held.descriptor, target) if payload is None else None
        if linked is not None:
            return linked
        content = held.read() if payload is None else payload
        return write_exclusively(target, content, key_of(held), held.modified_ns)

    def _confirm(self, name: str, held: ClaimedFile) -> None:
        sync_file(self.folder / name)
        beside_of(self.folder / name, key_of(held)).unlink(missing_ok=True)
        sync_folder(self.folder)


def key_of(held: ClaimedFile) -> str:
    """Return a key that only the publisher that has claimed this file writes under."""
    return f"{held.path.absolute()} {os.fstat(held.descriptor).st_ino}"
