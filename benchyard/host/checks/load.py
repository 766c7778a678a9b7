"""Checks of what else the host does at this moment, and what is taken from it."""

import os

from benchyard.host.checks.finding import Finding, fail, ok, some, unknown, warn
from benchyard.host.checks.scene import Checks, Scene
from benchyard.host.checks.suspicion import STEAL_SHARE, STEAL_TICKS
from benchyard.host.counters.parsing import TICKS_PER_S, cpu_times
from benchyard.host.facts.processor import hypervisor
from benchyard.statistics.figures import plural

#: Load per core that is too much: tasks that ran or waited in the last minute. Of our own making.
_LOAD_PER_CORE = 0.1
#: The lab itself, and what started it, are a load too; of our own making.
_LOAD_OF_THE_LAB = 0.5
#: Percent of the last 10 s in which some task waited that are too much. Of our own making.
_PRESSURE_PERCENT = 1.0
#: Share of a core above which a process is worth a name.
BUSY_SHARE = 0.05


def load_average(scene: Scene) -> Finding:
    """Check that the host has had nothing to do lately.

    At the start of a run it may be the run before that it had to do; so it fails with a look only.
    Source: proc_loadavg(5).
    """
    check = "load average"
    words = (scene.host.text("proc/loadavg") or "").split()
    if len(words) < 3:
        return unknown(check, "the kernel does not tell its load")
    last = float(words[0])
    found = f"{' '.join(words[:3])} over 1, 5 and 15 minutes, on {plural(scene.cores, 'core')}"
    if last >= scene.cores and scene.look:
        return fail(check, found, "wait, or stop what runs: top")
    if last > max(_LOAD_PER_CORE * scene.cores, _LOAD_OF_THE_LAB):
        return warn(check, found, "wait, or stop what runs: top")
    return ok(check, found)


def pressure(scene: Scene) -> Finding:
    """Check that no task waits for CPU, memory or disk.

    Source: Linux, Documentation/accounting/psi.rst.
    """
    check = "pressure"
    told = {kind: _waited(scene, kind) for kind in ("cpu", "memory", "io")}
    known = {kind: percent for kind, percent in told.items() if percent is not None}
    if not known:
        advice = "boot with psi=1; without it, no record tells how long tasks waited"
        return unknown(check, "the kernel does not measure how long tasks wait", advice)
    shares = ", ".join(f"{kind} {percent:.2f}%" for kind, percent in known.items())
    found = f"of the last 10 s, tasks waited: {shares}"
    if any(percent > _PRESSURE_PERCENT for percent in known.values()):
        return warn(check, found, "find who works: top, iotop")
    return ok(check, found)


def _waited(scene: Scene, kind: str) -> float | None:
    for line in (scene.host.text(f"proc/pressure/{kind}") or "").splitlines():
        words = line.split()
        if words[:1] == ["some"] and words[1:] and words[1].startswith("avg10="):
            return float(words[1].removeprefix("avg10="))
    return None


def busy_processes(scene: Scene) -> Finding | None:
    """Check that nobody else computes: processes that took more than 5 % of a core in the look."""
    if scene.look is None:
        return None
    check, look = "busy processes", scene.look
    shares = {pid: share for pid, share in look.shares().items() if pid != os.getpid()}
    busy = sorted((pid for pid in shares if shares[pid] > BUSY_SHARE), key=lambda pid: -shares[pid])
    if not look.after.processes:
        return unknown(check, "the kernel lists no processes")
    if not busy:
        return ok(check, f"none above {BUSY_SHARE:.0%} of a core in {look.seconds:.1f} s")
    named = [f"{_name(scene, pid)} (pid {pid}) {shares[pid]:.0%}" for pid in busy]
    return warn(check, f"{some(named)} of a core", "stop them, or wait until they are done")


def _name(scene: Scene, pid: int) -> str:
    return scene.host.text(f"proc/{pid}/comm") or "ended"


def steal(scene: Scene) -> Finding | None:
    """Check that no hypervisor gives the host's CPUs to others.

    Source: proc_stat(5), steal; the threshold is that of a suspect step.
    """
    check, times = "steal", cpu_times((scene.host.text("proc/stat") or "").encode())
    if times.steal_s is None:
        return unknown(check, "the kernel does not tell what a hypervisor takes")
    total = sum(seconds for seconds in times if seconds is not None)
    share = times.steal_s / total if total else 0.0
    found = f"{share:.2%} of all CPU time since boot"
    if scene.look and (stolen := scene.look.stolen_s) is not None:
        found = f"{stolen:.2f} s in {scene.look.seconds:.1f} s just now; {found}"
        ticks = round(stolen * TICKS_PER_S)
        if ticks > STEAL_TICKS and stolen > STEAL_SHARE * scene.look.seconds:
            return warn(check, found, "use a dedicated host, or ask for CPUs of your own")
    if share > STEAL_SHARE:
        return warn(check, found, "use a dedicated host, or ask for CPUs of your own")
    return ok(check, found) if times.steal_s or hypervisor(scene.host) else None


CHECKS: Checks = {
    "load average": load_average,
    "pressure": pressure,
    "busy processes": busy_processes,
    "steal": steal,
}
