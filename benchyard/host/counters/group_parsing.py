"""From the bytes of a control group's files to values, of versions 1 and 2; nothing is read here.

Whatever the bytes are, these functions answer; what is missing or damaged is None.
Source: Documentation/admin-guide/{cgroup-v1,cgroup-v2.rst} of Linux.
"""

from collections.abc import Collection
from typing import NamedTuple

from benchyard.host.counters.parsing import TICKS_PER_S, number, number_after, per


class CgroupCpu(NamedTuple):
    """CPU time of a control group; what its files do not tell is None."""

    total_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None


class CgroupDisk(NamedTuple):
    """What a control group moved to and from block devices."""

    read_bytes: int | None = None
    write_bytes: int | None = None
    read_count: int | None = None
    write_count: int | None = None


class MemoryKinds(NamedTuple):
    """What the memory of a control group is made of.

    Args:
        anonymous_bytes: Of programs themselves: heaps, stacks.
        file_bytes: Contents of files, the page cache; it goes when others need the memory.
    """

    anonymous_bytes: int | None = None
    file_bytes: int | None = None


class Faults(NamedTuple):
    """Page faults of a control group."""

    minor: int | None = None
    major: int | None = None


def group_cpu(
    usage: bytes, ticks: bytes = b"", user: bytes = b"", system: bytes = b""
) -> CgroupCpu:
    """Read the CPU time of a control group of either version.

    Args:
        usage: ``cpu.stat`` of version 2, in microseconds; or ``cpuacct.usage``, in nanoseconds.
        ticks: ``cpuacct.stat`` of version 1: user and system time, in clock ticks.
        user: ``cpuacct.usage_user``, in nanoseconds; with ``system`` it stands before ``ticks``.
        system: ``cpuacct.usage_sys``.
    """
    names = (b"usage_usec ", b"user_usec ", b"system_usec ")
    found = CgroupCpu(*(per(number_after(usage, name), 10**6) for name in names))
    if found.total_s is not None:
        return found
    parts = [per(number(each), 10**9) for each in (user, system)]
    if None in parts:
        parts = [per(number_after(ticks, name), TICKS_PER_S) for name in (b"user ", b"system ")]
    return CgroupCpu(per(number(usage), 10**9), *parts)


def throttling(cpu_stat: bytes) -> tuple[int | None, float | None]:
    """Read a ``cpu.stat`` of either version: how often a quota ran out, and how long tasks waited.

    Version 1 counts the time in nanoseconds, version 2 in microseconds.
    """
    throttled_s = per(number_after(cpu_stat, b"throttled_usec "), 10**6)
    if throttled_s is None:
        throttled_s = per(number_after(cpu_stat, b"throttled_time "), 10**9)
    return number_after(cpu_stat, b"nr_throttled "), throttled_s


def faults(memory_stat: bytes) -> Faults:
    """Read a ``memory.stat``: its own group's and all those below.

    The kernel's ``pgfault`` counts both kinds; minor is what is not major.
    """
    # Version 1 has lines of the group alone beside those of the whole subtree; version 2 does not.
    version_1 = b"total_pgfault " in memory_stat
    both, major = (
        number_after(memory_stat, b"total_" + name if version_1 else name)
        for name in (b"pgfault ", b"pgmajfault ")
    )
    minor = None if both is None or major is None else max(0, both - major)
    return Faults(minor, major)


def memory_kinds(memory_stat: bytes) -> MemoryKinds:
    """Read a ``memory.stat``: its own group's and all those below."""
    version_1 = b"total_rss " in memory_stat
    names = (b"total_rss ", b"total_cache ") if version_1 else (b"anon ", b"file ")
    return MemoryKinds(*(number_after(memory_stat, name) for name in names))


def oom_kills(events: bytes) -> int | None:
    """Read how many tasks were killed, from ``memory.events`` or ``memory.oom_control``."""
    return number_after(events, b"oom_kill ")


def disk_use(io_stat: bytes | None, devices: Collection[str] | None = None) -> CgroupDisk:
    """Read an ``io.stat``.

    Args:
        io_stat: None where there is none, as in version 1.
        devices: Count only these, each as ``major:minor``. What goes through a device mapper is
            counted there and once more at the disk behind it.

    Returns:
        The sums; zeros if none of the devices was used, for the kernel lists only used ones.
    """
    if io_stat is None:
        return CgroupDisk()
    sums = dict.fromkeys((b"rbytes", b"wbytes", b"rios", b"wios"), 0)
    for line in io_stat.splitlines():
        device, *pairs = line.split() or [b""]
        if devices is not None and device.decode(errors="replace") not in devices:
            continue
        for name, _, text in (pair.partition(b"=") for pair in pairs):
            if name in sums:
                value = number(text)
                if value is None:
                    return CgroupDisk()
                sums[name] += value
    return CgroupDisk(*sums.values())
