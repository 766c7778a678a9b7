"""Processes and their trees: from /proc alone, no list of all processes is made.

What a process used is its own account and that of the children it has waited for; what lives is
found through each thread's list of children. So the account of a descendant that ended is kept as
long as somebody in the tree waits for it, however short it lived.

Of a descendant that was seen alive and is gone, this is certain only where its parent lives on and
does not ignore its children's ends: then it cannot have been handed on to another parent. In all
other cases nothing is told. What was born unseen, left the tree (its parent ended first, as with
``setsid program &`` in a shell that ends) and is not waited for in it, is in no account at all.
That one flag of ``sigaction`` makes the kernel forget children, SA_NOCLDWAIT, no file tells.

CPU time: of a process itself in nanoseconds, from its CPU clock; of children that it waited for in
clock ticks (10 ms on most systems), as are user and system time.
Source: proc_pid_stat(5), proc_pid_io(5), proc_pid_task(5), clock_getcpuclockid(3); how a parent
takes over its children's account: ``wait_task_zombie`` in Linux's kernel/exit.c.
"""

import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchyard.core.clock import cpu_ns
from benchyard.host.counters import parsing
from benchyard.host.counters.kernel import read_once
from benchyard.host.counters.parsing import TICKS_PER_S

#: Process id and start time in ticks since boot; an id alone may be used again.
Key: TypeAlias = tuple[int, int]

_IGNORES_CHILDREN = 1 << signal.SIGCHLD - 1


class ProcessReading(NamedTuple):
    """The raw account of one process at an instant; zombies have one too."""

    pid: int
    is_root: bool
    stat: bytes
    io: bytes | None
    cpu_ns: int | None


class Usage(NamedTuple):
    """What processes used, in the metrics' units; bytes that nobody may read are None."""

    cpu_s: float = 0.0
    user_s: float = 0.0
    system_s: float = 0.0
    minor_faults: int = 0
    major_faults: int = 0
    read_bytes: int | None = 0
    write_bytes: int | None = 0


class ProcessLife(NamedTuple):
    """A process at an instant.

    Args:
        usage: What it, and the children that it waited for, used since it began.
        waited_faults: Minor page faults of children that it waited for. Each process has some, so
            they grow if, and only if, a child was waited for.
        forgets_children: Whether the kernel lets go of its children's accounts when they end.
    """

    key: Key
    parent: int
    is_root: bool
    is_alive: bool
    usage: Usage
    waited_faults: int
    resident_bytes: int
    forgets_children: bool


#: The processes of a reading.
Lives: TypeAlias = Mapping[Key, ProcessLife]


#: How much time, in ticks, is cut off where a parent takes over what its children used: user and
#: system time are each rounded down. Source: proc_pid_stat(5); Linux, ``nsec_to_clock_t``.
TICKS_CUT_OFF = 2


class UnknownUsageError(Exception):
    """Why it cannot be told what processes used; never leaves the package."""


# -- reading


def read_process(pid: int, *, is_root: bool) -> ProcessReading | None:
    """Read one process; None if it is gone."""
    stat = read_once(f"/proc/{pid}/stat")
    if not stat:
        return None
    clock = cpu_ns(pid)
    return ProcessReading(pid, is_root, stat, read_once(f"/proc/{pid}/io"), clock)


def read_trees(roots: Iterable[int]) -> Iterator[ProcessReading]:
    """Yield the processes in the trees below ``roots``, each once; roots that are gone lack.

    Raises:
        UnknownUsageError: If the kernel keeps no lists of children.
    """
    wanted = set(roots)
    seen: set[int] = set()
    waiting = list(wanted)
    while waiting:
        pid = waiting.pop()
        if pid in seen:
            continue
        seen.add(pid)
        # Parents before children: one that is waited for in between is missing from this
        # reading; the other order would count it twice.
        children = _children(pid)
        reading = read_process(pid, is_root=pid in wanted)
        if reading:
            yield reading
            waiting.extend(children)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - half the cost of a Path each
    except OSError:
        return found
    for thread in threads:
        children = read_once(f"/proc/{pid}/task/{thread}/children")
        if children is None and thread == str(pid) and _keeps_no_lists():
            raise UnknownUsageError("this kernel keeps no lists of children (CONFIG_PROC_CHILDREN)")
        found += map(int, (children or b"").split())
    return found


def _keeps_no_lists() -> bool:
    own = os.getpid()
    return not Path(f"/proc/{own}/task/{own}/children").exists()


def boot_ticks(monotonic_ns: int) -> int:
    """Return an instant of the monotonic clock as the kernel writes the start of processes.

    That clock stands still while the machine sleeps, the other one goes on.
    """
    ahead_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    return (monotonic_ns + ahead_ns) * TICKS_PER_S // 10**9


