"""What is mounted where, as /proc/self/mountinfo tells it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from benchyard.host.facts.reading import Host

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
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
    options: str
    fstype: str
    source: str


def mounts(host: Host) -> list[Mount]:
    """Return every mount that this process sees, in the order of mounting.

    Source: Linux, Documentation/filesystems/proc.rst, 3.5.
    """
    return list(_table(host.text("proc/self/mountinfo") or ""))


@lru_cache(maxsize=4)
def _table(text: str) -> tuple[Mount, ...]:
    """Read the same text once: a host of containers has hundreds of lines."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[Mount]:
    for line in text.splitlines():
        first, _, second = line.partition(" - ")
        left, right = first.split(), second.split()
        if len(left) < 6 or len(right) < 3:
            continue
        options = ",".join(dict.fromkeys(f"{left[5]},{right[2]}".split(",")))
        root, point, source = map(_plain, (left[3], left[4], right[1]))
        yield Mount(left[2], root, point, options, right[0], source)


def _plain(text: str) -> str:
    """Undo the kernel's octal codes for blanks and the like."""
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)


def mount_of(host: Host, path: str) -> Mount | None:
    """Return the mount that ``path``, absolute and without links, lies on."""
    above = [mount for mount in mounts(host) if _is_above(mount.point, path)]
    # Of two at one place the later one covers the earlier.
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def _is_above(point: str, path: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")
