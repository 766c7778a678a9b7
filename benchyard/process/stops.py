"""Stops of the lab's own processes (Ctrl-Z and ``fg``, SIGSTOP): whatever they time is late then.

A process cannot see that it is stopped; but it hears the signal that lets it go on. So a busy
machine, on which everything is late, is never taken for a stop. This process hears it in its main
thread, from ``hear`` on; the launcher and the sampler tell of theirs.
Source: signal(7); Linux, kernel/signal.c (``prepare_signal``).
"""

import signal
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple


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


def note(who: str, until_ns: int) -> None:
    """Remember a stop of which only the end is known."""
    _stops.append(Stop(who, until_ns, until_ns))


def known(since_ns: int) -> list[Stop]:
    """Return the stops that ended at ``since_ns`` or later."""
    return [stop for stop in tuple(_stops) if stop.until_ns >= since_ns]


@contextmanager
def hear() -> Generator[None]:
    """Note the stops of this process that end inside; only in the main thread."""
    before = signal.signal(signal.SIGCONT, _heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, before)


def _heard(_number: int, _frame: FrameType | None) -> None:
    note("the lab", time.monotonic_ns())
