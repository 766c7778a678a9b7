"""What a resource owns at an instant: its control groups and its process trees together."""

import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchyard.host.counters.account import Account, in_turn, together, unknown
from benchyard.host.counters.group_usage import used_by_group
from benchyard.host.counters.groups import Group, GroupReading
from benchyard.host.counters.trees import Trees, TreesReading, used_by_trees
from benchyard.process.cgroups import Cgroup
from benchyard.process.usage import Life, Owned

_Identity: TypeAlias = tuple[tuple[str, Path], ...]


class OwnedReading(NamedTuple):
    """Control groups by what they are, process trees, and what ended; empty if nothing is owned."""

    groups: Mapping[_Identity, GroupReading]
    trees: TreesReading | None
    lives: Sequence[Life] = ()


class OwnedReader:
    """Reads what resources own; thread-safe. Control groups stay open while they exist."""

    def __init__(self) -> None:
        self._groups: dict[_Identity, Group] = {}
        self._trees = Trees()
        self._lock = threading.Lock()

    def read(self, owned: Owned) -> OwnedReading:
        """Read all that belongs to a resource."""
        groups = {_identity(cgroup): self._group(cgroup).read() for cgroup in owned.cgroups}
        inside = frozenset[int]().union(*(reading.pids for reading in groups.values()))
        return OwnedReading(groups, self._trees.read(owned, inside), owned.lives)

    def peaks(self) -> dict[str, int | None]:
        """Return the name of each control group seen so far to the peak of its memory."""
        with self._lock:
            return {group.cgroup.name: group.peak_bytes for group in self._groups.values()}

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            for group in self._groups.values():
                group.close()

    def _group(self, cgroup: Cgroup) -> Group:
        identity = _identity(cgroup)
        with self._lock:
            if identity not in self._groups:
                self._groups[identity] = Group(cgroup)
            return self._groups[identity]


def used_by_owned(
    start: OwnedReading,
    end: OwnedReading,
    began_ticks: int,
    devices: Collection[str] | None = None,
) -> Account:
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
    if lives:
        _prefer(whole, lives, began_ticks, devices)
    return whole


def _prefer(
    whole: Account, lives: Sequence[Life], began_ticks: int, devices: Collection[str] | None
) -> None:
    """Put what programs used that ended in the place of what is known of those beside them."""
    each: list[Account] = []
    for life in lives:
        account = Account()
        values, reasons = life.told(began_ticks, devices)
        for metric, value in values.items():
            account.tell(metric, value, reasons.get(metric, ""))
        each.append(account)
    told = in_turn(each)
    for metric, value in told.values.items():
        whole.tell(metric, value, told.reasons.get(metric, ""))


def _used_by_trees(
    start: TreesReading | None, end: TreesReading | None, began_ticks: int, *, is_alone: bool
) -> Account | None:
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
