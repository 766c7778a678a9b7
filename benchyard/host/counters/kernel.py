"""Readers of kernel files: once, or repeatedly through one descriptor; peaks a window; traffic.

At each boundary the peak since the last one is noted, and the kernel's mark is set back to what is
in use now. Windows may overlap: the peak of one is the largest of the segments inside it. What
comes and goes in the microseconds between reading a mark and setting it back is lost.

Where a mark cannot be set back it only grows. If it is higher at the end of a window than at its
start, the peak happened inside and is exact; if not, the window's own peak is not known.

Setting back is seen by others too, but for version 2: what version 1 shows as a group's largest
use, and what ``wait4`` tells as a process's largest resident set, then begins at the last boundary.
Source: cgroup-v2.rst, ``memory.peak`` (set back by file descriptor since Linux 6.12); memory.rst of
cgroup-v1, ``memory.max_usage_in_bytes``; proc_pid_clear_refs(5), value 5.
"""

import os
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchyard.host.counters import parsing

#: Most files fit; one that does not makes the next reading larger.
_FIRST_SIZE = 8192


class KernelFile:
    """A file of procfs, sysfs or a control group that stays open; reading it never raises.

    Args:
        path: None for what has no place on this system: such a file is never open.
        records: Whether the kernel hands the file out in parts, whatever size is asked for, as it
            does with files that are long lists of lines.
        mode: Flags of open(2).
    """

    def __init__(
        self, path: Path | None, *, records: bool = False, mode: int = os.O_RDONLY
    ) -> None:
        self.path = path
        #: Why the last reading, or opening, gave nothing; in the system's words.
        self.problem: str | None = None
        self._records = records
        self._size = _FIRST_SIZE
        self._descriptor: int | None = None
        if path is None:
            return
        try:
            self._descriptor = os.open(path, mode | os.O_CLOEXEC)
        except OSError as error:
            self.problem = error.strerror

    @property
    def name(self) -> str:
        """Its name without the folder; empty if it has no place on this system."""
        return self.path.name if self.path else ""

    @property
    def is_open(self) -> bool:
        """Whether there is such a file and it may be read."""
        return self._descriptor is not None

    def read(self) -> bytes | None:
        """Return the content now; None if the kernel gives none."""
        # Other threads may read at the same time, and one may close it.
        descriptor, size = self._descriptor, self._size
        if descriptor is None:
            return None
        try:
            found = os.pread(descriptor, size, 0)
            while len(found) == size:
                size *= 2
                found = os.pread(descriptor, size, 0)
            while self._records and (more := os.pread(descriptor, size, len(found))):
                found += more
        except OSError as error:
            self.problem = error.strerror
            return None
        self._size = max(self._size, size)
        return found

    def close(self) -> None:
        """Close it; it gives nothing any more."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self.problem = "it was closed"
            with suppress(OSError):
                os.close(descriptor)


def read_once(path: str) -> bytes | None:
    """Return the content of a kernel file, or None if the kernel gives none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = b""
        while part := os.pread(descriptor, _FIRST_SIZE, len(found)):
            found += part
    except OSError:
        return None
    else:
        return found
    finally:
        os.close(descriptor)


class PeakMark(NamedTuple):
    """A boundary in a book of peaks.

    Args:
        book: That book.
        position: How many segments end here or before.
        peak: What the kernel's mark was; None if it could not be read.
    """

    book: "PeakBook"
    position: int
    peak: int | None


class PeakBook:
    """The peaks of all segments between boundaries; thread-safe."""

    def __init__(self, gauge: "PeakFile | ProcessPeak") -> None:
        self._gauge = gauge
        self._segments: list[int] = []
        #: Whether each mark so far could be set back.
        self.may_reset = True
        self._lock = threading.Lock()

    def mark(self) -> PeakMark:
        """End a segment here and begin the next."""
        with self._lock:
            peak = self._gauge.peak()
            if peak is not None:
                self._segments.append(peak)
                self.may_reset = self.may_reset and self._gauge.reset()
            return PeakMark(self, len(self._segments), peak)

    @property
    def problem(self) -> str | None:
        """Why a mark could not be set back, in the system's words; None if it is not known."""
        return self._gauge.problem

    @property
    def largest(self) -> int | None:
        """The largest peak up to the last boundary, that from before the first one included."""
        with self._lock:
            return max(self._segments, default=None)

    def between(self, start: PeakMark | None, end: PeakMark) -> int | None:
        """Return the peak between two marks, or None if the kernel does not tell it.

        Args:
            start: None if there was nothing to measure before the window began.
        """
        if end.peak is None or (start is not None and start.peak is None):
            return None
        if start is None or self.may_reset:
            with self._lock:
                segments = self._segments[start.position if start else 0 : end.position]
            return max(segments, default=None)
        before = start.peak
        return end.peak if before is not None and end.peak > before else None


