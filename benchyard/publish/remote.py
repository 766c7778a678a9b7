"""An archive anywhere that fsspec reaches: ``s3://bucket/folder``, ``sftp://host/folder``."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeAlias

from benchyard.core.errors import BenchyardError, InputError, SinkUnavailableError
from benchyard.publish.archive import Archive, T
from benchyard.publish.compression import Compression
from benchyard.publish.file_lock import ClaimedFile
from benchyard.publish.redact import scrubbed, without_credentials

#: ``fsspec.AbstractFileSystem``, which has no types.
#: Source: https://filesystem-spec.readthedocs.io/en/latest/api.html
FileSystem: TypeAlias = Any


class RemoteArchive(Archive):
    """An archive that fsspec reaches.

    Args:
        url: Address of the folder.
        compression: How files are compressed on their way.

    Raises:
        InputError: If there is no such kind of storage, or its package is not installed.
    """

    def __init__(self, url: str, compression: Compression = Compression.NONE) -> None:
        super().__init__(compression)
        self._url = url.rstrip("/")
        self._files, path = _file_system(url)
        self._root = path.rstrip("/")

    @property
    def shown(self) -> str:
        """Its address, without credentials."""
        return without_credentials(self._url)

    def prepare(self) -> None:
        """See ``Archive``."""
        # Some can write there and yet not make or look at folders; writing tells.
        with suppress(Exception):
            self._files.makedirs(self._root, exist_ok=True)

    def _tried(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except BenchyardError:
            raise
        except Exception as error:
            text = scrubbed(f"{type(error).__name__}: {error}", self._url)
            raise SinkUnavailableError(f"archive {self.shown}: {text}") from error

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _shown(self, name: str) -> str:
        return f"{self.shown}/{name}"

    def _lies_there(self, name: str) -> bool:
        self._files.invalidate_cache()
        return self._files.exists(self._path(name))

    def _read(self, name: str) -> bytes:
        return self._files.cat_file(self._path(name))

    def _size(self, name: str) -> int | None:
        return self._files.size(self._path(name))

    def _create(self, name: str, held: ClaimedFile, payload: bytes | None) -> bool:
        content = held.read() if payload is None else payload
        path = self._path(name)
        try:
            self._write(path, content, f"{held.path.absolute()} {held.mark}")
        except FileExistsError:
            return False
        found = self._files.size(path)
        if found is not None and found != len(content):
            raise OSError(f"{name} has {found} bytes there instead of {len(content)}")
        return True

    def _write(self, path: str, content: bytes, key: str) -> None:
        if _puts_whole(self._files):
            self._files.pipe_file(path, content, mode="create")
            return
        beside = self._path(f".{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:24]}.new")
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
