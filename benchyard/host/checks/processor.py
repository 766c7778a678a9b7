"""Checks of CPUs and clocks: whether they run at one speed, alone, and cool, and keep time."""

import os

from benchyard.core.quantity import plural
from benchyard.host.checks.check_context import (
    CheckContext,
    Judgement,
    counted,
    fail,
    ok,
    unknown,
    warn,
)
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
from benchyard.host.facts.system import clocksource

_NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
_BOOST = "/sys/devices/system/cpu/cpufreq/boost"
_THROTTLED = "host_thermal_throttle_count"
#: Preferences that ask for speed. Source: Linux, admin-guide/pm/intel_pstate.rst, amd-pstate.rst.
_FAST = frozenset(("performance", "balance_performance", "default"))


def governor(context: CheckContext) -> Judgement:
    """Check that the frequency does not follow the load.

    Source: Linux, Documentation/admin-guide/pm/cpufreq.rst; pyperf, "system tune".
    """
    found = policies(context.host, "scaling_governor")
    if not found:
        return unknown("the kernel has no frequency driver, as in most virtual machines")
    count = plural(len(online(context.host)), "CPU")
    if found == ["performance"]:
        return ok(f"performance on {count}")
    words = f"{', '.join(found)} on {count}: the speed follows the load"
    return warn(words, "cpupower frequency-set -g performance")


def energy_preference(context: CheckContext) -> Judgement | None:
    """Check that drivers that choose the frequency themselves are asked for speed.

    Source: Linux, Documentation/admin-guide/pm/intel_pstate.rst and amd-pstate.rst.
    """
    found = policies(context.host, "energy_performance_preference")
    if not found:
        return None
    if _FAST.issuperset(found):
        return ok(", ".join(found))
    words = f"{', '.join(found)}: speed is traded for energy"
    return warn(words, "cpupower set --epp performance")


def turbo_boost(context: CheckContext) -> Judgement:
    """Check that the speed does not depend on heat and on idle neighbours.

    Source: Linux, admin-guide/pm/intel_pstate.rst (no_turbo), cpufreq.rst (boost); BenchExec warns
    of it too.
    """
    state = turbo(context.host)
    if state is None:
        return unknown("the kernel does not tell whether CPUs exceed their base frequency")
    if not state:
        return ok("off: CPUs stay at their base frequency")
    at = f"echo 1 > {_NO_TURBO}" if context.host.has(_NO_TURBO) else f"echo 0 > {_BOOST}"
    return warn("on: the speed depends on heat and on how many cores work", at)


def frequency_limits(context: CheckContext) -> Judgement | None:
    """Check that nobody holds the CPUs below what they can.

    Source: Linux, Documentation/admin-guide/pm/cpufreq.rst (scaling_max_freq, cpuinfo_max_freq).
    """
    limits, most = (
        frequencies(context.host, f"{kind}_max_freq") for kind in ("scaling", "cpuinfo")
    )
    if not limits or not most:
        return None
    held, can = min(limits) / 1e9, min(most) / 1e9
    if held < can * 0.999:
        advice = f"cpupower frequency-set -u {can:.2f}GHz, unless that is meant"
        return warn(f"CPUs are held to {held:.2f} of {can:.2f} GHz", advice)
    return ok(f"CPUs may reach {max(limits) / 1e9:.2f} GHz")


def kinds_of_cores(context: CheckContext) -> Judgement | None:
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
    return warn(found, "pin the lab to one kind: taskset -c CPUS benchyard run")


def simultaneous_threads(context: CheckContext) -> Judgement:
    """Check that no two programs share a core.

    Source: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu (smt); Beyer, Löwe, Wendler,
    "Reliable benchmarking", STTT 21 (2019).
    """
    active = smt(context.host)
    physical = cores(context.host)
    count = f"{plural(len(physical), 'core')}, {plural(context.cores, 'thread')}"
    if active is None and not physical:
        return unknown("the kernel does not tell whether cores run several threads")
    if active is False or (active is None and max(map(len, physical)) == 1):
        return ok(f"off: {count}")
    advice = "echo off > /sys/devices/system/cpu/smt/control, or pin the lab to one thread a core"
    return warn(f"on: {count}; what runs on one thread slows the other", advice)