class PeakFile(KernelFile):
    """The peak of a control group, in a descriptor of its own: version 2 sets back only that.

    Args:
        path: ``memory.peak`` or ``memory.max_usage_in_bytes``; None if there is neither.
    """

    def __init__(self, path: Path | None) -> None:
        super().__init__(path, mode=os.O_RDWR)
        if not self.is_open:
            super().__init__(path)

    def peak(self) -> int | None:
        """Return the peak since the mark was set back."""
        return parsing.number(self.read() or b"")

    def reset(self) -> bool:
        """Set the mark back; version 1 wants a zero, version 2 takes anything."""
        if self._descriptor is None:
            return False
        try:
            return set_back(self._descriptor)
        except OSError as error:
            self.problem = error.strerror
            return False


def set_back(descriptor: int) -> bool:
    """Ask the kernel to begin a control group's peak anew; tell whether it did.

    Raises:
        OSError: If it may not, or cannot.
    """
    return os.pwrite(descriptor, b"0\n", 0) > 0


class ProcessPeak:
    """The largest resident set of one process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        #: Why the last mark was not set back, in the system's words.
        self.problem: str | None = None

    def peak(self) -> int | None:
        """Return the peak since the mark was set back; a zombie has none."""
        return parsing.peak_resident_bytes(read_once(f"/proc/{self._pid}/status") or b"")

    def reset(self) -> bool:
        """Set the mark back to the resident set of now."""
        path = f"/proc/{self._pid}/clear_refs"
        try:
            with open(path, "wb", buffering=0) as stream:  # noqa: PTH123 - a boundary waits for it
                return stream.write(b"5") == 1
        except OSError as error:
            self.problem = error.strerror
            return False


class Traffic(NamedTuple):
    """What a network namespace other than the lab's own carried so far.

    Args:
        name: Of the namespace; "" if there is none but the lab's.
        net_dev: Its file of that name.
        problem: Why it could not be read.
    """

    name: str = ""
    net_dev: bytes = b""
    problem: str | None = None


def read_network(pid: int | None) -> Traffic:
    """Return what the network namespace of a process carried so far.

    No file is kept open: an open one keeps a namespace alive whose processes have ended.
    """
    if pid is None:
        return Traffic()
    try:
        name, own = _namespace(pid), _own_namespace()
    except PermissionError:
        return Traffic(problem="the network namespace of its processes may not be read")
    except OSError:
        return Traffic(problem="the process whose network namespace counts has ended")
    if name == own:
        return Traffic()
    content = read_once(f"/proc/{pid}/net/dev")
    if content is None:
        return Traffic(problem="the traffic of its network namespace may not be read")
    return Traffic(name, content)


def why_unknown(start: Traffic, end: Traffic) -> str:
    """Say why ``carried`` returned None."""
    if start.problem or end.problem:
        return end.problem or start.problem or ""
    if not end.name:
        return "it has no network namespace of its own"
    return "its network namespace changed meanwhile"


def carried(start: Traffic, end: Traffic, *, began_inside: bool) -> tuple[int, int] | None:
    """Return the bytes received and sent between two readings, loopback left out.

    Args:
        began_inside: Whether a namespace that is new at the end was made in between.

    Returns:
        None if there is no namespace, or one whose counters at the start are not known.
    """
    is_new = began_inside and not start.name
    if not end.name or not (is_new or start.name == end.name):
        return None
    before, after = _bytes_of(start.net_dev), _bytes_of(end.net_dev)
    received, sent = (a - b for a, b in zip(after, before, strict=True))
    return (received, sent) if received >= 0 and sent >= 0 else None


def _bytes_of(net_dev: bytes) -> tuple[int, int]:
    lines = [line for line in net_dev.splitlines() if line.partition(b":")[0].strip() != b"lo"]
    found = parsing.network(b"\n".join(lines))
    return found.received_bytes or 0, found.sent_bytes or 0


def _namespace(pid: int | str) -> str:
    """Return the inode of a process's net/dev: each namespace has its own, everybody may read it.

    Where the link ``ns/net`` leads to, only root and the process's own user may see.
    """
    return str(os.stat(f"/proc/{pid}/net/dev").st_ino)  # noqa: PTH116 - a boundary waits for it


@cache
def _own_namespace() -> str:
    return _namespace("self")
