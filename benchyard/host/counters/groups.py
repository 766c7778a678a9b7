"""One control group, read as raw bytes at a boundary."""

import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchyard.host.counters.kernel import KernelFile, PeakBook, PeakFile, PeakOf, read_once
from benchyard.host.counters.processes import lives, read_process
from benchyard.host.counters.traffic import Traffic, read_network
from benchyard.process.cgroups import UNIFIED, Cgroup

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

    group: "Group"
    generation: int
    oldest_ticks: int | None
    is_gone: bool
    raw: Mapping[str, bytes | None]
    problems: Mapping[str, str | None]
    peak: PeakOf | None
    pids: frozenset[int]
    network: Traffic


class Group:
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
            PeakOf(self._peaks, self._peaks.mark()) if self._peak_file.is_open else None,
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
