"""From the bytes of a control group's files to values, of versions 1 and 2; nothing is read here.

Whatever the bytes are, these functions answer; what is missing or damaged is None.
Source: Documentation/admin-guide/{cgroup-v1,cgroup-v2.rst} of Linux.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from benchyard.host.counters.parsing import number, number_after


class CgroupDisk(NamedTuple):
    """What a control group moved to and from block devices."""

    read_bytes: int | None = None
    write_bytes: int | None = None
    read_count: int | None = None
    write_count: int | None = None


class Amount(NamedTuple):
    """Where an amount stands in the files of a control group.

    Args:
        file: Name in ``benchyard.host.counters.groups.FILES``.
        name: What stands before it in its line; empty if it is all of the file.
        units: How many of the kernel's units are one of the metric's.
    """

    file: str
    name: bytes = b""
    units: int = 1


#: Metric to where it stands. Minor faults are counted together with the major ones.
AMOUNTS: Mapping[str, Amount] = {
    "resource_cpu_s": Amount("cpu", b"usage_usec ", 10**6),
    "resource_cpu_user_s": Amount("cpu", b"user_usec ", 10**6),
    "resource_cpu_system_s": Amount("cpu", b"system_usec ", 10**6),
    "resource_throttled_count": Amount("throttling", b"nr_throttled "),
    "resource_throttled_s": Amount("throttling", b"throttled_usec ", 10**6),
    "resource_memory_bytes": Amount("memory"),
    "resource_memory_anonymous_bytes": Amount("memory_stat", b"anon "),
    "resource_memory_file_bytes": Amount("memory_stat", b"file "),
    "resource_page_fault_minor_count": Amount("memory_stat", b"pgfault "),
    "resource_page_fault_major_count": Amount("memory_stat", b"pgmajfault "),
    "resource_oom_kill_count": Amount("oom", b"oom_kill "),
}
#: Where version 1 has it elsewhere: its ``memory.stat`` tells the group alone, and in other lines
#: the whole subtree.
_IN_VERSION_1: Mapping[str, Amount] = {
    "resource_cpu_s": Amount("cpu", b"", 10**9),
    "resource_cpu_user_s": Amount("cpu_user", b"", 10**9),
    "resource_cpu_system_s": Amount("cpu_system", b"", 10**9),
    "resource_memory_anonymous_bytes": Amount("memory_stat", b"total_rss "),
    "resource_memory_file_bytes": Amount("memory_stat", b"total_cache "),
    "resource_page_fault_minor_count": Amount("memory_stat", b"total_pgfault "),
    "resource_page_fault_major_count": Amount("memory_stat", b"total_pgmajfault "),
}


def amount(raw: Mapping[str, bytes | None], metric: str) -> float | None:
    """Read an amount, of either version.

    Args:
        raw: Name of a file to its content.
        metric: A key of AMOUNTS.
    """
    for place in filter(None, (_IN_VERSION_1.get(metric), AMOUNTS[metric])):
        content = raw.get(place.file) or b""
        value = number_after(content, place.name) if place.name else number(content)
        if value is not None:
            return value if place.units == 1 else value / place.units
    return None


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
