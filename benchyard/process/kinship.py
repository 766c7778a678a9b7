"""Who descends from whom, as the kernel tells it.

Source: proc_pid_task(5), proc_pid_stat(5).
"""

import os
from pathlib import Path
from typing import NamedTuple


class Kin(NamedTuple):
    """Where a living process stands.

    Args:
        parent: Its parent's process id.
        session: The id of the session that it is in.
        started: When it started, in clock ticks since boot.
    """

    parent: int
    session: int
    started: int


def children_of(pid: int) -> list[int]:
    """Return the children of a process, zombies included.

    While some of them end, others may be left out: who must have all looks again.
    """
    words: list[bytes] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - this is called often
            words += Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split()
    except OSError:
        return _looked_for(pid) if kin_of(pid) else []
    return [int(word) for word in words]


def _looked_for(pid: int) -> list[int]:
    """Find children where the kernel does not list them (it was built without)."""
    with os.scandir("/proc") as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    return [one for one in pids if (kin := kin_of(one)) and kin.parent == pid]


def descendants_of(pid: int) -> set[int]:
    """Return all that descends from a process now."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        new = {*children_of(waiting.pop())} - found
        found |= new
        waiting += new
    return found


def kin_of(pid: int) -> Kin | None:
    """Return where a process stands; None if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The command name may hold blanks and brackets; the fields begin after the last bracket.
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in b"ZX" else Kin(*(int(fields[place]) for place in (1, 3, 19)))
