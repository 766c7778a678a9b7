"""What the lab itself uses: CPU time and memory of its own processes.

CPU time is read from each process's own clock: a tenth of the cost of /proc, and its ticks of
10 ms would hide most of what is to be shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from benchyard.core.clock import cpu_ns
from benchyard.host.collector import Metrics
from benchyard.host.counters.kernel import KernelFile
from benchyard.host.counters.parsing import PAGE_BYTES

_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::")  # noqa: S104 - nothing is bound


@dataclass(frozen=True, slots=True)
class HarnessReading:
    """The lab's processes at one instant; None of one that is gone.

    Args:
        cpu_ns: Name to CPU nanoseconds so far, all threads.
        memory_bytes: Name to resident set; empty where it was not asked for.
    """

    cpu_ns: Mapping[str, int | None]
    memory_bytes: Mapping[str, int | None] = field(default_factory=dict[str, int | None])


class HarnessMeter:
    """Reads what the lab's processes use.

    Args:
        pids: Name of each to its process id.
    """

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids: dict[str, int] = {}
        self._files: dict[str, KernelFile] = {}
        for name, pid in pids.items():
            self.add(name, pid)

    def add(self, name: str, pid: int) -> None:
        """Count one more process."""
        self._pids[name] = pid
        self._files[name] = KernelFile(Path(f"/proc/{pid}/statm"))

    def read(self, *, memory: bool) -> HarnessReading:
        """Read the clocks, and the memory if it is wanted; takes microseconds."""
        clocks = {name: cpu_ns(pid) for name, pid in self._pids.items()}
        if not memory:
            return HarnessReading(clocks)
        return HarnessReading(clocks, {name: self._resident(name) for name in self._pids})

    def _resident(self, name: str) -> int | None:
        """Return a resident set. Source: proc_pid_statm(5), second field, in pages."""
        fields = (self._files[name].read() or b"").split()
        return int(fields[1]) * PAGE_BYTES if fields else None

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def used_by_lab(start: HarnessReading, end: HarnessReading) -> dict[str, float | None]:
    """Return CPU seconds between two readings, and memory at the second one."""
    used: dict[str, float | None] = {}
    for name, after in end.cpu_ns.items():
        before = start.cpu_ns.get(name)
        spent = None if before is None or after is None else (after - before) / 1e9
        used[f"{name}_cpu_s"] = spent
        used[f"{name}_memory_bytes"] = end.memory_bytes.get(name)
    return used


def lab_cpu_s(harness: Metrics) -> float:
    """Return the CPU seconds of all the lab's processes, as far as they are known."""
    return sum(v for name, v in harness.items() if name.endswith("_cpu_s") and v is not None)


def listener_at(url: str) -> int | None:
    """Return the process on this host that listens where ``url`` points; None if there is none.

    Without root, processes of other users are not seen.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.hostname not in _LOOPBACK:
            return None
        sockets = psutil.net_connections("tcp")
    except (ValueError, OSError, psutil.Error):
        return None
    listening = (s for s in sockets if s.status == psutil.CONN_LISTEN and s.pid)
    return next((s.pid for s in listening if tuple(s.laddr)[1:2] == (port,)), None)
