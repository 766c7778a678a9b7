"""Control groups: where the kernel keeps the account of a container; and what is mounted where.

A process is in one group of each hierarchy. Version 1 has a hierarchy for each controller or a few
of them, version 2 a single one; a hybrid system has both, with the controllers in version 1.
Source: cgroups(7), cgroup_namespaces(7), proc_pid_cgroup(5), proc_pid_mountinfo(5).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from benchyard.core.errors import MeasurementError

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
    return tuple(_mount_points(mountinfo))


def _mount_points(mountinfo: str) -> Iterator[MountPoint]:
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


#: The version 1 controllers that count something of use here.
CONTROLLERS = ("cpu", "cpuacct", "memory", "pids")
#: What the unified (version 2) hierarchy is called in ``Cgroup.folders``.
UNIFIED = ""

_PROC = Path("/proc")


@dataclass(frozen=True)
class Cgroup:
    """One control group.

    Args:
        name: Its path below the hierarchies' roots, such as ``/docker/1f0c``.
        folders: Controller (``cpu``, ``cpuacct``, ``memory``, ``pids``) to its folder in that
            controller's version 1 hierarchy; "" to its folder in the unified (version 2) one.
    """

    name: str
    folders: Mapping[str, Path] = field(default_factory=dict[str, Path])


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mounted hierarchy; ``root`` is the group that its folder shows."""

    controllers: tuple[str, ...]
    root: PurePosixPath
    folder: Path

    def folder_of(self, group: PurePosixPath) -> Path | None:
        """Return where ``group`` lies, or None if this mount does not show it."""
        # A group outside of our cgroup namespace is written /../other: no mount leads there.
        if ".." in group.parts or not group.is_relative_to(self.root):
            return None
        return self.folder / group.relative_to(self.root)


def cgroup_of(pid: int, *, proc: Path = _PROC) -> Cgroup:
    """Return the control group that a process is in.

    Hierarchies in whose root the process is are left out: a root counts everybody. If all are,
    the group has no folders, and nothing can be told of it.

    Raises:
        MeasurementError: If there is no such process.
    """
    groups = {name: group for name, group in _groups(pid, proc).items() if group.name}
    folders: dict[str, Path] = {}
    for mount in _mounts(proc):
        for controller in mount.controllers:
            group = groups.get(controller)
            folder = mount.folder_of(group) if group else None
            if folder is not None and controller not in folders and folder.is_dir():
                folders[controller] = folder
    shown = [str(group) for name, group in groups.items() if name in folders]
    return Cgroup(max(shown, key=len, default="/"), folders)


def place_of(name: str, *, proc: Path = _PROC) -> Path | None:
    """Return where a group is, or will be, in the hierarchy that counts CPU time.

    Args:
        name: Its path below the hierarchies' roots.
        proc: Where ``/proc`` is.

    Returns:
        None if no mounted hierarchy shows that place.
    """
    mounts = _mounts(proc)
    for controller in ("cpuacct", UNIFIED):
        for mount in mounts:
            folder = mount.folder_of(PurePosixPath(name))
            if controller in mount.controllers and folder is not None:
                return folder
    return None


def own_levels(controller: str, *, proc: Path = _PROC) -> Sequence[Path]:
    """Return the folders of this process's group and of all above it that can be seen.

    Args:
        pid: The process.
        controller: Of version 1; where there is no such hierarchy, the unified one is taken.
        proc: Where ``/proc`` is.

    Returns:
        Its own group first; empty if it is not known.
    """
    try:
        groups = _groups("self", proc)
    except MeasurementError:
        return ()
    wanted = controller if controller in groups else UNIFIED
    group = groups.get(wanted)
    for mount in _mounts(proc):
        folder = mount.folder_of(group) if group and wanted in mount.controllers else None
        if folder is not None:
            above = len(folder.relative_to(mount.folder).parts)
            return (folder, *tuple(folder.parents)[:above])
    return ()


def _groups(pid: int | str, proc: Path) -> dict[str, PurePosixPath]:
    """Return controller, "" for the unified hierarchy, to the group that a process is in."""
    try:
        text = (proc / str(pid) / "cgroup").read_text(errors="surrogateescape", encoding="utf-8")
    except OSError as error:
        raise MeasurementError(
            f"the control group of process {pid} is not known: {error.strerror}"
        ) from error
    found: dict[str, PurePosixPath] = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        names = (UNIFIED,) if number == "0" and not controllers else controllers.split(",")
        # The path of a group that was removed while processes were left in it ends like this.
        group = PurePosixPath(path.removesuffix(" (deleted)") or "/")
        found |= {name: group for name in names if name in {UNIFIED, *CONTROLLERS}}
    return found


def _mounts(proc: Path) -> list[_Mount]:
    """Return the mounted hierarchies that matter; none if the system does not tell."""
    try:
        text = (proc / "self" / "mountinfo").read_text(errors="surrogateescape", encoding="utf-8")
    except OSError:
        return []
    found = [mount for mount in read_mounts(text) if mount.fstype in {"cgroup", "cgroup2"}]
    return [
        _Mount(controllers, PurePosixPath(mount.root), Path(mount.point))
        for mount in found
        if (controllers := _controllers(mount))
    ]


def _controllers(mount: MountPoint) -> tuple[str, ...]:
    if mount.fstype == "cgroup2":
        return (UNIFIED,)
    return tuple(option for option in mount.options if option in CONTROLLERS)
