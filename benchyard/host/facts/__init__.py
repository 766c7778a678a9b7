"""Where a run was measured: the testbed, and the state of the case's repository.

Nothing here fails: what a host does not tell is null. Sizes are bytes, frequencies hertz.
"""

import platform
from functools import cache

from benchyard import __version__
from benchyard.core.model import Json, JsonObject
from benchyard.host.facts.confinement import cgroup, virtualization
from benchyard.host.facts.engine import docker
from benchyard.host.facts.hardware import huge_pages, meminfo, processor, randomization, swap
from benchyard.host.facts.krown import case_info
from benchyard.host.facts.reading import Facts, Host, known
from benchyard.host.facts.software import git_state, packages, work_tree_state
from benchyard.host.facts.storage import disks
from benchyard.host.facts.system import (
    boot,
    clocksource,
    network,
    power,
    telling_parameters,
    timezone,
)

__all__ = ["case_info", "environment", "environment_of", "git_state", "work_tree_state"]


def environment() -> JsonObject:
    """Return what is known of the testbed; looked up once per process, and shared by all records.

    A copy for each run would make a lab of many runs grow.
    """
    return dict(_environment())


@cache
def _environment() -> JsonObject:
    return environment_of(Host())


def environment_of(host: Host) -> JsonObject:
    """Return what is known of a host: this one, or what is recorded of another.

    Names, versions of software, time zone and affinity are those of this process either way.
    """
    facts: Facts = {
        "host": platform.node,
        "kernel": platform.platform,
        "kernel_parameters": lambda: telling_parameters(host),
        "os": _os,
        "architecture": platform.machine,
        "boot": lambda: boot(host),
        "cpu": lambda: processor(host),
        "memory_bytes": lambda: meminfo(host)["MemTotal"],
        "swap_bytes": lambda: meminfo(host)["SwapTotal"],
        "swap": lambda: swap(host),
        "huge_pages": lambda: huge_pages(host),
        "address_randomization": lambda: randomization(host),
        "disks": lambda: disks(host),
        "network": lambda: network(host),
        "cgroup": lambda: cgroup(host),
        "virtualization": lambda: virtualization(host),
        "clocksource": lambda: clocksource(host),
        "timezone": lambda: timezone(host),
        "power": lambda: power(host),
        "docker": lambda: docker(host),
        "packages": packages,
        "python": lambda: f"{platform.python_implementation()} {platform.python_version()}",
    }
    return known(facts) | {"benchyard": __version__}


def _os() -> Json:
    release = platform.freedesktop_os_release()
    return {"name": release.get("NAME"), "version": release.get("VERSION")}
