"""The disks: the file systems that lie on one, and what kind of disk it is."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.reading import Facts, Host, chosen, known, or_null

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
    options: str
    fstype: str
    source: str


def mounts(host: Host) -> list[MountPoint]:
    """Return every mount that this process sees, in the order of mounting.

    Source: Linux, Documentation/filesystems/proc.rst, 3.5.
    """
    return list(_table(host.text("proc/self/mountinfo") or ""))


@lru_cache(maxsize=4)
def _table(text: str) -> tuple[MountPoint, ...]:
    """Read the same text once: a host of containers has hundreds of lines."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[MountPoint]:
    for line in text.splitlines():
        first, _, second = line.partition(" - ")
        left, right = first.split(), second.split()
        if len(left) < 6 or len(right) < 3:
            continue
        options = ",".join(dict.fromkeys(f"{left[5]},{right[2]}".split(",")))
        root, point, source = map(_plain, (left[3], left[4], right[1]))
        yield MountPoint(left[2], root, point, options, right[0], source)


def _plain(text: str) -> str:
    """Undo the kernel's octal codes for blanks and the like."""
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)


def mount_of(host: Host, path: str) -> MountPoint | None:
    """Return the mount that ``path``, absolute and without links, lies on."""
    above = [mount for mount in mounts(host) if _is_above(mount.point, path)]
    # Of two at one place the later one covers the earlier.
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def _is_above(point: str, path: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")


def disks(host: Host) -> list[Json]:
    """Return the mounted file systems that lie on a disk."""
    return [_disk(host, mount) for mount in mounts(host) if _is_real(host, mount)]


def _is_real(host: Host, mount: MountPoint) -> bool:
    """Tell a disk from images, layers, network drives and single files bound into a container."""
    on_device = mount.source.startswith("/dev/") and mount.fstype not in ("squashfs", "overlay")
    if mount.source.startswith(("/dev/loop", "/dev/fuse")):
        return False
    return (on_device or mount.fstype == "zfs") and host.at(mount.point).is_dir()


def _disk(host: Host, mount: MountPoint) -> JsonObject:
    return {
        "mountpoint": mount.point,
        "device": mount.source,
        "fstype": mount.fstype,
        "options": mount.options,
        "total_bytes": or_null(lambda: _size(host.at(mount.point))),
        **block_device(host, mount),
    }


def _size(folder: Path) -> int:
    state = os.statvfs(folder)
    return state.f_blocks * state.f_frsize


def block_device(host: Host, mount: MountPoint) -> JsonObject:
    """Return what is known of the disk below a mount.

    Source: Linux, Documentation/ABI/stable/sysfs-block.
    """
    folder = _whole(_folder(host, mount))
    facts: Facts = {
        "model": lambda: _model(host, folder),
        "rotational": lambda: {"1": True, "0": False}.get(_text(host, folder, "queue/rotational")),
        "scheduler": lambda: chosen(_text(host, folder, "queue/scheduler")),
        "write_cache": lambda: _text(host, folder, "queue/write_cache"),
    }
    return known(facts)


def _folder(host: Host, mount: MountPoint) -> Path:
    """Return a device's folder in /sys; file systems like btrfs have no number of a device."""
    numbered = host.at(f"sys/dev/block/{mount.device}")
    if numbered.exists():
        return numbered
    device = Path(os.path.realpath(host.at(mount.source)))
    return host.at(f"sys/class/block/{device.name}")


def _whole(folder: Path) -> Path:
    """Return the disk of a partition."""
    real = Path(os.path.realpath(folder))
    return real.parent if (real / "partition").exists() else real


def _model(host: Host, folder: Path) -> str | None:
    """Return a disk's model; of an encrypted or logical one that of the first disk below."""
    for _ in range(8):
        below = sorted((folder / "slaves").glob("*"))
        if not below:
            break
        folder = _whole(below[0])
    return _text(host, folder, "device/model") or None


def _text(host: Host, folder: Path, name: str) -> str:
    return host.text(os.path.relpath(folder / name, host.root)) or ""
