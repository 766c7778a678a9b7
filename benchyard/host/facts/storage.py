"""The disks: the file systems that lie on one, and what kind of disk it is."""

import os
from pathlib import Path

from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.mounts import Mount, mounts
from benchyard.host.facts.reading import Facts, Host, chosen, known, or_null


def disks(host: Host) -> list[Json]:
    """Return the mounted file systems that lie on a disk."""
    return [_disk(host, mount) for mount in mounts(host) if _is_real(host, mount)]


def _is_real(host: Host, mount: Mount) -> bool:
    """Tell a disk from images, layers, network drives and single files bound into a container."""
    on_device = mount.source.startswith("/dev/") and mount.fstype not in ("squashfs", "overlay")
    if mount.source.startswith(("/dev/loop", "/dev/fuse")):
        return False
    return (on_device or mount.fstype == "zfs") and host.at(mount.point).is_dir()


def _disk(host: Host, mount: Mount) -> JsonObject:
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


def block_device(host: Host, mount: Mount) -> JsonObject:
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


def _folder(host: Host, mount: Mount) -> Path:
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
