"""One control group: read as raw bytes at a boundary, decoded for versions 1 and 2 afterwards.

Decoders accept any bytes and return None for missing or damaged values.
Source: Documentation/admin-guide/{cgroup-v1,cgroup-v2.rst} of Linux.
"""

import os
import threading
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchyard.host.counters.kernel import (
    KernelFile,
    PeakBook,
    PeakFile,
    PeakMark,
    Traffic,
    read_network,
    read_once,
)
from benchyard.host.counters.parsing import number, number_after
from benchyard.host.counters.processes import lives, read_process
from benchyard.process.cgroups import UNIFIED, Cgroup


class CgroupDisk(NamedTuple):
    """What a control group moved to and from block devices."""

    read_bytes: int | None = None
    write_bytes: int | None = None
    read_count: int | None = None
    write_count: int | None = None


class Amount(NamedTuple):
    """File and key of an amount in a control group.

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


#: Controller and name of a file, in the order of preference.
Places: TypeAlias = tuple[tuple[str, str], ...]

#: What is read, and where it may be: the first file that is there counts.
FILES: Mapping[str, Places] = {
    "cpu": (("cpuacct", "cpuacct.usage"), (UNIFIED, "cpu.stat")),
    "cpu_user": (("cpuacct", "cpuacct.usage_user"),),
    "cpu_system": (("cpuacct", "cpuacct.usage_sys"),),
    "throttling": (("cpu", "cpu.stat"), (UNIFIED, "cpu.stat")),
    "memory": (("memory", "memory.usage_in_bytes"), (UNIFIED, "memory.current")),
    "memory_stat": (("memory", "memory.stat"), (UNIFIED, "memory.stat")),
    "oom": (("memory", "memory.oom_control"), (UNIFIED, "memory.events")),
    "io": ((UNIFIED, "io.stat"),),
    "psi_cpu": ((UNIFIED, "cpu.pressure"),),
    "psi_memory": ((UNIFIED, "memory.pressure"),),
    "psi_io": ((UNIFIED, "io.pressure"),),
}
PEAK: Places = (("memory", "memory.max_usage_in_bytes"), (UNIFIED, "memory.peak"))


class GroupReading(NamedTuple):
    """One control group at an instant.

    Args:
        generation: How often a group of this path was found anew; its counters began then.
        oldest_ticks: When its oldest process began, as far as was seen when it was found.
        problems: Name of a file of FILES that gave nothing to why, if that is known.
    """

    group: "ControlGroup"
    generation: int
    oldest_ticks: int | None
    is_gone: bool
    raw: Mapping[str, bytes | None]
    problems: Mapping[str, str | None]
    peak: PeakMark | None
    pids: frozenset[int]
    network: Traffic


class ControlGroup:
    """One control group, its files kept open while it exists; thread-safe.

    Args:
        keeps_peaks: False leaves the peak of its memory alone: each reading begins it anew, for
            everybody who reads it in version 1.
    """

    def __init__(self, cgroup: Cgroup, *, keeps_peaks: bool = True) -> None:
        self.cgroup = cgroup
        self._keeps_peaks = keeps_peaks
        self._generation = 0
        #: The largest peak of earlier groups at this path.
        self._earlier_peak: int | None = None
        self._lock = threading.Lock()
        self._open()

    def _open(self) -> None:
        self._generation += 1
        folders = self.cgroup.folders
        self._files = {
            name: KernelFile(find_file(folders, places)) for name, places in FILES.items()
        }
        peak = find_file(folders, PEAK) if self._keeps_peaks else None
        self._peak_file = PeakFile(peak)
        self._peaks = PeakBook(self._peak_file)
        # The processes of the hierarchy that counts CPU time: they are checked against it.
        own = folders.get("cpuacct") or folders.get(UNIFIED) or next(iter(folders.values()), None)
        self._folder = None if own is None else str(own)
        found = (read_process(pid, is_root=False) for pid in self._pids())
        known = lives(reading for reading in found if reading)
        self._oldest_ticks = min((started for _, started in known), default=None)

    @property
    def peak_bytes(self) -> int | None:
        """The largest use of memory up to the last reading, that before the first one included."""
        known = [p for p in (self._earlier_peak, self._peaks.largest) if p is not None]
        return max(known, default=None)

    def read(self) -> GroupReading:
        """Read it; a group that was removed and made again is opened again."""
        with self._lock:
            raw = self._raw()
            if _is_gone(raw):
                self._earlier_peak = self.peak_bytes
                self._close()
                self._open()
                raw = self._raw()
            return self._reading(raw)

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        for file in self._files.values():
            file.close()
        self._peak_file.close()

    def _raw(self) -> dict[str, bytes | None]:
        return {name: file.read() for name, file in self._files.items()}

    def _reading(self, raw: Mapping[str, bytes | None]) -> GroupReading:
        pids = self._pids()
        return GroupReading(
            self,
            self._generation,
            self._oldest_ticks,
            _is_gone(raw),
            raw,
            {name: self._problem(name) for name, got in raw.items() if got is None},
            self._peaks.mark() if self._peak_file.is_open else None,
            pids,
            read_network(min(pids, default=None)),
        )

    def _problem(self, name: str) -> str | None:
        file = self._files[name]
        return f"{file.name}: {file.problem}" if file.problem else None

    def _pids(self) -> frozenset[int]:
        """Return the processes in it and in the groups below it."""
        return frozenset(_pids_below(self._folder)) if self._folder else frozenset()


def find_file(folders: Mapping[str, Path], places: Places) -> Path | None:
    """Return the first file that is there; if none is, the first place; if there is none, None."""
    paths = [folders[controller] / name for controller, name in places if controller in folders]
    return next((path for path in paths if path.exists()), next(iter(paths), None))


def _is_gone(raw: Mapping[str, bytes | None]) -> bool:
    return all(content is None for content in raw.values())


def _pids_below(folder: str) -> Iterator[int]:
    yield from map(int, (read_once(f"{folder}/cgroup.procs") or b"").split())
    try:
        # A folder of the kernel has a link for each folder in it, and two of its own.
        if os.stat(folder).st_nlink > 2:  # noqa: PTH116 - a boundary waits for it
            for entry in os.scandir(folder):
                if entry.is_dir():
                    yield from _pids_below(entry.path)
    except OSError:
        return
