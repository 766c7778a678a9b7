"""Writing files whole, without replacing a file of that name."""

import errno
import fcntl
import hashlib
import os
from pathlib import Path

from benchyard.core.files import sync_folder

#: What file systems answer that have no (further) hard links, or not to here.
_NO_LINK = (
    errno.EXDEV,
    errno.EPERM,
    errno.EACCES,
    errno.EMLINK,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EINVAL,
    errno.ENOENT,
)


def make_folder(folder: Path) -> None:
    """Make a folder with its parents, and bring their names to disk.

    Raises:
        OSError: If that is not possible.
    """
    missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)


def write_exclusively(target: Path, content: bytes, key: str, modified_ns: int = 0) -> bool:
    """Write a file whole and bring it to disk, unless the name is taken; tell whether it was free.

    Args:
        target: The file.
        content: All of it.
        key: Names the writer. What it began and never finished is overwritten, so no two writers
            may share a key at the same time.
        modified_ns: Time of last change that the file gets; 0 is now.

    Raises:
        OSError: If the disk is full or not writable; nothing is left then.
    """
    beside = beside_of(target, key)
    try:
        _write(beside, content, modified_ns)
        placed = _place(beside, target)
    finally:
        beside.unlink(missing_ok=True)
    sync_folder(target.parent)
    return placed


def beside_of(target: Path, key: str) -> Path:
    """Return the hidden file that a writer with this key writes before it has its name."""
    return target.with_name(f".{hashlib.sha256(os.fsencode(key)).hexdigest()[:24]}.new")


def write_again(target: Path, content: bytes, key: str) -> None:
    """Write a file whole, and replace what the same writer may have written before.

    Args:
        target: The file.
        content: All of it.
        key: As for ``write_exclusively``.

    Raises:
        OSError: If the disk is full or not writable; nothing half is left then.
    """
    beside = beside_of(target, key)
    try:
        _write(beside, content, 0)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    sync_folder(target.parent)


def _write(path: Path, content: bytes, modified_ns: int) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    if modified_ns:
        os.utime(path, ns=(modified_ns, modified_ns))


def _place(beside: Path, target: Path) -> bool:
    try:
        os.link(beside, target, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        return rename_exclusively(beside, target)
    return True


def rename_exclusively(beside: Path, target: Path) -> bool:
    """Rename a file unless the name is taken, where there are no hard links.

    A lock on the folder keeps others out between the check and the renaming.

    Raises:
        OSError: If that is not possible.
    """
    descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.path.lexists(target):
            return False
        beside.rename(target)
    finally:
        os.close(descriptor)
    return True


def link_exclusively(descriptor: int, target: Path) -> bool | None:
    """Give an open file a second name and bring it to disk, unless that name is taken.

    It is the open file, even if its first name belongs to another one by now.

    Returns:
        Whether it has the name now; None if that is not possible there.
    """
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
        # With the descriptor of a folder Python calls linkat(2), which can follow this link.
        own = f"/proc/self/fd/{descriptor}"
        os.link(own, target.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
        os.fsync(folder)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno in _NO_LINK:
            return None
        raise
    finally:
        os.close(folder)
    return True
