"""The archive: where documents go after a sink has confirmed them. Nothing there is overwritten.

It is a folder, or an address that fsspec reaches: ``s3://bucket/folder``, ``sftp://host/folder``.
"""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from benchyard.core.errors import (
    BenchyardError,
    DocumentRejectedError,
    InputError,
    SinkUnavailableError,
)
from benchyard.core.files import sync_file, sync_folder
from benchyard.publish.claims import ClaimedFile, beside_of, copy_new, make_folder, write_new
from benchyard.publish.compression import LARGEST, Compression, compress, decompress, split_name
from benchyard.publish.outcome import scrubbed, without_credentials
from benchyard.publish.sinks.contract import DocumentKind

#: ``fsspec.AbstractFileSystem``, which has no types.
#: Source: https://filesystem-spec.readthedocs.io/en/latest/api.html
FileSystem: TypeAlias = Any
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
        shown: What to call it in texts; without credentials.
        compression: How files are compressed on their way; ``none`` leaves them as they lie.
    """

    def __init__(self, shown: str, compression: Compression = Compression.NONE) -> None:
        self.shown = shown
        self.compression = compression

    @abstractmethod
    def prepare(self) -> None:
        """Make the folder.

        Raises:
            SinkUnavailableError: If it cannot be made now.
        """

    def has(self, name: str) -> bool:
        """Tell whether a file of that name lies there, compressed or not.

        Raises:
            SinkUnavailableError: If the archive does not answer.
        """
        return self._tried(lambda: bool(self._versions(split_name(name)[0])))

    def planned(self, held: ClaimedFile, content: bytes) -> str:
        """Tell where a file would lie if it were archived now.

        Args:
            held: The file, claimed.
            content: What the file holds, uncompressed.

        Raises:
            SinkUnavailableError: If the archive does not answer.
        """
        return self._tried(lambda: f"{self.shown}/{self._place(held, content)[0]}")

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
            how = split_name(name)[1]
            payload = None if how is held.compression else compress(content, how)
            # Else somebody took the name just now: look at what that is.
            if there or self._create(name, held, payload):
                if there:
                    self._confirm(name, held)
                return Kept(f"{self.shown}/{name}", new=not there)
        raise OSError(f"{held.name} is refused because it exists, and yet it cannot be found")

    def _place(self, held: ClaimedFile, content: bytes) -> tuple[str, bool]:
        """Return the name for a file, and whether it lies there already."""
        plain, lies = split_name(held.name)
        how = lies if self.compression is Compression.NONE else self.compression
        for number in count(1):
            version = numbered(plain, number)
            there = self._versions(version)
            same = [name for name in there if self._is(name, held, content)]
            if same or not there:
                return same[0] if same else version + how.ending, bool(same)
        raise AssertionError  # pragma: no cover - count() does not end

    def _versions(self, name: str) -> list[str]:
        """Return what lies there under a name, however compressed."""
        endings = (how.ending for how in Compression)
        return [name + ending for ending in endings if self._lies_there(name + ending)]

    def _is(self, name: str, held: ClaimedFile, content: bytes) -> bool:
        """Tell whether an archived file holds what the claimed one holds."""
        del held
        try:
            return decompress(self._read(name), split_name(name)[1], len(content)) == content
        except DocumentRejectedError:
            return False

    def _tried(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except BenchyardError:
            raise
        except Exception as error:
            if (text := self._explained(error)) is None:
                raise
            raise SinkUnavailableError(f"archive {self.shown}: {text}") from error

    @abstractmethod
    def _explained(self, error: Exception) -> str | None:
        """Return what an error says; None if it is not the storage's."""

    @abstractmethod
    def _lies_there(self, name: str) -> bool: ...

    @abstractmethod
    def _read(self, name: str) -> bytes:
        """Return a file; of a larger one than any document at least the beginning."""

    @abstractmethod
    def _create(self, name: str, held: ClaimedFile, payload: bytes | None) -> bool:
        """Write a file unless there is one of that name; None is the file as it lies."""

    @abstractmethod
    def _confirm(self, name: str, held: ClaimedFile) -> None:
        """Bring a file that lies there already to disk."""


def numbered(name: str, number: int) -> str:
    """Return the name of the so-manieth file of a name: ``a.json``, ``a~2.json``."""
    if number == 1:
        return name
    ending = next(kind for kind in DocumentKind if name.endswith(kind))
    return f"{name.removesuffix(ending)}~{number}{ending}"


