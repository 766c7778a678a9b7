"""Checks of what the lab is shut in: power, virtual machine, cgroups and their limits."""

import os

from benchyard.host.checks.finding import Finding, fail, ok, size, unknown, warn
from benchyard.host.checks.scene import Checks, Scene
from benchyard.host.facts.confinement import (
    cgroup_version,
    container,
    cpu_limit,
    memory_limit,
    own_folders,
    virtualization,
)
from benchyard.host.facts.memory import meminfo
from benchyard.host.facts.reading import integer, pairs
from benchyard.host.facts.system import charge, supply
from benchyard.statistics.figures import plural

#: The first kernel that resets ``memory.peak``. Source: Linux commit c6f53ed8f213 (2024).
_RESETS_PEAK = (6, 12)
_PROFILE = "sys/firmware/acpi/platform_profile"
#: Bits of the taint that tell of something gone wrong, and what.
#: Source: Linux, Documentation/admin-guide/tainted-kernels.rst.
_WRONG = {
    4: "machine check",
    5: "bad page",
    7: "oops",
    9: "warning",
    14: "soft lockup",
}
#: Options of the command line that make every allocation or lock dearer.
_DEBUGGING = ("slub_debug", "slab_debug", "page_poison", "debug_pagealloc", "kasan", "page_owner")


def power_supply(scene: Scene) -> Finding:
    """Check that the host runs on mains: on a battery, firmware holds the CPUs back.

    Source: Linux, Documentation/ABI/testing/sysfs-class-power; pyperf, "system tune", checks it.
    """
    check, found, left = "power supply", supply(scene.host), charge(scene.host)
    if found == "battery":
        full = "" if left is None else f", {left} % left"
        return fail(check, f"battery{full}", "plug the host in")
    return ok(check, "mains" if found else "no battery")


def power_profile(scene: Scene) -> Finding | None:
    """Check that the firmware is not asked to be quiet or to save energy.

    Source: Linux, Documentation/userspace-api/sysfs-platform_profile.rst.
    """
    profile = scene.host.text(_PROFILE)
    if profile is None:
        return None
    if profile == "performance":
        return ok("power profile", profile)
    advice = f"powerprofilesctl set performance, or echo performance > /{_PROFILE}"
    return warn("power profile", f"{profile}: the firmware may hold the CPUs back", advice)


def virtual(scene: Scene) -> Finding:
    """Check that no hypervisor stands between the lab and its CPUs.

    Source: Linux, X86_FEATURE_HYPERVISOR; sysfs-firmware-dmi.
    """
    told = virtualization(scene.host)
    inside = container(scene.host)
    shut = f", in a container ({inside})" if inside else ""
    if told["hypervisor"]:
        found = f"virtual machine ({told['product'] or 'of an unnamed kind'}){shut}"
        advice = "measure on bare metal; what other guests do shows as steal at best"
        return warn("virtualization", found, advice)
    if told["hypervisor"] is None:
        return unknown("virtualization", f"the CPU does not tell of hypervisors{shut}")
    return ok("virtualization", f"bare metal{shut}")


def cgroups(scene: Scene) -> Finding:
    """Check that the peak of a step's memory can be had.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst (memory.peak), cgroup-v1/memory.rst
    (max_usage_in_bytes).
    """
    version = cgroup_version(scene.host)
    if version is None:
        found = "none are mounted: containers cannot be measured"
        return warn("cgroups", found, "mount -t cgroup2 none /sys/fs/cgroup")
    kind = {"1": "version 1", "2": "version 2"}.get(version, "versions 1 and 2 side by side")
    if not (version != "2" and own_folders(scene.host, "memory")) and not _resets_peak(scene):
        found = f"{kind}: the peak of memory is known for a run, but not for each step"
        return warn("cgroups", found, "use Linux 6.12 or later")
    if scene.user:
        found = f"{kind}: only root may reset the peaks of containers' memory for each step"
        return warn("cgroups", found, "let root run the lab, if these peaks are wanted")
    return ok("cgroups", f"{kind}: peaks of memory are reset for each step")


def _resets_peak(scene: Scene) -> bool:
    """Tell by the rights of ``memory.peak``, which not every cgroup has, else by the version."""
    for folder in own_folders(scene.host, ""):
        file = scene.host.at(f"{folder}/memory.peak")
        if os.access(file, os.F_OK):
            return bool(file.stat().st_mode & 0o200)
    first, _, rest = (scene.host.text("proc/sys/kernel/osrelease") or "").partition(".")
    release = integer(first), integer(rest.partition(".")[0])
    return None not in release and release >= _RESETS_PEAK


def limits(scene: Scene) -> Finding:
    """Check that the lab may use the whole host.

    Source: Linux, Documentation/scheduler/sched-bwc.rst; admin-guide/cgroup-v2.rst (cpu.max).
    """
    check, quota, most = "limits of the lab", cpu_limit(scene.host), memory_limit(scene.host)
    if most is not None and most >= meminfo(scene.host).get("MemTotal", most + 1):
        most = None
    memory = [] if most is None else [f"{size(most)} of memory"]
    if quota is None:
        return ok(check, memory[0] if memory else "none")
    times = _throttled(scene)
    held = f", reached {plural(times, 'time')} so far" if times else ""
    found = " and ".join([f"{quota:g} of {plural(scene.cores, 'core')}{held}", *memory])
    advice = "lift the quota (docker run --cpus, CPUQuota=): who exceeds it is stopped for a while"
    return warn(check, found, advice)


def _throttled(scene: Scene) -> int:
    folders = (*own_folders(scene.host, ""), *own_folders(scene.host, "cpu"))
    told = (dict(pairs(scene.host.text(f"{folder}/cpu.stat"), " ")) for folder in folders)
    return max((integer(each.get("nr_throttled")) or 0 for each in told), default=0)


def kernel(scene: Scene) -> Finding:
    """Check that the kernel is sound, and does not look for its own mistakes.

    Source: Linux, Documentation/admin-guide/tainted-kernels.rst; kernel-parameters.txt.
    """
    taint = scene.host.number("proc/sys/kernel/tainted")
    words = (scene.host.text("proc/cmdline") or "").split()
    debugging = [word for word in words if word.partition("=")[0] in _DEBUGGING]
    if debugging:
        found = f"started with {', '.join(debugging)}: it checks itself at every turn"
        return warn("kernel", found, "boot without that")
    if taint is None or taint < 0:
        return unknown("kernel", "it does not tell whether something went wrong")
    wrong = [name for bit, name in _WRONG.items() if taint >> bit & 1]
    if wrong:
        return warn("kernel", f"since boot: {', '.join(wrong)} (taint {taint})", "dmesg; reboot")
    return ok("kernel", "nothing went wrong since boot" + (f" (taint {taint})" if taint else ""))


CHECKS: Checks = {
    "power supply": power_supply,
    "power profile": power_profile,
    "virtualization": virtual,
    "cgroups": cgroups,
    "limits of the lab": limits,
    "kernel": kernel,
}
