"""From the bytes of kernel files to values; nothing is read here.

Whatever the bytes are, these functions answer; what is missing or damaged is None. Times are
seconds and sizes bytes unless the name says otherwise.
Source: proc(5) and its pages; Documentation/admin-guide/{cgroup-v1,cgroup-v2.rst,iostats.rst} and
Documentation/accounting/psi.rst of Linux.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple, TypeVar, cast

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
#: What block devices count in, whatever their own sector is.
SECTOR_BYTES = 512

_DIGITS_OF_64_BITS = 20
#: Bytes that a number and the blanks before it take at most.
_LONGEST = 64
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
    page_fault_major_count: int | None = None
    oom_kill_count: int | None = None


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

    state: str
    parent: int
    minor_faults: int
    waited_minor_faults: int
    major_faults: int
    waited_major_faults: int
    user_ticks: int
    system_ticks: int
    waited_user_ticks: int
    waited_system_ticks: int
    started_ticks: int
    resident_pages: int
    ignored_signals: int


#: Where the numbers of ProcessStat stand behind the process's name, in their order.
_STAT = (1, 7, 8, 9, 10, 11, 12, 13, 14, 19, 21, 30)


def sum_of(values: Iterable[_Number | None]) -> _Number | None:
    """Add up; None if a part is not known, or if there is none."""
    each = list(values)
    if not each or None in each:
        return None
    return cast("_Number", sum(cast("list[_Number]", each)))


# -- the host


def cpu_times(stat: bytes) -> CpuTimes:
    """Read the first line of ``/proc/stat``; more of the file does no harm."""
    fields = stat.partition(b"\n")[0].split()
    if not fields or fields[0] != b"cpu":
        return CpuTimes()
    user, nice, system, idle, iowait, hard, soft, steal = (_ticks(fields, at) for at in range(1, 9))
    irq = None if hard is None or soft is None else hard + soft
    return CpuTimes(user, system, idle, iowait, steal, nice, irq)


def memory(meminfo: bytes) -> Memory:
    """Read ``/proc/meminfo``; its "kB" are 1024 bytes. In use is what is not available."""
    return Memory(
        _used(meminfo, b"MemTotal:", b"MemAvailable:"), _used(meminfo, b"SwapTotal:", b"SwapFree:")
    )


def memory_events(vmstat: bytes) -> MemoryEvents:
    """Read ``/proc/vmstat``."""
    return MemoryEvents(
        _times(number_after(vmstat, b"pswpin "), PAGE_BYTES),
        _times(number_after(vmstat, b"pswpout "), PAGE_BYTES),
        number_after(vmstat, b"pgmajfault "),
        number_after(vmstat, b"oom_kill "),
    )


def disk(stat: bytes) -> Disk:
    """Read a ``/sys/block/DEVICE/stat``."""
    fields = stat.split()
    values = [_field(fields, at) for at in (0, 4, 2, 6, 3, 7, 9)]
    values[2], values[3] = (_times(values[at], SECTOR_BYTES) for at in (2, 3))
    return Disk(*values)


def sum_of_disks(each: Iterable[Disk]) -> Disk:
    """Add up devices; a value that one of them lacks is None, as is all of no device."""
    return Disk(*(sum_of(column) for column in zip(*each, strict=True)))


def network(net_dev: bytes) -> Network:
    """Read a ``/proc/net/dev``: the sum over all interfaces, loopback too, as psutil does."""
    rows = [line.rpartition(b":")[2].split() for line in net_dev.splitlines() if b":" in line]
    columns = ([number(row[at]) if at < len(row) else None for row in rows] for at in _NETWORK)
    return Network(*(sum_of(column) for column in columns))


#: Where the fields of Network stand in a line.
_NETWORK = (1, 9, 0, 8, 2, 10, 3, 11)


def pressure(psi: bytes) -> Pressure:
    """Read a pressure file: ``/proc/pressure/…`` or ``….pressure`` of a control group."""
    totals: dict[bytes, float | None] = {}
    for line in psi.splitlines():
        total = number(line.rpartition(b"total=")[2])
        totals[line[:5]] = None if total is None else total / 1e6
    return Pressure(totals.get(b"some "), totals.get(b"full "))


# -- processes


def process_stat(stat: bytes) -> ProcessStat | None:
    """Read a ``/proc/PID/stat``; of a process of another user some fields may be hidden zeros."""
    # The command name may hold blanks and brackets; fields are counted after the last bracket.
    fields = stat.rpartition(b")")[2].split()
    known = [value for at in _STAT if (value := _field(fields, at)) is not None]
    if len(known) < len(_STAT):
        return None
    return ProcessStat(fields[0].decode(errors="replace"), *known)


def process_disk(io: bytes) -> tuple[int | None, int | None]:
    """Read the bytes read and written, of children it waited for too, from a ``/proc/PID/io``."""
    return number_after(io, b"read_bytes:"), number_after(io, b"write_bytes:")


def peak_resident_bytes(status: bytes) -> int | None:
    """Read the largest resident set so far from a ``/proc/PID/status``."""
    return _times(number_after(status, b"VmHWM:"), 1024)


# -- parts


def number(text: bytes) -> int | None:
    """Read one whole number, as in ``memory.current``; None for ``max`` and whatever is none."""
    digits = text if text.isdigit() else text.strip()
    return int(digits) if digits.isdigit() and len(digits) <= _DIGITS_OF_64_BITS else None


def number_after(text: bytes, name: bytes) -> int | None:
    """Return the number after ``name``, which begins a line and ends in what stands behind it."""
    start = 0 if text.startswith(name) else text.find(b"\n" + name) + 1
    if not start and not text.startswith(name):
        return None
    start += len(name)
    fields = text[start : start + _LONGEST].partition(b"\n")[0].split()
    return number(fields[0]) if fields else None


def _field(fields: list[bytes], at: int) -> int | None:
    return number(fields[at]) if at < len(fields) else None


def _ticks(fields: list[bytes], at: int) -> float | None:
    return per(_field(fields, at), TICKS_PER_S)


def _used(meminfo: bytes, total_name: bytes, free_name: bytes) -> int | None:
    total, free = number_after(meminfo, total_name), number_after(meminfo, free_name)
    return None if total is None or free is None else (total - free) * 1024


def _times(value: int | None, factor: int) -> int | None:
    return None if value is None else value * factor


def per(value: int | None, units: int) -> float | None:
    """Divide what is known."""
    return None if value is None else value / units
