"""What is mounted where, from the text of ``/proc/self/mountinfo``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class MountPoint:
    """One file system in its place.

    Args:
        device: Major and minor number, such as ``259:2``.
        root: Which folder of the file system is mounted.
        point: Where.
        options: Of the mount, then of the file system.
        source: What the file system lies on.
    """

    device: str
    root: str
    point: str
    options: tuple[str, ...]
    fstype: str
    source: str


@lru_cache(maxsize=4)
def read_mounts(mountinfo: str) -> tuple[MountPoint, ...]:
    """Return every mount, in the order of mounting; a host of containers has hundreds.

    Source: Linux, Documentation/filesystems/proc.rst, 3.5.
    """
    return tuple(_mounts(mountinfo))


def _mounts(mountinfo: str) -> Iterator[MountPoint]:
    for line in mountinfo.splitlines():
        first, _, second = line.partition(" - ")
        left, right = first.split(), second.split()
        if len(left) < 6 or len(right) < 3:
            continue
        options = tuple(dict.fromkeys(f"{left[5]},{right[2]}".split(",")))
        root, point, source = map(_plain, (left[3], left[4], right[1]))
        yield MountPoint(left[2], root, point, options, right[0], source)


def _plain(text: str) -> str:
    """Undo the kernel's octal codes for blanks and the like."""
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)