# -- decoding


def lives(readings: Iterable[ProcessReading]) -> dict[Key, ProcessLife]:
    """Decode readings; what is damaged lacks."""
    found = filter(None, map(decoded, readings))
    return {life.key: life for life in found}


def decoded(reading: ProcessReading) -> ProcessLife | None:
    """Decode a reading; None if it is damaged."""
    stat = parsing.process_stat(reading.stat)
    if stat is None:
        return None
    own_s = (stat.user_ticks + stat.system_ticks) / TICKS_PER_S
    waited_s = (stat.waited_user_ticks + stat.waited_system_ticks) / TICKS_PER_S
    return ProcessLife(
        key=(reading.pid, stat.started_ticks),
        parent=stat.parent,
        is_root=reading.is_root,
        is_alive=stat.state not in {"Z", "X"},
        usage=Usage(
            waited_s + (own_s if reading.cpu_ns is None else reading.cpu_ns / 1e9),
            (stat.user_ticks + stat.waited_user_ticks) / TICKS_PER_S,
            (stat.system_ticks + stat.waited_system_ticks) / TICKS_PER_S,
            stat.minor_faults + stat.waited_minor_faults,
            stat.major_faults + stat.waited_major_faults,
            *parsing.process_disk(reading.io or b""),
        ),
        waited_faults=stat.waited_minor_faults,
        resident_bytes=stat.resident_pages * parsing.PAGE_BYTES,
        forgets_children=bool(stat.ignored_signals & _IGNORES_CHILDREN),
    )


# -- accounting


def used_by(
    start: Lives,
    end: Lives,
    began_ticks: int,
    *,
    ended_roots: Collection[int] = (),
) -> Usage:
    """Return what processes used between two readings, without roots that ended.

    A root that ended in between counts with what it had used at the start taken off, so that the
    sum may be negative: add to this what ``wait4`` told of its whole life. Parents take over their
    children's time in ticks, cut off: times may lack ``TICKS_CUT_OFF`` for each that did.

    Args:
        began_ticks: When the interval began, as the kernel writes the start of processes.
        ended_roots: The roots that ended and were waited for, so that their usage is known.

    Raises:
        UnknownUsageError: If something in it was used by processes of which nobody kept account.
    """
    _check_vanished(start, end, ended_roots)
    _check_joined(start, end, began_ticks)
    before, after = (total(life.usage for life in each.values()) for each in (start, end))
    return Usage._make(map(_minus, after, before))


def grown(start: Lives, end: Lives) -> Iterator[ProcessLife]:
    """Yield the processes at the end that waited for children in between."""
    for key, life in end.items():
        if life.waited_faults > (start[key].waited_faults if key in start else 0):
            yield life


def vanished(start: Lives, end: Lives) -> list[ProcessLife]:
    """Return the processes that are there at the start and not at the end."""
    return [life for key, life in start.items() if key not in end]


def _check_vanished(start: Lives, end: Lives, ended_roots: Collection[int]) -> None:
    lost = vanished(start, end)
    if any(life.is_root and life.key[0] not in ended_roots for life in lost):
        raise UnknownUsageError("a process ended, and nobody told what it had used")
    owed: dict[Key, int] = {}
    keys = {key[0]: key for key in start}
    for life in lost:
        if not life.is_root:
            parent = _waiting_parent(keys.get(life.parent), start, end)
            owed[parent] = owed.get(parent, 0) + life.usage.minor_faults
    for parent, faults in owed.items():
        if end[parent].waited_faults - start[parent].waited_faults < faults:
            raise UnknownUsageError("a descendant left the process tree, or was not waited for")


def _waiting_parent(parent: Key | None, start: Lives, end: Lives) -> Key:
    """Return the parent of a process that is gone, if only that can have got its account."""
    if parent is None or parent not in end:
        raise UnknownUsageError("a process and its parent ended, and nobody tells which one first")
    if start[parent].forgets_children or end[parent].forgets_children:
        raise UnknownUsageError("a process ended whose parent ignores the ends of its children")
    return parent


def _check_joined(start: Lives, end: Lives, began_ticks: int) -> None:
    for key in end.keys() - start.keys():
        if key[1] < began_ticks:
            raise UnknownUsageError("a process that is older than the interval joined meanwhile")


def total(each: Iterable[Usage]) -> Usage:
    """Add up what was used; bytes are unknown where those of one part are."""
    return Usage._make(map(parsing.sum_of, zip(Usage(), *each, strict=True)))


def _minus(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before
