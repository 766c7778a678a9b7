"""Checks of what this user may measure."""

import os

from benchyard.host.checks.finding import Finding, ok, unknown, warn
from benchyard.host.checks.scene import Checks, Scene
from benchyard.host.facts.reading import integer
from benchyard.statistics.figures import plural

#: Bits of CapEff. Source: Linux, include/uapi/linux/capability.h.
_ADMIN, _PERFMON = 21, 38
_RAPL = "sys/class/powercap"
#: A case with a hundred processes holds a few hundred files; of our own making.
_FEW_FILES = 1024


def user(scene: Scene) -> Finding:
    """Tell whose rights programs have that a case starts."""
    if scene.user == 0:
        return ok("user", "root: everything can be measured; programs of a case are root's too")
    return ok("user", f"no root (user id {scene.user}): the host's settings cannot be changed")


def process_counters(scene: Scene) -> Finding:
    """Check that bytes and memory peaks of a process can be read and reset.

    Source: proc_pid_io(5), PTRACE_MODE_READ_FSCREDS; proc_pid_clear_refs(5).
    """
    folder = "proc/self"
    kept = [
        what
        for file, what, mode in (
            ("io", "bytes of disks", os.R_OK),
            ("clear_refs", "peaks of memory", os.W_OK),
        )
        if not os.access(scene.host.at(f"{folder}/{file}"), mode)
    ]
    if kept:
        found = f"{' and '.join(kept)} of processes cannot be had"
        return warn("process counters", found, "use a kernel that has /proc/PID/io and clear_refs")
    return ok("process counters", "disk bytes and memory peaks of own processes can be had")


def performance_events(scene: Scene) -> Finding:
    """Check whether the CPU's own counters may be read: cases that call perf need it.

    Source: Linux, Documentation/admin-guide/perf-security.rst; sysctl/kernel.rst.
    """
    check, level = "perf events", scene.host.number("proc/sys/kernel/perf_event_paranoid")
    if level is None:
        return unknown(check, "the kernel has none")
    if _has_right(scene, _PERFMON) or _has_right(scene, _ADMIN) or level < 2:
        return ok(check, f"may be counted, the kernel's too (perf_event_paranoid {level})")
    if level == 2:
        return ok(check, "may be counted in own programs, outside of the kernel")
    found = f"perf_event_paranoid {level}: this user may count nothing"
    return warn(check, found, "sysctl -w kernel.perf_event_paranoid=2, if a case calls perf")


def _has_right(scene: Scene, bit: int) -> bool:
    for line in (scene.host.text("proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            try:
                return bool(int(line[7:], 16) >> bit & 1)
            except ValueError:
                return False
    return False


def energy_counters(scene: Scene) -> Finding:
    """Check whether the energy of a step can be read.

    Since 2020 only root may, as the counter gives away secrets (CVE-2020-8694).
    Source: Linux, Documentation/power/powercap/powercap.rst.
    """
    check = "energy counters"
    found = [name for name in scene.host.names(_RAPL) if ":" in name]
    files = [f"{_RAPL}/{name}/energy_uj" for name in found]
    if not any(os.access(scene.host.at(file), os.F_OK) for file in files):
        return unknown(check, "the kernel has none (RAPL), as in most virtual machines")
    readable = [file for file in files if scene.host.number(file) is not None]
    if not readable:
        advice = "chmod a+r /sys/class/powercap/*/energy_uj, if energy is wanted"
        return warn(check, f"{plural(len(files), 'counter')}, which only root may read", advice)
    return ok(check, f"{plural(len(readable), 'counter')} (RAPL) can be read")


def open_files(scene: Scene) -> Finding:
    """Check that the sampler may keep its files open.

    Source: getrlimit(2), RLIMIT_NOFILE.
    """
    for line in (scene.host.text("proc/self/limits") or "").splitlines():
        if line.startswith("Max open files"):
            words = line.removeprefix("Max open files").split()
            return _open_files(words[0], words[1])
    return unknown("open files", "the kernel does not tell how many files may be open")


def _open_files(soft: str, hard: str) -> Finding:
    allowed = integer(soft)
    found = f"{soft} at once, {hard} if asked for"
    if allowed is not None and allowed < _FEW_FILES:
        return warn("open files", found, f"ulimit -n {_FEW_FILES}")
    return ok("open files", found)


CHECKS: Checks = {
    "user": user,
    "process counters": process_counters,
    "perf events": performance_events,
    "energy counters": energy_counters,
    "open files": open_files,
}