class LocalArchive(Archive):
    """An archive in a folder of this host."""

    def __init__(self, folder: Path, compression: Compression = Compression.NONE) -> None:
        super().__init__(str(folder), compression)
        self.folder = folder

    def prepare(self) -> None:
        """See ``Archive``."""
        self._tried(lambda: make_folder(self.folder))

    def _explained(self, error: Exception) -> str | None:
        return error.strerror or str(error) if isinstance(error, OSError) else None

    def _lies_there(self, name: str) -> bool:
        return os.path.lexists(self.folder / name)

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(LARGEST + 1)

    def _is(self, name: str, held: ClaimedFile, content: bytes) -> bool:
        there = (self.folder / name).lstat()
        if not os.path.samestat(there, os.fstat(held.descriptor)):
            return super()._is(name, held, content)
        if there.st_nlink < 2:
            raise InputError(f"the archive {self.shown} is the spool itself; name another folder")
        return True  # archived, and not taken out of the spool

    def _create(self, name: str, held: ClaimedFile, payload: bytes | None) -> bool:
        target = self.folder / name
        if payload is None:
            return copy_new(target, held)
        return write_new(target, payload, held.key, held.modified_ns)

    def _confirm(self, name: str, held: ClaimedFile) -> None:
        sync_file(self.folder / name)
        beside_of(self.folder / name, held.key).unlink(missing_ok=True)
        sync_folder(self.folder)


class RemoteArchive(Archive):
    """An archive that fsspec reaches.

    Args:
        url: Address of the folder.
        compression: How files are compressed on their way.

    Raises:
        InputError: If there is no such kind of storage, or its package is not installed.
        SinkUnavailableError: If it does not answer.
    """

    def __init__(self, url: str, compression: Compression = Compression.NONE) -> None:
        super().__init__(without_credentials(url.rstrip("/")), compression)
        self._url = url
        self._files, path = _file_system(url)
        self._root = path.rstrip("/")

    def prepare(self) -> None:
        """See ``Archive``."""
        # Some can write there and yet not make or look at folders; writing tells.
        with suppress(Exception):
            self._files.makedirs(self._root, exist_ok=True)

    def _explained(self, error: Exception) -> str | None:
        return scrubbed(f"{type(error).__name__}: {error}", self._url)

    def _lies_there(self, name: str) -> bool:
        self._files.invalidate_cache()
        return self._files.exists(f"{self._root}/{name}")

    def _read(self, name: str) -> bytes:
        return self._files.cat_file(f"{self._root}/{name}")

    def _create(self, name: str, held: ClaimedFile, payload: bytes | None) -> bool:
        content = held.read() if payload is None else payload
        path = f"{self._root}/{name}"
        try:
            self._write(path, content, f"{held.path.absolute()} {held.mark}")
        except FileExistsError:
            return False
        size = self._files.size(path)
        if size is not None and size != len(content):
            raise OSError(f"{name} has {size} bytes there instead of {len(content)}")
        return True

    def _write(self, path: str, content: bytes, key: str) -> None:
        if _puts_whole(self._files):
            self._files.pipe_file(path, content, mode="create")
            return
        digest = hashlib.sha256(key.encode(errors="replace")).hexdigest()[:24]
        beside = f"{self._root}/.{digest}.new"
        try:
            self._files.pipe_file(beside, content)
            self._files.invalidate_cache()
            if self._files.exists(path):
                raise FileExistsError(path)
            self._files.mv(beside, path)
        finally:
            with suppress(Exception):
                self._files.rm_file(beside)

    def _confirm(self, name: str, held: ClaimedFile) -> None:
        """See ``Archive``: what it shows is stored."""


def _puts_whole(files: FileSystem) -> bool:
    """Tell whether a file appears whole or not at all: object stores, and the memory.

    Of fsspec's file systems the asynchronous ones are the object stores (s3fs, gcsfs, adlfs); they
    refuse with mode ``create`` in the request itself. SFTP, SMB, FTP and HDFS have renaming.
    """
    stores = import_module("fsspec.asyn").AsyncFileSystem
    memory = import_module("fsspec.implementations.memory").MemoryFileSystem
    return isinstance(files, (stores, memory))


def _file_system(url: str) -> tuple[FileSystem, str]:
    # Imported only for such an archive, and it has no types.
    connect = import_module("fsspec.core").url_to_fs
    try:
        return connect(url)
    except (ValueError, ImportError) as error:
        text = f"{without_credentials(url)} cannot be an archive: {scrubbed(str(error), url)}"
        raise InputError(text) from error
    except Exception as error:
        # Some connect here, and whatever their libraries raise means that they could not.
        text = f"archive {without_credentials(url)} does not answer: {type(error).__name__}"
        raise SinkUnavailableError(text) from error
