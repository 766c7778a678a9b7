"""Checks of power, virtualization, limits and kernel, and of what this user may measure."""

import os

from benchyard.core.quantity import amount, plural
from benchyard.host.checks.check_context import CheckContext, Judgement, fail, ok, unknown, warn
from benchyard.host.counters.parsing import number_after
from benchyard.host.facts.hardware import charge, meminfo, supply
from benchyard.host.facts.reading import integer, pairs
from benchyard.host.facts.system import (
    cgroup_version,
    container,
    cpu_limit,
    memory_limit,
    own_folders,
    virtualization,
)

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


def power_supply(context: CheckContext) -> Judgement:
    """Check that the host runs on mains: on a battery, firmware holds the CPUs back.

    Source: Linux, Documentation/ABI/testing/sysfs-class-power; pyperf, "system tune", checks it.
    """
    found, left = supply(context.host), charge(context.host)
    if found == "battery":
        full = "" if left is None else f", {left} % left"
        return fail(f"battery{full}", "plug the host in")
    return ok("mains" if found else "no battery")


def power_profile(context: CheckContext) -> Judgement | None:
    """Check that the firmware is not asked to be quiet or to save energy.

    Source: Linux, Documentation/userspace-api/sysfs-platform_profile.rst.
    """
    profile = context.host.text(_PROFILE)
    if profile is None:
        return None
    if profile == "performance":
        return ok(profile)
    advice = f"powerprofilesctl set performance, or echo performance > /{_PROFILE}"
    return warn(f"{profile}: the firmware may hold the CPUs back", advice)


def virtual(context: CheckContext) -> Judgement:
    """Check that no hypervisor stands between the lab and its CPUs.

    Source: Linux, X86_FEATURE_HYPERVISOR; sysfs-firmware-dmi.
    """
    told = virtualization(context.host)
    inside = container(context.host)
    shut = f", in a container ({inside})" if inside else ""
    if told["hypervisor"]:
        found = f"virtual machine ({told['product'] or 'of an unnamed kind'}){shut}"
        advice = "measure on bare metal; what other guests do shows as steal at best"
        return warn(found, advice)
    if told["hypervisor"] is None:
        return unknown(f"the CPU does not tell of hypervisors{shut}")
    return ok(f"bare metal{shut}")


def cgroups(context: CheckContext) -> Judgement:
    """Check that the peak of a step's memory can be had.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst (memory.peak), cgroup-v1/memory.rst
    (max_usage_in_bytes).
    """
    version = cgroup_version(context.host)
    if version is None:
        found = "none are mounted: containers cannot be measured"
        return warn(found, "mount -t cgroup2 none /sys/fs/cgroup")
    kind = {"1": "version 1", "2": "version 2"}.get(version, "versions 1 and 2 side by side")
    if not _resets_peak(context):
        found = f"{kind}: the peak of memory is known for a run, but not for each step"
        return warn(found, "use Linux 6.12 or later")
    if context.user:
        found = f"{kind}: only root may reset the peaks of containers' memory for each step"
        return warn(found, "let root run the lab, if these peaks are wanted")
    return ok(f"{kind}: peaks of memory are reset for each step")


def _resets_peak(context: CheckContext) -> bool:
    """Tell by the files, of which not every cgroup has all, else by the kernel's version.

    Version 1 can always; version 2 where ``memory.peak`` may be written to.
    """
    for folder in own_folders(context.host, "memory"):
        if context.host.has(f"{folder}/memory.limit_in_bytes"):
            return True
        if context.host.has(f"{folder}/memory.peak"):
            mode = context.host.at(f"{folder}/memory.peak").stat().st_mode
            return bool(mode & 0o200)
    first, _, rest = (context.host.text("proc/sys/kernel/osrelease") or "").partition(".")
    release = integer(first), integer(rest.partition(".")[0])
    return None not in release and release >= _RESETS_PEAK


def limits(context: CheckContext) -> Judgement:
    """Check that the lab may use the whole host.

    Source: Linux, Documentation/scheduler/sched-bwc.rst; admin-guide/cgroup-v2.rst (cpu.max).
    """
    quota, most = cpu_limit(context.host), memory_limit(context.host)
    if most is not None and most >= meminfo(context.host).get("MemTotal", most + 1):
        most = None
    memory = [] if most is None else [f"{amount(most, 'B')} of memory"]
    if quota is None:
        return ok(memory[0] if memory else "none")
    times = _throttled(context)
    held = f", reached {plural(times, 'time')} so far" if times else ""
    found = " and ".join([f"{quota:g} of {plural(context.cores, 'core')}{held}", *memory])
    advice = "lift the quota (docker run --cpus, CPUQuota=): who exceeds it is stopped for a while"
    return warn(found, advice)


