"""Locks on files that the kernel frees with their holder, here and between the hosts of an NFS."""

import errno
import fcntl
import os
from pathlib import Path

#: Links are not followed, and nothing that is no file is waited for.
OPENING = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NOT_FOR_WRITING = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY)


def open_for_lock(path: Path) -> int:
    """Open a file to lock it, for writing where that is allowed.

    NFS locks exclusively only what is open for writing. Source: flock(2), "NFS details".

    Raises:
        OSError: If it cannot be opened.
    """
    try:
        return os.open(path, os.O_RDWR | OPENING)
    except OSError as error:
        if error.errno not in _NOT_FOR_WRITING:
            raise
    return os.open(path, os.O_RDONLY | OPENING)


def try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed, unless another holds it; tell whether it is locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_at(path: Path, descriptor: int) -> bool:
    """Tell whether a path still means this very open file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except (FileNotFoundError, NotADirectoryError):
        return False
