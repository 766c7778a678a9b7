"""Kernel files: read again and again through a descriptor that stays open, or just once."""

import os
from contextlib import suppress
from pathlib import Path

#: Most files fit; one that does not makes the next reading larger.
_FIRST_SIZE = 8192


class KernelFile:
    """A file of procfs, sysfs or a control group that stays open; reading it never raises.

    Args:
        path: None for what has no place on this system: such a file is never open.
        records: Whether the kernel hands the file out in parts, whatever size is asked for, as it
            does with files that are long lists of lines.
    """

    def __init__(self, path: Path | None, *, records: bool = False) -> None:
        self.path = path
        #: Why the last reading, or opening, gave nothing; in the system's words.
        self.problem: str | None = None
        self._records = records
        self._size = _FIRST_SIZE
        self._descriptor: int | None = None
        if path is None:
            return
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            self._note(error)

    @property
    def name(self) -> str:
        """Its name without the folder; empty if it has no place on this system."""
        return self.path.name if self.path else ""

    @property
    def is_open(self) -> bool:
        """Whether there is such a file and it may be read."""
        return self._descriptor is not None

    def read(self) -> bytes | None:
        """Return the content now; None if the kernel gives none."""
        # Other threads may read at the same time, and one may close it.
        descriptor, size = self._descriptor, self._size
        if descriptor is None:
            return None
        try:
            found = os.pread(descriptor, size, 0)
            while len(found) == size:
                size *= 2
                found = os.pread(descriptor, size, 0)
            while self._records and (more := os.pread(descriptor, size, len(found))):
                found += more
        except OSError as error:
            self._note(error)
            return None
        self._size = max(self._size, size)
        return found

    def close(self) -> None:
        """Close it; it gives nothing any more."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self.problem = "it was closed"
            with suppress(OSError):
                os.close(descriptor)

    def _note(self, error: OSError) -> None:
        self.problem = error.strerror


def read_once(path: str) -> bytes | None:
    """Return the content of a kernel file, or None if the kernel gives none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = b""
        while part := os.pread(descriptor, _FIRST_SIZE, len(found)):
            found += part
    except OSError:
        return None
    else:
        return found
    finally:
        os.close(descriptor)
