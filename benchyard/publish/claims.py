"""Files of spools and archives: claimed, written whole, moved; none takes another's name.

A claim is a lock against other publishers, here and on hosts that share the disk. What gets a name
is first whole under a hidden one beside it. Who was killed in between leaves that one, and the next
who claims the same file writes there again.
"""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.files import sync_folder
from benchyard.core.locks import is_at, open_for_lock, try_lock
from benchyard.publish.compression import LARGEST, Compression, decompress, split_name, too_large

_NO_FILE = (errno.ENOENT, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENOTDIR)
#: What file systems answer that have no (further) hard links, or not to here; ENOENT: the first
#: name is gone.
_NO_LINK = (
    *(errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK),
    *(errno.ENOSYS, errno.ENOTSUP, errno.EINVAL, errno.ENOENT),
)
#: Device, inode, size and time of a file.
Mark = tuple[int, int, int, int]


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
    def key(self) -> str:
        """What only its holder writes under."""
        return f"{self.path.absolute()} {self.mark[1]}"

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
    def is_settled(self) -> bool:
        """Whether it is as it was claimed, and its name still means this very file."""
        return _mark(os.fstat(self.descriptor)) == self.mark and is_at(self.path, self.descriptor)

    def link(self, beside: Path) -> bool:
        """Give it a second name; tell whether that is possible."""
        beside.unlink(missing_ok=True)
        try:
            os.link(self.path, beside, follow_symlinks=False)
        except OSError as error:
            if error.errno in _NO_LINK:
                return False
            raise
        # Its first name may belong to another file by now.
        if not is_at(beside, self.descriptor):
            beside.unlink()
            return False
        os.fsync(self.descriptor)
        return True

    def move(self, target: Path) -> bool:
        """Give it another name instead of its first, unless that is taken; tell whether it has it.

        Raises:
            OSError: If that is not possible; it is where it was.
        """
        with _beside(target, self.key) as beside:
            placed = is_at(target, self.descriptor) or (
                _place(beside, target) if self.link(beside) else _rename(self.path, target)
            )
        if placed:
            self.take_out()
        return placed

    def take_out(self) -> None:
        """Remove it from the spool, unless its name means another file by now."""
        if is_at(self.path, self.descriptor):
            self.path.unlink()
            sync_folder(self.path.parent)


@contextmanager
def claimed(path: Path) -> Generator[ClaimedFile | None]:
    """Lock a file while the block runs; None if another publisher has it, or it is gone.

    Links are not followed. If the name belongs to another file once the lock is held, since a
    publisher archived the first one or somebody put a new one, the file counts as gone.

    Raises:
        OSError: If the file is there and cannot be opened or locked.
    """
    try:
        descriptor = open_for_lock(path)
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        yield None
        return
    try:
        yield _lock(path, descriptor)
    finally:
        os.close(descriptor)


def _lock(path: Path, descriptor: int) -> ClaimedFile | None:
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    if is_file and try_lock(descriptor) and is_at(path, descriptor):
        return ClaimedFile(path, descriptor, _mark(os.fstat(descriptor)))
    return None


def _mark(found: os.stat_result) -> Mark:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def make_folder(folder: Path) -> None:
    """Make a folder with its parents, and bring their names to disk.

    Raises:
        OSError: If that is not possible.
    """
    missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)


def write_new(
    target: Path, content: bytes, key: str, modified_ns: int = 0, *, replace: bool = False
) -> bool:
    """Write a file whole and bring it to disk, unless the name is taken; tell whether it was free.

    Args:
        target: The file.
        content: All of it.
        key: Names the writer. What it began and never finished is overwritten, so no two writers
            may share a key at the same time.
        modified_ns: Time of last change that the file gets; 0 is now.
        replace: Whether it takes the place of what lies there.

    Raises:
        OSError: If the disk is full or not writable; nothing is left then.
    """
    with _beside(target, key) as beside:
        _write(beside, content)
        if modified_ns:
            os.utime(beside, ns=(modified_ns, modified_ns))
        if replace:
            beside.replace(target)
        return replace or _place(beside, target)


def copy_new(target: Path, held: ClaimedFile) -> bool:
    """Give a claimed file a second name, or copy it where that is not possible.

    Returns:
        Whether the name was free.

    Raises:
        OSError: If the disk is full or not writable; nothing is left then.
    """
    with _beside(target, held.key) as beside:
        if held.link(beside):
            return _place(beside, target)
    return write_new(target, held.read(), held.key, held.modified_ns)


def beside_of(target: Path, key: str) -> Path:
    """Return the hidden file that a writer with this key writes before it has its name."""
    return target.with_name(f".{hashlib.sha256(os.fsencode(key)).hexdigest()[:24]}.new")


@contextmanager
def _beside(target: Path, key: str) -> Generator[Path]:
    beside = beside_of(target, key)
    try:
        yield beside
    finally:
        beside.unlink(missing_ok=True)
    sync_folder(target.parent)


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _place(beside: Path, target: Path) -> bool:
    try:
        os.link(beside, target, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        return _rename(beside, target)
    return True


def _rename(path: Path, target: Path) -> bool:
    """Rename a file unless the name is taken, where there are no hard links.

    A lock on the folder keeps others out between the check and the renaming.
    """
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if os.path.lexists(target):
            return False
        path.rename(target)
    finally:
        os.close(folder)
    return True
