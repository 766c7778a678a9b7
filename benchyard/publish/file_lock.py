"""Locking a file of the spool against other publishers, here and on hosts that share the disk."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchyard.core.files import sync_folder
from benchyard.core.locks import is_at, open_for_lock, try_lock
from benchyard.publish.compression import LARGEST, Compression, decompress, split_name, too_large

_NO_FILE = (errno.ENOENT, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENOTDIR)
#: Device, inode, size and time of a file.
Mark = tuple[int, int, int, int]


class Missed(StrEnum):
    """Why a file could not be claimed."""

    BUSY = "another publisher is at it"
    GONE = "it is not there any more"


@dataclass(frozen=True, slots=True)
class ClaimedFile:
    """One file of a spool, open and locked.

    Args:
        path: Its path in the spool.
        descriptor: Of the open file.
        mark: Of the file when it was claimed.
    """

    path: Path
    descriptor: int
    mark: Mark

    @property
    def name(self) -> str:
        """Its name in the spool."""
        return self.path.name

    @property
    def modified_ns(self) -> int:
        """When it was last written, in ns since 1970."""
        return os.fstat(self.descriptor).st_mtime_ns

    @property
    def size(self) -> int:
        """Its bytes, as it lies."""
        return os.fstat(self.descriptor).st_size

    def read(self) -> bytes:
        """Return all of it, as it lies.

        Raises:
            OSError: If it cannot be read.
            DocumentRejectedError: If it is too large to be held in memory.
        """
        if self.size > LARGEST:
            raise too_large(size=self.size)
        # On NFS, closing a second descriptor of the file could give the lock back.
        with os.fdopen(os.dup(self.descriptor), "rb") as stream:
            stream.seek(0)
            return stream.read(LARGEST + 1)  # it may grow

    def content(self) -> bytes:
        """Return all of it, uncompressed.

        Raises:
            OSError: If it cannot be read.
            DocumentRejectedError: If its compression is damaged, or it is too large.
        """
        return decompress(self.read(), self.compression)

    @property
    def compression(self) -> Compression:
        """How it is compressed."""
        return split_name(self.name)[1]

    @property
    def is_unchanged(self) -> bool:
        """Whether nobody has written to it since it was claimed."""
        return _mark(os.fstat(self.descriptor)) == self.mark

    @property
    def is_in_place(self) -> bool:
        """Whether the name in the spool still means this very file."""
        return is_at(self.path, self.descriptor)

    def take_out(self) -> None:
        """Remove it from the spool, unless its name means another file by now."""
        if self.is_in_place:
            self.path.unlink()
            sync_folder(self.path.parent)


@contextmanager
def claimed(path: Path) -> Generator[ClaimedFile | Missed]:
    """Lock a file while the block runs, if nobody else has locked it.

    Links are not followed. If the name belongs to another file once the lock is held, since a
    publisher archived the first one or somebody put a new one, the file counts as gone.

    Raises:
        OSError: If the file is there and cannot be opened or locked.
    """
    descriptor = _open(path)
    if descriptor is None:
        yield Missed.GONE
        return
    try:
        yield _lock(path, descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int | None:
    try:
        return open_for_lock(path)
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise


def _lock(path: Path, descriptor: int) -> ClaimedFile | Missed:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return Missed.GONE
    if not try_lock(descriptor):
        return Missed.BUSY
    if not is_at(path, descriptor):
        return Missed.GONE
    return ClaimedFile(path, descriptor, _mark(os.fstat(descriptor)))


def _mark(found: os.stat_result) -> Mark:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
