"""What kernel files tell, as values; what a kernel does not tell is None.

Times are seconds and sizes bytes unless the name says otherwise.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar, cast

_Number = TypeVar("_Number", int, float)


class CpuTimes(NamedTuple):
    """Seconds that all processors together spent; time in guests is part of user and nice time.

    Args:
        irq_s: Hardware and software interrupts.
    """

    user_s: float | None = None
    system_s: float | None = None
    idle_s: float | None = None
    iowait_s: float | None = None
    steal_s: float | None = None
    nice_s: float | None = None
    irq_s: float | None = None


class Memory(NamedTuple):
    """What is in use now."""

    used_bytes: int | None = None
    swap_used_bytes: int | None = None


class MemoryEvents(NamedTuple):
    """What memory management counted since boot."""

    swap_in_bytes: int | None = None
    swap_out_bytes: int | None = None
    major_faults: int | None = None
    oom_kills: int | None = None


class Disk(NamedTuple):
    """What a block device did, in the order of KROWN's columns; times in milliseconds."""

    read_count: int | None = None
    write_count: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    read_ms: int | None = None
    write_ms: int | None = None
    busy_ms: int | None = None


class Network(NamedTuple):
    """What the interfaces of a namespace carried, in the order of KROWN's columns."""

    received_count: int | None = None
    sent_count: int | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None
    received_error_count: int | None = None
    sent_error_count: int | None = None
    received_drop_count: int | None = None
    sent_drop_count: int | None = None


class Pressure(NamedTuple):
    """How long some, or all, tasks that were not idle waited for a resource."""

    some_s: float | None = None
    full_s: float | None = None


class ProcessStat(NamedTuple):
    """One process; "waited" is what its ended and waited-for children used.

    Args:
        ignored_signals: A set of bits, of which the lowest is signal 1.
    """

    parent: int | None = None
    minor_faults: int | None = None
    waited_minor_faults: int | None = None
    major_faults: int | None = None
    waited_major_faults: int | None = None
    user_s: float | None = None
    system_s: float | None = None
    waited_user_s: float | None = None
    waited_system_s: float | None = None
    started_ticks: int | None = None
    resident_bytes: int | None = None
    state: str | None = None
    threads: int | None = None
    ignored_signals: int | None = None


class ProcessDisk(NamedTuple):
    """What one process, and the children it waited for, moved to and from block devices."""

    read_bytes: int | None = None
    write_bytes: int | None = None
    cancelled_write_bytes: int | None = None


class CgroupCpu(NamedTuple):
    """CPU time of a control group; fields that its file does not have are None."""

    total_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None
    throttled_count: int | None = None
    throttled_s: float | None = None


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


def sum_of(values: Iterable[_Number | None]) -> _Number | None:
    """Add up; None if a part is not known, or if there is none."""
    each = list(values)
    if not each or None in each:
        return None
    return cast("_Number", sum(cast("list[_Number]", each)))