def thermal_throttling(context: CheckContext) -> Judgement:
    """Check that no CPU was slowed down for heat.

    Source: Linux, Documentation/admin-guide/thermal, arch/x86/kernel/cpu/mce/therm_throt.c.
    """
    times = counted(context.host)[_THROTTLED]
    if times is None:
        return unknown("the kernel does not count how often CPUs are slowed down for heat")
    if context.look and (now := context.look.grown(_THROTTLED)):
        found = f"{plural(now, 'time')} in {context.look.seconds:.1f} s just now"
        return fail(found, "let the host cool down, and look after its fans")
    if times:
        advice = "look after cooling; lengthen --cooldown; turn turbo off"
        return warn(f"{plural(times, 'time')} since boot", advice)
    return ok("never since boot")


def memory_nodes(context: CheckContext) -> Judgement | None:
    """Check that memory is equally far from all CPUs.

    Source: Linux, Documentation/admin-guide/mm/numa_memory_policy.rst; numactl(8).
    """
    nodes = context.host.cpus(f"{NODE}/online")
    if nodes is None:
        return None
    if len(nodes) == 1:
        return ok("1 node: memory is equally far from all CPUs")
    found = f"{len(nodes)} nodes: memory may lie near or far"
    return warn(found, "numactl --cpunodebind=0 --membind=0 benchyard run …")


def isolation(context: CheckContext) -> Judgement:
    """Tell which CPUs the lab may use, and which ones the scheduler leaves alone.

    Source: Linux, admin-guide/kernel-parameters.txt (isolcpus); sched_setaffinity(2).
    """
    alone = isolated(context.host)
    may = as_list(os.sched_getaffinity(0))
    others = "none isolated" if alone in (None, "none") else f"{alone} isolated"
    return ok(f"the lab may use CPUs {may} of {as_list(online(context.host))}; {others}")


#: Sources that a program reads without a system call. Source: Linux, what sets VDSO_CLOCKMODE_…
#: (tsc.c, kvmclock.c, hyperv_timer.c, arm_arch_timer.c, timer-riscv.c); time.c of powerpc, s390.
_CHEAP = (
    *("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"),
    *("riscv_clocksource", "timebase", "tod"),
)


def clock_synchronization(context: CheckContext) -> Judgement:
    """Check that a daemon keeps the clock's rate right: it is the rate of the monotonic clock too.

    Source: adjtimex(2); clock_gettime(2), CLOCK_MONOTONIC; BenchExec, doc/benchmarking.md.
    """
    clock, advice = context.clock, "keep a time daemon running: timedatectl set-ntp true"
    if clock is not None and clock.synchronized:
        off = f"off by {clock.offset_s * 1e3:.3g} ms, at most by {clock.error_s * 1e3:,.0f} ms"
        return ok(f"synchronized; {off}")
    if context.host.has("run/systemd/timesync/synchronized"):
        return ok("synchronized, as systemd-timesyncd says")
    if clock is None:
        return unknown("the kernel does not tell whether its clock is synchronized", advice)
    found = "not synchronized: dates may be wrong, and seconds are as long as the quartz makes them"
    return warn(found, advice)


def source_of_time(context: CheckContext) -> Judgement:
    """Check that the time is read without a system call.

    Source: Linux, Documentation/timers/timekeeping.rst; vdso(7).
    """
    told = clocksource(context.host)
    current, available = told["current"], told["available"]
    if not isinstance(current, str):
        return unknown("the kernel does not tell what it reads the time from")
    if current in _CHEAP:
        return ok(f"{current}, read without a system call")
    found = f"{current}: each reading of the time is a system call"
    if isinstance(available, list) and "tsc" in available:
        place = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        return warn(found, f"echo tsc > {place}")
    return warn(found, "find out why the kernel gave up the TSC: dmesg | grep -i tsc")