def _throttled(context: CheckContext) -> int:
    files = [f"{folder}/cpu.stat" for folder in own_folders(context.host, "cpu")]
    told = (number_after(context.host.content(file), b"nr_throttled ") for file in files)
    return max((times or 0 for times in told), default=0)


def kernel(context: CheckContext) -> Judgement:
    """Check that the kernel is sound, and does not look for its own mistakes.

    Source: Linux, Documentation/admin-guide/tainted-kernels.rst; kernel-parameters.txt.
    """
    taint = context.host.number("proc/sys/kernel/tainted")
    words = (context.host.text("proc/cmdline") or "").split()
    debugging = [word for word in words if word.partition("=")[0] in _DEBUGGING]
    if debugging:
        found = f"started with {', '.join(debugging)}: it checks itself at every turn"
        return warn(found, "boot without that")
    if taint is None or taint < 0:
        return unknown("it does not tell whether something went wrong")
    wrong = [name for bit, name in _WRONG.items() if taint >> bit & 1]
    if wrong:
        return warn(f"since boot: {', '.join(wrong)} (taint {taint})", "dmesg; reboot")
    return ok("nothing went wrong since boot" + (f" (taint {taint})" if taint else ""))


#: Bits of CapEff. Source: Linux, include/uapi/linux/capability.h.
_ADMIN, _PERFMON = 21, 38
_RAPL = "sys/class/powercap"
#: A case with a hundred processes holds a few hundred files; of our own making.
_FEW_FILES = 1024


def user(context: CheckContext) -> Judgement:
    """Tell whose rights programs have that a case starts."""
    if context.user == 0:
        return ok("root: everything can be measured; programs of a case are root's too")
    return ok(f"no root (user id {context.user}): the host's settings cannot be changed")


def process_counters(context: CheckContext) -> Judgement:
    """Check that bytes and memory peaks of a process can be read and reset.

    Source: proc_pid_io(5), PTRACE_MODE_READ_FSCREDS; proc_pid_clear_refs(5).
    """
    needed = (("io", "bytes of disks", os.R_OK), ("clear_refs", "peaks of memory", os.W_OK))
    self = context.host.at("proc/self")
    kept = [what for file, what, mode in needed if not os.access(self / file, mode)]
    if kept:
        found = f"{' and '.join(kept)} of processes cannot be had"
        return warn(found, "use a kernel that has /proc/PID/io and clear_refs")
    return ok("disk bytes and memory peaks of own processes can be had")


def performance_events(context: CheckContext) -> Judgement:
    """Check whether the CPU's own counters may be read: cases that call perf need it.

    Source: Linux, Documentation/admin-guide/perf-security.rst; sysctl/kernel.rst.
    """
    level = context.host.number("proc/sys/kernel/perf_event_paranoid")
    if level is None:
        return unknown("the kernel has none")
    if _has_right(context, _PERFMON) or _has_right(context, _ADMIN) or level < 2:
        return ok(f"may be counted, the kernel's too (perf_event_paranoid {level})")
    if level == 2:
        return ok("may be counted in own programs, outside of the kernel")
    found = f"perf_event_paranoid {level}: this user may count nothing"
    return warn(found, "sysctl -w kernel.perf_event_paranoid=2, if a case calls perf")


def _has_right(context: CheckContext, bit: int) -> bool:
    told = dict(pairs(context.host.text("proc/self/status"))).get("CapEff", "")
    try:
        return bool(int(told, 16) >> bit & 1)
    except ValueError:
        return False


def energy_counters(context: CheckContext) -> Judgement:
    """Check whether the energy of a step can be read.

    Since 2020 only root may, as the counter gives away secrets (CVE-2020-8694).
    Source: Linux, Documentation/power/powercap/powercap.rst.
    """
    files = [f"{_RAPL}/{name}/energy_uj" for name in context.host.names(_RAPL) if ":" in name]
    if not any(map(context.host.has, files)):
        return unknown("the kernel has none (RAPL), as in most virtual machines")
    readable = [file for file in files if context.host.number(file) is not None]
    if not readable:
        advice = "chmod a+r /sys/class/powercap/*/energy_uj, if energy is wanted"
        return warn(f"{plural(len(files), 'counter')}, which only root may read", advice)
    return ok(f"{plural(len(readable), 'counter')} (RAPL) can be read")


def open_files(context: CheckContext) -> Judgement:
    """Check that the sampler may keep its files open.

    Source: getrlimit(2), RLIMIT_NOFILE.
    """
    lines = (context.host.text("proc/self/limits") or "").splitlines()
    told = next((line.split() for line in lines if line.startswith("Max open files")), None)
    if told is None:
        return unknown("the kernel does not tell how many files may be open")
    soft, hard = told[3:5]
    found, allowed = f"{soft} at once, {hard} if asked for", integer(soft)
    if allowed is not None and allowed < _FEW_FILES:
        return warn(found, f"ulimit -n {_FEW_FILES}")
    return ok(found)
