"""Checks of the CPUs: whether they run at one speed, alone, and cool."""

import os

from benchyard.host.checks.check_context import CheckContext, Checks, throttled
from benchyard.host.checks.finding import Finding, fail, ok, unknown, warn
from benchyard.host.facts.hardware import (
    CPU,
    NODE,
    cores,
    frequencies,
    isolated,
    online,
    policies,
    smt,
    turbo,
)
from benchyard.host.facts.reading import as_list
from benchyard.statistics.figures import plural

_NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
_BOOST = "/sys/devices/system/cpu/cpufreq/boost"
#: Preferences that ask for speed. Source: Linux, admin-guide/pm/intel_pstate.rst, amd-pstate.rst.
_FAST = frozenset(("performance", "balance_performance", "default"))


def governor(context: CheckContext) -> Finding:
    """Check that the frequency does not follow the load.

    Source: Linux, Documentation/admin-guide/pm/cpufreq.rst; pyperf, "system tune".
    """
    check = "governor"
    found = policies(context.host, "scaling_governor")
    if not found:
        return unknown(check, "the kernel has no frequency driver, as in most virtual machines")
    count = plural(len(online(context.host)), "CPU")
    if found == ["performance"]:
        return ok(check, f"performance on {count}")
    advice = "cpupower frequency-set -g performance"
    return warn(check, f"{', '.join(found)} on {count}: the speed follows the load", advice)


def energy_preference(context: CheckContext) -> Finding | None:
    """Check that drivers that choose the frequency themselves are asked for speed.

    Source: Linux, Documentation/admin-guide/pm/intel_pstate.rst and amd-pstate.rst.
    """
    found = policies(context.host, "energy_performance_preference")
    if not found:
        return None
    if _FAST.issuperset(found):
        return ok("energy preference", ", ".join(found))
    advice = "cpupower set --epp performance"
    return warn("energy preference", f"{', '.join(found)}: speed is traded for energy", advice)


def turbo_boost(context: CheckContext) -> Finding:
    """Check that the speed does not depend on heat and on idle neighbours.

    Source: Linux, admin-guide/pm/intel_pstate.rst (no_turbo), cpufreq.rst (boost); BenchExec warns
    of it too.
    """
    state = turbo(context.host)
    if state is None:
        return unknown("turbo", "the kernel does not tell whether CPUs exceed their base frequency")
    if not state:
        return ok("turbo", "off: CPUs stay at their base frequency")
    at = f"echo 1 > {_NO_TURBO}" if context.host.has(_NO_TURBO) else f"echo 0 > {_BOOST}"
    return warn("turbo", "on: the speed depends on heat and on how many cores work", at)


def frequency_limits(context: CheckContext) -> Finding | None:
    """Check that nobody holds the CPUs below what they can.

    Source: Linux, Documentation/admin-guide/pm/cpufreq.rst (scaling_max_freq, cpuinfo_max_freq).
    """
    check = "frequency limits"
    limits, most = (
        frequencies(context.host, f"{kind}_max_freq") for kind in ("scaling", "cpuinfo")
    )
    if not limits or not most:
        return None
    held, can = min(limits) / 1e9, min(most) / 1e9
    if held < can * 0.999:
        advice = f"cpupower frequency-set -u {can:.2f}GHz, unless that is meant"
        return warn(check, f"CPUs are held to {held:.2f} of {can:.2f} GHz", advice)
    return ok(check, f"CPUs may reach {max(limits) / 1e9:.2f} GHz")


def kinds_of_cores(context: CheckContext) -> Finding | None:
    """Check that all cores are alike: else it matters which one a program is put on.

    Source: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu (cpu_capacity); Intel hybrid
    CPUs have a folder of events for each kind.
    """
    host = context.host
    told = {cpu: host.number(f"{CPU}/cpu{cpu}/cpu_capacity") for cpu in online(host)}
    kinds = {capacity for capacity in told.values() if capacity is not None}
    small = host.text("sys/devices/cpu_atom/cpus")
    if len(kinds) < 2 and small is None:
        return None
    slow = small or as_list(
        {c for c, much in told.items() if much is not None and much < max(kinds)}
    )
    found = f"cores are not alike: CPUs {slow} are slower"
    return warn("kinds of cores", found, "pin the lab to one kind: taskset -c CPUS benchyard run")


def simultaneous_threads(context: CheckContext) -> Finding:
    """Check that no two programs share a core.

    Source: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu (smt); Beyer, Löwe, Wendler,
    "Reliable benchmarking", STTT 21 (2019).
    """
    check, active = "SMT", smt(context.host)
    physical = cores(context.host)
    count = f"{plural(len(physical), 'core')}, {plural(context.cores, 'thread')}"
    if active is None and not physical:
        return unknown(check, "the kernel does not tell whether cores run several threads")
    if active is False or (active is None and max(map(len, physical)) == 1):
        return ok(check, f"off: {count}")
    advice = "echo off > /sys/devices/system/cpu/smt/control, or pin the lab to one thread a core"
    return warn(check, f"on: {count}; what runs on one thread slows the other", advice)


def thermal_throttling(context: CheckContext) -> Finding:
    """Check that no CPU was slowed down for heat.

    Source: Linux, Documentation/admin-guide/thermal, arch/x86/kernel/cpu/mce/therm_throt.c.
    """
    check, times = "thermal throttling", throttled(context.host)
    if times is None:
        return unknown(check, "the kernel does not count how often CPUs are slowed down for heat")
    if context.look and context.look.throttled:
        found = f"{plural(context.look.throttled, 'time')} in {context.look.seconds:.1f} s just now"
        return fail(check, found, "let the host cool down, and look after its fans")
    if times:
        return warn(
            check,
            f"{plural(times, 'time')} since boot",
            "look after cooling; lengthen --cooldown; turn turbo off",
        )
    return ok(check, "never since boot")


def memory_nodes(context: CheckContext) -> Finding | None:
    """Check that memory is equally far from all CPUs.

    Source: Linux, Documentation/admin-guide/mm/numa_memory_policy.rst; numactl(8).
    """
    nodes = context.host.cpus(f"{NODE}/online")
    if nodes is None:
        return None
    if len(nodes) == 1:
        return ok("NUMA", "1 node: memory is equally far from all CPUs")
    found = f"{len(nodes)} nodes: memory may lie near or far"
    return warn("NUMA", found, "numactl --cpunodebind=0 --membind=0 benchyard run …")


def isolation(context: CheckContext) -> Finding:
    """Tell which CPUs the lab may use, and which ones the scheduler leaves alone.

    Source: Linux, admin-guide/kernel-parameters.txt (isolcpus); sched_setaffinity(2).
    """
    alone = isolated(context.host)
    may = as_list(os.sched_getaffinity(0))
    others = "none isolated" if alone in (None, "none") else f"{alone} isolated"
    return ok(
        "CPU isolation", f"the lab may use CPUs {may} of {as_list(online(context.host))}; {others}"
    )


CHECKS: Checks = {
    "governor": governor,
    "energy preference": energy_preference,
    "turbo": turbo_boost,
    "frequency limits": frequency_limits,
    "kinds of cores": kinds_of_cores,
    "SMT": simultaneous_threads,
    "thermal throttling": thermal_throttling,
    "NUMA": memory_nodes,
    "CPU isolation": isolation,
}
