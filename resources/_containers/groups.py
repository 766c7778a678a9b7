"""Where the kernel keeps the account of a container: its control group, while there is one."""

from contextlib import suppress
from pathlib import Path

from benchyard.core.errors import MeasurementError
from benchyard.process.cgroups import UNIFIED, Cgroup, cgroup_of, place_of

#: The engine's ``cgroup_driver`` to the group that it makes for a container, unless it is told of
#: another parent. Source: Docker's documentation, ``--cgroup-parent``.
_NAMES = {"cgroupfs": "/docker/{}", "systemd": "/system.slice/docker-{}.scope"}


def group_of(pid: int) -> Cgroup | None:
    """Return the group of a process, or None if it is gone."""
    try:
        return cgroup_of(pid)
    except MeasurementError:
        return None


def expected_place(container: str, driver: object) -> Path | None:
    """Return where the group of a container will be that is about to start, as far as is known.

    Args:
        container: Its id.
        driver: The engine's ``cgroup_driver``.
    """
    name = _NAMES.get(str(driver))
    return place_of(name.format(container)) if name else None


def oom_kills(group: Cgroup) -> int:
    """Return how many processes of a group the kernel killed for want of memory; 0 if unknown."""
    places = (("memory", "memory.oom_control"), (UNIFIED, "memory.events"))
    for controller, name in places:
        folder = group.folders.get(controller)
        with suppress(OSError, ValueError):
            lines = (folder / name).read_text(encoding="utf-8").splitlines() if folder else []
            counts = dict(line.split() for line in lines)
            if "oom_kill" in counts:
                return int(counts["oom_kill"])
    return 0
