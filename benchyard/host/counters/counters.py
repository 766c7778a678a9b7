"""The counters of a run: read at boundaries as raw bytes, decoded when nothing is measured."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.clock import seconds
from benchyard.host.counters.account import Reasons
from benchyard.host.counters.host import Host, HostReading, disk_numbers, krown_columns
from benchyard.host.counters.owned import OwnedReader, OwnedReading, used_by_owned
from benchyard.host.counters.processes import boot_ticks
from benchyard.process.usage import Owned


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All counters at one instant, not yet decoded.

    Args:
        at_ns: Monotonic nanoseconds.
        wall_ns: Nanoseconds since 1970, of the same instant.
    """

    at_ns: int
    wall_ns: int
    host: HostReading
    owned: OwnedReading


class Counters:
    """Reads the host's counters and those of what resources own; thread-safe.

    Args:
        root: Where ``proc`` and ``sys`` are; tests set it.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._host = Host(root)
        self._owned = OwnedReader()
        # Without hardware behind them, all devices of a group count.
        self._devices = disk_numbers(root / "sys" / "block") or None
        self._reasons = Reasons()
        self._lock = threading.Lock()

    @property
    def reasons(self) -> Mapping[str, str]:
        """Metric to why it was None in some interval of the run, in words."""
        with self._lock:
            return self._reasons.told()

    def read(self, owned: Owned | None = None) -> Snapshot:
        """Read all counters now.

        Args:
            owned: What belongs to the resource that the boundary is about.
        """
        at_ns, wall_ns = time.monotonic_ns(), time.time_ns()
        return Snapshot(at_ns, wall_ns, self._host.read(), self._owned.read(owned or Owned()))

    def used(self, start: Snapshot, end: Snapshot) -> dict[str, float | None]:
        """Return what happened between two snapshots; levels are those at the end.

        Names tell what: ``host_`` of the host, ``lab_`` of the lab's own control group,
        ``resource_`` of what the resource owned, which is left out if that was nothing. Counts,
        seconds, bytes and joules, unrounded; None where the kernel does not tell: see ``reasons``.
        """
        used, reasons = self._host.used(start.host, end.host, seconds(end.at_ns - start.at_ns))
        began_ticks = boot_ticks(start.at_ns)
        account = used_by_owned(start.owned, end.owned, began_ticks, self._devices)
        with self._lock:
            self._reasons.add(reasons | account.reasons)
        return used | account.values

    def peaks(self) -> dict[str, int | None]:
        """Return each control group's name to the peak (bytes) of its memory in the whole run.

        What it had used before the first boundary that it was read at is in it.
        """
        return self._owned.peaks()

    def krown(self, snapshot: Snapshot) -> tuple[float | None, ...]:
        """Return KROWN's columns, in its order and units, as absolute values."""
        return krown_columns(snapshot.host)

    def close(self) -> None:
        """Close all files; ``used`` and ``krown`` go on working."""
        self._host.close()
        self._owned.close()
