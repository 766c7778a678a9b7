"""Counters of the kernel: read at boundaries as raw bytes, decoded when nothing is measured.

Those of the host, and of what a resource owns.
"""

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchyard.core.clock import seconds
from benchyard.host.counters.account import MetricBook, Reasons, in_turn, together, unknown
from benchyard.host.counters.group_usage import used_by_group
from benchyard.host.counters.groups import ControlGroup, GroupReading
from benchyard.host.counters.host import HostFiles, HostReading, disk_numbers
from benchyard.host.counters.processes import boot_ticks
from benchyard.host.counters.trees import TreeBook, TreesReading, used_by_trees
from benchyard.process.cgroups import Cgroup
from benchyard.process.usage import Life, Owned

_Identity: TypeAlias = tuple[tuple[str, Path], ...]


class OwnedReading(NamedTuple):
    """Control groups by what they are, process trees, and what ended; empty if nothing is owned."""

    groups: Mapping[_Identity, GroupReading]
    trees: TreesReading | None
    lives: Sequence[Life] = ()


def used_by_owned(
    start: OwnedReading,
    end: OwnedReading,
    began_ticks: int,
    devices: Collection[str] | None = None,
) -> MetricBook:
    """Return what a resource used between two readings; nothing if it owned nothing.

    Args:
        began_ticks: When the interval began, as the kernel writes the start of processes.
        devices: The disks that count, each as ``major:minor``; None for all.
    """
    parts = [
        used_by_group(start.groups.get(identity), reading, began_ticks, devices)
        for identity, reading in end.groups.items()
    ]
    lost = start.groups.keys() - end.groups.keys()
    parts += [unknown("its control group belongs to it no more") for _ in lost]
    lives = end.lives[len(start.lives) :]
    is_alone = not parts and not lives
    trees = _used_by_trees(start.trees, end.trees, began_ticks, is_alone=is_alone)
    whole = together([*parts, trees] if trees else parts)
    # What programs used that ended stands in the place of what is known of those beside them.
    told = (life.told(began_ticks, devices) for life in lives)
    ended = in_turn([MetricBook(dict(values), dict(reasons)) for values, reasons in told])
    whole.take(ended, ended.values)
    return whole


def _used_by_trees(
    start: TreesReading | None, end: TreesReading | None, began_ticks: int, *, is_alone: bool
) -> MetricBook | None:
    if end is None:
        if start is None or not (start.processes or is_alone):
            return None
        return unknown("its processes ended, and nobody told what they had used")
    idle = not end.processes and not (start and start.processes)
    if idle and not is_alone and end.ended_count == (start.ended_count if start else 0):
        return None
    return used_by_trees(start, end, began_ticks)


def _identity(cgroup: Cgroup) -> _Identity:
    return tuple(sorted(cgroup.folders.items()))


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


def lives_between(start: Snapshot, end: Snapshot) -> Sequence[Life]:
    """Return the programs in control groups that ended between two snapshots, in that order."""
    return end.owned.lives[len(start.owned.lives) :]


class Counters:
    """Reads the host's counters and those of what resources own; thread-safe.

    Args:
        root: Where ``proc`` and ``sys`` are; tests set it.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._host = HostFiles(root)
        #: Control groups stay open while they exist.
        self._groups: dict[_Identity, ControlGroup] = {}
        self._trees = TreeBook()
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
        return Snapshot(at_ns, wall_ns, self._host.read(), self._read_owned(owned or Owned()))

    def _read_owned(self, owned: Owned) -> OwnedReading:
        groups = {_identity(cgroup): self._group(cgroup).read() for cgroup in owned.cgroups}
        inside = frozenset[int]().union(*(reading.pids for reading in groups.values()))
        return OwnedReading(groups, self._trees.read(owned, inside), owned.lives)

    def _group(self, cgroup: Cgroup) -> ControlGroup:
        identity = _identity(cgroup)
        with self._lock:
            if identity not in self._groups:
                self._groups[identity] = ControlGroup(cgroup)
            return self._groups[identity]

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
        with self._lock:
            return {group.cgroup.name: group.peak_bytes for group in self._groups.values()}

    def close(self) -> None:
        """Close all files; ``used`` goes on working."""
        self._host.close()
        with self._lock:
            for group in self._groups.values():
                group.close()
