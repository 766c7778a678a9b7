"""What this process is shut in: cgroups with their limits, a container, a virtual machine."""

import os
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from benchyard.core.model import JsonObject
from benchyard.host.facts.hardware import hypervisor
from benchyard.host.facts.reading import Facts, Host, integer, known
from benchyard.host.facts.storage import mounts

_MADE_BY = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}
#: The namespaces that a kernel boots with. Source: Linux, include/linux/proc_ns.h (…_INIT_INO).
_FIRST = {"ipc": "ipc:[4026531839]", "uts": "uts:[4026531838]", "pid": "pid:[4026531836]"}


def cgroup(host: Host) -> JsonObject:
    """Return the cgroup version and the limits of this process: cores of CPU time, bytes.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/memory.rst;
    scheduler/sched-bwc.rst.
    """
    facts: Facts = {
        "version": lambda: cgroup_version(host),
        "cpu_limit_cores": lambda: cpu_limit(host),
        "memory_limit_bytes": lambda: memory_limit(host),
    }
    return known(facts)


def cgroup_version(host: Host) -> str | None:
    """Return ``1``, ``2`` or ``hybrid`` (both are mounted); None without cgroups."""
    kinds = {mount.fstype for mount in mounts(host)}
    if "cgroup" in kinds:
        return "hybrid" if "cgroup2" in kinds else "1"
    return "2" if "cgroup2" in kinds else None


def own_folders(host: Host, controller: str) -> list[str]:
    """Return the folders of this process's cgroup and of those above it, its own first.

    Args:
        controller: Of version 1, such as ``cpu``; "" for the one hierarchy of version 2.
    """
    path = _own_path(host, controller)
    for mount in mounts(host):
        options = mount.options.split(",")
        is_it = controller in options if controller else mount.fstype == "cgroup2"
        if path is None or not is_it or not mount.fstype.startswith("cgroup"):
            continue
        own = PurePosixPath(mount.point, *_below(path, mount.root))
        above = [own, *own.parents]
        return [str(folder) for folder in above if folder.is_relative_to(mount.point)]
    return []


def _own_path(host: Host, controller: str) -> str | None:
    for line in (host.text("proc/self/cgroup") or "").splitlines():
        _, names, path = (*line.split(":", 2), "", "")[:3]
        if controller in names.split(","):
            return path
    return None


def _below(path: str, root: str) -> tuple[str, ...]:
    """Return the way from a mount's root to a path; nowhere if the path is not below it."""
    inner = PurePosixPath(path)
    if not inner.is_relative_to(root) or ".." in inner.parts:
        return ()
    return inner.relative_to(root).parts


def cpu_limit(host: Host) -> float | None:
    """Return how many cores' time the lab may use; None without a limit."""
    new = (_ratio(*(host.text(f"{f}/cpu.max") or "").split()) for f in own_folders(host, ""))
    old = (
        _ratio(*(host.text(f"{f}/cpu.cfs_{name}_us") or "" for name in ("quota", "period")))
        for f in own_folders(host, "cpu")
    )
    return min((limit for limit in (*new, *old) if limit is not None), default=None)


def _ratio(quota: str = "", period: str = "", *_: str) -> float | None:
    share, whole = integer(quota), integer(period)
    return share / whole if share and share > 0 and whole and whole > 0 else None


def memory_limit(host: Host) -> int | None:
    """Return how many bytes the lab may have; None without a limit."""
    limits = [host.number(f"{folder}/memory.max") for folder in own_folders(host, "")]
    folders = own_folders(host, "memory")
    limits += [host.number(f"{folder}/memory.limit_in_bytes") for folder in folders]
    # Version 1 writes no limit as the largest number of whole pages: beyond any memory.
    return min((limit for limit in limits if limit is not None and limit < 2**62), default=None)


def virtualization(host: Host) -> JsonObject:
    """Return whether this is a virtual machine or a container; a null container is none known."""
    facts: Facts = {
        "hypervisor": lambda: hypervisor(host),
        "product": lambda: " ".join(_product(host)),
        "container": lambda: container(host),
    }
    return known(facts)


def _product(host: Host) -> Iterator[str]:
    for name in ("sys_vendor", "product_name"):
        text = host.text(f"sys/class/dmi/id/{name}")
        if text:
            yield text


def container(host: Host) -> str | None:
    """Return what made the container that this process is in; None if there is no sign of one.

    Source: systemd.io/CONTAINER_INTERFACE for ``container`` and its file; podman-run(1) for
    ``.containerenv``; ``.dockerenv`` is what Docker leaves.
    """
    if _has_first_namespaces(host):
        return None
    for file, name in _MADE_BY.items():
        if host.has(file):
            return name
    told: list[Callable[[], str | None]] = [
        lambda: host.text("run/systemd/container"),
        lambda: _variable(host.text("proc/1/environ") or "", "container"),
    ]
    return next((name for ask in told if (name := ask())), None)


def _has_first_namespaces(host: Host) -> bool:
    """Tell whether this is no container, whatever lies about in the file system.

    A virtual machine started from a container's image has all of its files.
    """
    return all(_namespace(host, kind) == first for kind, first in _FIRST.items())


def _namespace(host: Host, kind: str) -> str | None:
    try:
        return os.readlink(host.at(f"proc/self/ns/{kind}"))  # noqa: PTH115 - not a path
    except OSError:
        return None


def _variable(environ: str, name: str) -> str | None:
    found = (line.partition("=") for line in environ.split("\0"))
    return next((value for key, _, value in found if key == name), None) or None
