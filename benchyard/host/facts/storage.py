"""The disks: the file systems that lie on one, and what kind of disk it is."""

import os
from pathlib import Path

from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.reading import Host, chosen, or_null
from benchyard.process.mounts import MountPoint, read_mounts


def mounts(host: Host) -> tuple[MountPoint, ...]:
    """Return every mount that this process sees, in the order of mounting."""
    return read_mounts(host.text("proc/self/mountinfo") or "")


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
        "options": ",".join(mount.options),
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
    return {
        "model": _model(host, folder),
        "rotational": {"1": True, "0": False}.get(_text(host, folder, "queue/rotational") or ""),
        "scheduler": chosen(_text(host, folder, "queue/scheduler")),
        "write_cache": _text(host, folder, "queue/write_cache"),
    }


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
    return _text(host, folder, "device/model")


def _text(host: Host, folder: Path, name: str) -> str | None:
    return host.text(os.path.relpath(folder / name, host.root))
