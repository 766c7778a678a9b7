"""CPU time of process trees, read from /proc alone: no list of all processes is made.

What a process used is its own time and that of the children it has waited for; what lives is
found through each thread's list of children. So the time of a descendant that ended is kept as
long as somebody in the tree waits for it.
Source: proc_pid_stat(5), fields 14 to 17; proc_pid_task(5), ``children``.
"""

import os
from collections.abc import Iterable, Iterator

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def tree_cpu_s(roots: Iterable[int]) -> tuple[float | None, float | None]:
    """Return user and system seconds of the trees below ``roots``.

    Both are None if a root is gone, or if the kernel keeps no lists of children.
    """
    user = system = 0
    try:
        for own_user, own_system, waited_user, waited_system in _times(roots):
            user += own_user + waited_user
            system += own_system + waited_system
    except OSError:
        return None, None
    return user / _TICKS_PER_S, system / _TICKS_PER_S


def _times(roots: Iterable[int]) -> Iterator[list[int]]:
    """Yield the four times (ticks) of each process in the trees, each process once."""
    wanted = set(roots)
    seen: set[int] = set()
    waiting = list(wanted)
    while waiting:
        pid = waiting.pop()
        if pid in seen:
            continue
        seen.add(pid)
        try:
            # Parents before children: one that is waited for in between is missing from this
            # reading; the other order would count it twice.
            children = _children(pid)
            yield _ticks(pid)
        except (FileNotFoundError, ProcessLookupError):
            if pid in wanted:
                raise
            continue
        waiting.extend(children)


def _ticks(pid: int) -> list[int]:
    stat = _read(f"/proc/{pid}/stat")
    # The command name may hold blanks and brackets; fields are counted after the last bracket.
    return [int(field) for field in stat.rpartition(b")")[2].split()[11:15]]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - half the cost of a Path each
        try:
            found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
        except FileNotFoundError:
            if thread == str(pid) and os.path.exists(f"/proc/{pid}"):  # noqa: PTH110
                raise OSError("this kernel keeps no lists of children") from None
        except ProcessLookupError:
            continue
    return found


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts: list[bytes] = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)
