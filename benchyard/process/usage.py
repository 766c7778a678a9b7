"""What the kernel accounted for ended processes, what a resource owns, and stops of the lab.

Whatever the lab times while it is stopped (Ctrl-Z and ``fg``, SIGSTOP) is late. A process cannot
see that it is stopped; but it hears the signal that lets it go on. So a busy machine, on which
everything is late, is never taken for a stop. This process hears it in its main thread, inside of
``hearing_stops``; the launcher and the sampler tell of theirs.
Source: signal(7); Linux, kernel/signal.c (``prepare_signal``).
"""

import signal
import time
from collections import deque
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import NamedTuple, Protocol

from benchyard.core.quantity import percent
from benchyard.process.cgroups import Cgroup


class Stop(NamedTuple):
    """One stop.

    Args:
        who: The process, in words.
        since_ns: Monotonic nanoseconds at which it may have begun; ``until_ns`` if nobody knows.
        until_ns: When the process went on.
    """

    who: str
    since_ns: int
    until_ns: int


#: The last of them; somebody may stop and continue this process for hours.
_stops: deque[Stop] = deque(maxlen=1000)


def note_stop(who: str, until_ns: int) -> None:
    """Remember a stop of which only the end is known."""
    _stops.append(Stop(who, until_ns, until_ns))


def stops_since(since_ns: int) -> list[Stop]:
    """Return the stops that ended at ``since_ns`` or later."""
    return [stop for stop in tuple(_stops) if stop.until_ns >= since_ns]


@contextmanager
def hearing_stops() -> Generator[None]:
    """Note the stops of this process that end inside; only in the main thread."""
    before = signal.signal(signal.SIGCONT, _heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, before)


def _heard(_number: int, _frame: FrameType | None) -> None:
    note_stop("the lab", time.monotonic_ns())


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended, and what it and its waited-for descendants used.

    Source: getrusage(2); bytes are Linux's accounting of what reached the block layer.

    Args:
        exit_status: Exit code, or the negative number of the signal that ended it.
        user_s: CPU seconds in user mode.
        system_s: CPU seconds in the kernel.
        peak_rss_bytes: Largest resident set of any single process in the tree; None if it is not
            above ``peak_floor_bytes``.
        minor_faults: Page faults without a disk.
        major_faults: Page faults that had to read a disk.
        read_bytes: Read from disks.
        write_bytes: Written to disks, or to be written; truncated files are not taken off.
        pid: Its process id, which may belong to another process by now.
        peak_floor_bytes: What the process that started it had held: the kernel books that as the
            child's own, so no smaller peak is known.
        cpu_wait_s: How long it waited for a CPU while it could have worked; None unless nearly all
            was done by its first thread, of which alone the kernel tells that.
    """

    exit_status: int
    user_s: float
    system_s: float
    peak_rss_bytes: int | None
    minor_faults: int = 0
    major_faults: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    pid: int = 0
    peak_floor_bytes: int = 0
    cpu_wait_s: float | None = None

    def describe(self) -> str:
        """Say in words how it ended."""
        if self.exit_status >= 0:
            return f"exit code {self.exit_status}"
        try:
            name = signal.Signals(-self.exit_status).name
        except ValueError:
            name = f"signal {-self.exit_status}"
        return f"killed by {name}"


#: Share of its length by which a program's time may be off; beyond it is not told.
MOST_ERROR = 0.01


class LifeSpan(NamedTuple):
    """When a program began and ended, in monotonic nanoseconds; None where that was not seen.

    Args:
        error_ns: By how much the length may be off: the gaps in which begin and end lie.
        waited_s: How long somebody on this host waited for a CPU meanwhile; None if unknown.
        is_real_time: Whether it was watched with real-time priority; None if it was not watched.
    """

    began_ns: int | None = None
    ended_ns: int | None = None
    error_ns: int = 0
    waited_s: float | None = None
    is_real_time: bool | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took, by the monotonic clock; None if there is a ``problem``."""
        if self.began_ns is None or self.ended_ns is None or self.problem:
            return None
        return (self.ended_ns - self.began_ns) / 1e9

    @property
    def problem(self) -> str | None:
        """Why its length is not known within ``MOST_ERROR``."""
        if self.began_ns is None or self.ended_ns is None:
            return "its begin or its end was not seen"
        if self.error_ns <= MOST_ERROR * (self.ended_ns - self.began_ns):
            return None
        late = f"begin and end were only seen within {self.error_ns / 1e6:.2g} ms"
        return f"{late}, which is more than {percent(MOST_ERROR)} of it"


class Life(Protocol):
    """A program that began and ended, and the account that was kept of it alone."""

    @property
    def span(self) -> LifeSpan:
        """When that was."""
        ...

    def told(
        self, began_ticks: int, devices: Collection[str] | None
    ) -> tuple[Mapping[str, float | None], Mapping[str, str]]:
        """Return metric to value, and to why it is None.

        Args:
            began_ticks: When the interval began, as the kernel writes the start of processes.
            devices: The disks that count, each as ``major:minor``; None for all.
        """
        ...


@dataclass(frozen=True, slots=True)
class Owned:
    """What belongs to a resource.

    Args:
        pids: Roots of its process trees that live now.
        cgroups: Its cgroups.
        ended: Children that ended and were waited for, in that order; it only grows.
        lives: Programs that began and ended in control groups; it only grows. What one tells
            stands in place of what the groups tell that it was beside, or in.
    """

    pids: Sequence[int] = ()
    cgroups: Sequence[Cgroup] = ()
    ended: Sequence[Ended] = ()
    lives: Sequence[Life] = ()
