"""A control group around a container: it keeps the account when the container is gone.

A container's own group vanishes with its last process, and its counters with it. What lies below a
group counts in it, too, so one that we make around the container can be read before it starts and
after it ended. It takes the right to make groups, which root has, and the ``cgroupfs`` driver:
systemd makes and removes the groups of its slices by itself.
Source: Linux, Documentation/admin-guide/cgroup-v1/memory.rst, section 6; cgroup-v2.rst.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchyard.cgroups import UNIFIED, Cgroup, cgroup_at, cgroup_of
from benchyard.errors import MeasurementError
from benchyard.labels import owner_is_alive

#: Our groups lie in the hierarchies' roots, and are named so, with the owner and a word behind.
PREFIX = "benchyard-"
#: The driver of an engine that makes groups itself.
CGROUPFS = "cgroupfs"

_MOUNTS = Path("/proc/self/mountinfo")


class OwnGroup:
    """A control group of ours in every hierarchy that this system has.

    Args:
        name: Unique on this host.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.parent = f"/{name}"
        self._folders = [root / name for root in _roots()]
        self.cgroup: Cgroup = self._make()

    def _make(self) -> Cgroup:
        try:
            for folder in self._folders:
                folder.mkdir()
                _count_what_is_below(folder)
            return replace(cgroup_at(self._folders[0]), around=True)
        except BaseException:
            self.remove()
            raise

    def holds(self, group: Cgroup) -> bool:
        """Tell whether a group lies in this one."""
        ours, theirs = self.cgroup.folders, group.folders
        return all(
            theirs[controller].is_relative_to(folder)
            for controller, folder in ours.items()
            if controller in theirs
        )

    def was_used(self) -> bool:
        """Tell whether anything ever ran in it."""
        folders = self.cgroup.folders
        with suppress(OSError, ValueError, KeyError):
            if "cpuacct" in folders:
                return int((folders["cpuacct"] / "cpuacct.usage").read_text()) > 0
            told = (folders[UNIFIED] / "cpu.stat").read_text().splitlines()
            return any(line.startswith("usage_usec ") and line.split()[1] != "0" for line in told)
        return False

    def remove(self) -> None:
        """Remove it; what is still in use stays, and is removed by the next run."""
        _remove(self._folders)


def own_group(owner: str, word: str, driver: object) -> OwnGroup | None:
    """Make a group, or None where that cannot be.

    Args:
        owner: Label of the lab, by which a later one recognises a group that was left.
        word: Tells one group of the lab from another.
        driver: The engine's ``cgroup_driver``.
    """
    if driver != CGROUPFS or not _roots():
        return None
    with suppress(OSError, MeasurementError):
        return OwnGroup(f"{PREFIX}{owner.replace(':', '-')}-{word}")
    return None


def group_of(pid: int) -> Cgroup | None:
    """Return the group of a process, or None if it is gone."""
    try:
        return cgroup_of(pid)
    except MeasurementError:
        return None


def oom_kills(group: Cgroup) -> int:
    """Return how many processes of a group the kernel killed for want of memory; 0 if unknown."""
    places = (("memory", "memory.oom_control"), (UNIFIED, "memory.events"))
    for controller, name in places:
        folder = group.folders.get(controller)
        with suppress(OSError, ValueError):
            lines = (folder / name).read_text().splitlines() if folder else []
            counts = dict(line.split() for line in lines)
            if "oom_kill" in counts:
                return int(counts["oom_kill"])
    return 0


def remove_left(is_alive: Callable[[str], bool] = owner_is_alive) -> list[str]:
    """Remove the empty groups of dead labs; return them in words."""
    found = {path.name: None for root in _roots() for path in root.glob(f"{PREFIX}*")}
    left = [name for name in found if (owner := _owner(name)) and not is_alive(owner)]
    for name in left:
        _remove([root / name for root in _roots()])
    return [f"control group {name}" for name in left]


def _owner(name: str) -> str | None:
    """Read pid, start and namespace from a group's name; None if it is none of ours."""
    parts = name.removeprefix(PREFIX).split("-")
    return ":".join(parts[:3]) if len(parts) == 4 and parts[0].isdigit() else None


def _roots() -> list[Path]:
    """Return where hierarchies of control groups are mounted that show their roots."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    return list(_mounted(lines))


def _mounted(lines: list[str]) -> Iterator[Path]:
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if after.split(" ")[0] in {"cgroup", "cgroup2"} and len(fields) > 4 and fields[3] == "/":
            yield Path(fields[4])


def _count_what_is_below(folder: Path) -> None:
    """Let version 1's memory count what is below, which kernels before 5.11 leave to the user."""
    hierarchy = folder / "memory.use_hierarchy"
    if hierarchy.exists() and hierarchy.read_text().strip() == "0":
        hierarchy.write_text("1")


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        # Another lab may remove the same; a walk passes over what is gone.
        for each, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):  # in use, or gone
                Path(each).rmdir()
