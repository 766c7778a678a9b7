"""Process trees; loaded by the sampling process, and only where one is to be watched.

It imports nothing of Benchyard.
"""

import os
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from benchyard.host.sampler.process import File, Key, Recorder

#: Looking for new processes may take one part in so many of a core.
SHARE = 400


class Trees:
    """The process trees that are watched, and their living members."""

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder
        self._roots: dict[Key, int] = {}
        self._known: dict[int, File] = {}
        self._newest: bytes = b""
        self._due_ns = 0

    def watch(self, key: "Key", pid: int) -> None:
        """Watch ``pid`` and what descends from it."""
        self._roots[key] = pid
        self._newest = b""
        self._due_ns = 0

    def forget(self, key: "Key") -> None:
        """Watch a tree no longer."""
        self._roots.pop(key, None)
        self._newest = b""

    def refresh(self, at_ns: int) -> None:
        """Find new descendants, unless no process was born anywhere or it would cost too much."""
        if not self._roots or at_ns < self._due_ns:
            return
        # It ends in the pid given out last: the cheapest sign that something was born.
        newest = content("/proc/loadavg").rpartition(b" ")[2]
        if newest and newest == self._newest:
            return
        self._newest = newest
        begun = time.thread_time_ns()
        self._known = {pid: file for pid, file in self._known.items() if file.descriptor >= 0}
        for key, root in self._roots.items():
            self._descend(key, root)
        self._due_ns = at_ns + SHARE * (time.thread_time_ns() - begun)

    def _descend(self, key: "Key", root: int) -> None:
        # From every living member, for the root may be gone and its daemons left.
        waiting = [root, *(pid for pid, file in self._known.items() if file.key == key)]
        seen: set[int] = set()
        while waiting:
            pid = waiting.pop()
            if pid not in seen and (pid in self._known or self._join(key, pid)):
                waiting += children(pid)
            seen.add(pid)

    def _join(self, key: "Key", pid: int) -> bool:
        open_member = self._recorder.open_member
        try:
            self._known[pid] = open_member(key, b"/proc/%d/stat" % pid, b"%d/stat" % pid)
        except OSError:
            return False
        with suppress(OSError):  # another user's
            open_member(key, b"/proc/%d/io" % pid, b"%d/io" % pid)
        return True


def children(pid: int) -> list[int]:
    """Return the living children of a process, of all its threads. Source: proc_pid_task(5)."""
    found: list[int] = []
    with suppress(OSError):  # it ends meanwhile
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            found += map(int, content(f"/proc/{pid}/task/{thread}/children").split())
    return found


def content(path: str) -> bytes:
    """Read a small file; empty if it cannot be read."""
    with suppress(OSError), open(path, "rb", buffering=0) as stream:  # noqa: PTH123
        return stream.read(65536)
    return b""
