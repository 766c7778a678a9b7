"""How the lab recognises the processes that it started: by labels and by descent.

A label is an environment variable that every child inherits, grandchildren and daemons included;
it outlives the lab. The owner is written as ``<pid>:<start time>:<pid namespace>``: a pid that was
given out again is not mistaken, nor one that means another process inside a container.
Source: proc_pid_task(5), proc_pid_stat(5).
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

OWNER = "BENCHYARD_OWNER"
RUN = "BENCHYARD_RUN"
CHILD = "BENCHYARD_CHILD"
#: At the end of an owner label: this process ends by itself with its owner, and gets time for it.
WINDS_UP = ":winds-up"

#: Seconds that a process gets which saves something before it ends by itself.
GRACE = 0.5

#: Seconds between two looks at a process that is inside execve, and for how long it is looked at.
_LOOK_AGAIN_SECONDS, _LONGEST_EXECVE_SECONDS = 0.0005, 2.0
#: Fields of ``/proc/PID/stat``, counted from the third: state, parent, session, start, and where
#: the environment ends in memory.
_STATE, _KIN, _ENVIRONMENT_END = 0, (1, 3, 19), 48


@cache
def _owner_of(pid: int) -> str:
    return f"{pid}:{start_time(pid)}:{_namespace()}"


@cache
def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")  # noqa: PTH115 - not a path
    except OSError:
        return "?"


def this_owner() -> str:
    """Return the owner label of this process."""
    return _owner_of(os.getpid())


def start_time(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot, or None if it has ended."""
    kin = kin_of(pid)
    return kin.started if kin else None


def owner_is_alive(owner: str) -> bool:
    """Tell whether the process behind an owner label still runs, or may for all we can see."""
    pid, started, namespace = (*owner.split(":"), "", "", "")[:3]
    if namespace != _namespace():
        return True
    return pid.isdigit() and str(start_time(int(pid))) == started


def labelled(name: str) -> Iterator[tuple[int, str]]:
    """Yield pid and value for each process of ours that carries the label ``name``."""
    for pid in _all_pids():
        if pid != os.getpid() and (value := label_of(pid, name)) is not None:
            yield pid, value


def label_of(pid: int, name: str) -> str | None:
    """Return the value of a process's label; None if it has none (any more)."""
    key = name.encode() + b"="
    lines = (line for line in _environment(pid) if line.startswith(key))
    return next((os.fsdecode(line[len(key) :]) for line in lines), None)


def _environment(pid: int) -> list[bytes]:
    """Read a process's environment; empty if it is gone, not ours, or a kernel thread.

    While a process is inside execve its environment reads empty though it has one: it lies nowhere
    yet, and afterwards elsewhere than before. Such a process is looked at again.
    """
    deadline = time.monotonic() + _LONGEST_EXECVE_SECONDS
    while time.monotonic() < deadline:
        try:
            place = _place_of_environment(pid)
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            if environment:
                return environment.split(b"\0")
            Path(f"/proc/{pid}/exe").readlink()  # kernel threads and zombies have none
            if place == _place_of_environment(pid) != b"0":
                return []
        except OSError:
            return []
        time.sleep(_LOOK_AGAIN_SECONDS)
    return []


def _place_of_environment(pid: int) -> bytes:
    return _stat(pid)[_ENVIRONMENT_END]


def kill_labelled(name: str, doomed: Callable[[str], bool], timeout: float = 5.0) -> list[int]:
    """Kill every process whose label ``name`` has a value that is ``doomed``.

    Looks again until none is left, since a process may fork while it is looked for.

    Args:
        name: The label.
        doomed: Tells of a value whether its processes are to be killed.
        timeout: Seconds after which a process that does not die is left alone.

    Returns:
        The pids that were killed.
    """
    killed: list[int] = []
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        alive = [pid for pid, value in labelled(name) if doomed(value)]
        if not alive:
            break
        killed.extend(pid for pid in alive if _kill(pid, name, doomed))
        time.sleep(0.005)
    return sorted(set(killed))


def kill_family(is_owner: Callable[[str], bool]) -> list[int]:
    """Kill the processes of owners that are gone; one that saves something gets a moment first.

    Args:
        is_owner: Tells whether the owner of this label, without what is at its end, is one of them.

    Returns:
        The pids that were killed.
    """

    def doomed(value: str) -> bool:
        return is_owner(value.removesuffix(WINDS_UP))

    def late(value: str) -> bool:
        return winds_up(value) and doomed(value)

    # Before each run, and mostly nothing is left: one look at all processes is enough for that.
    if not any(doomed(value) for _, value in labelled(OWNER)):
        return []
    killed = kill_labelled(OWNER, lambda value: doomed(value) and not winds_up(value))
    deadline = time.monotonic() + GRACE
    while time.monotonic() < deadline and any(late(value) for _, value in labelled(OWNER)):
        time.sleep(0.01)  # each look reads all processes
    return sorted({*killed, *kill_labelled(OWNER, late)})


def winds_up(owner: str | None) -> bool:
    """Tell from an owner label whether its process ends by itself with its owner."""
    return owner is not None and owner.endswith(WINDS_UP)


def kill_leftovers() -> list[int]:
    """Kill what labs that are dead left on this host.

    Returns:
        The pids that were killed.
    """
    return kill_family(lambda owner: not owner_is_alive(owner))


def _kill(pid: int, name: str, doomed: Callable[[str], bool]) -> bool:
    """Kill through a pid descriptor, so that a pid given out again is never hit."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        value = label_of(pid, name)
        if value is None or not doomed(value):
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except (ProcessLookupError, OSError):
        return False
    finally:
        os.close(descriptor)
    return True


# -- descent


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


def kin_of(pid: int) -> Kin | None:
    """Return where a process stands; None if it has ended."""
    try:
        fields = _stat(pid)
    except OSError:
        return None
    return None if fields[_STATE] in b"ZX" else Kin(*(int(fields[place]) for place in _KIN))


def _stat(pid: int) -> list[bytes]:
    """Return the fields of ``/proc/PID/stat`` from the third on.

    The command name may hold blanks and brackets; the fields begin after the last bracket.
    """
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()


def children_of(pid: int) -> list[int]:
    """Return the children of a process, zombies included.

    While some of them end, others may be left out: who must have all looks again.
    """
    words: list[bytes] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - this is called often
            words += Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split()
    except OSError:
        return []
    return [int(word) for word in words]


def _all_pids() -> list[int]:
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit()]


def descendants_of(pid: int) -> set[int]:
    """Return all that descends from a process now."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        new = {*children_of(waiting.pop())} - found
        found |= new
        waiting += new
    return found
