"""The clocks of a run, monotonic for lengths, wall for dates; and deadlines."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

#: Which clock of another process tells its whole CPU time.
_CPUCLOCK_SCHED = 2


@dataclass(frozen=True, slots=True)
class Timeline:
    """The time of one run.

    Args:
        now_ns: Nanoseconds of a clock that never steps; its zero means nothing.
        origin_ns: The run's start on that clock.
    """

    now_ns: Callable[[], int]
    origin_ns: int

    def since_start(self, at_ns: int) -> float:
        """Return seconds since the run's start."""
        return seconds(at_ns - self.origin_ns)


def now() -> str:
    """Return the wall time as ISO 8601 with offset, microseconds kept."""
    return datetime.now(UTC).astimezone().isoformat(timespec="microseconds")


def iso(wall_ns: int) -> str:
    """Return a wall time, nanoseconds since 1970, as ISO 8601 with offset and microseconds."""
    made = datetime.fromtimestamp(wall_ns // 1_000_000_000, UTC)
    made = made.replace(microsecond=wall_ns % 1_000_000_000 // 1000)
    return made.astimezone().isoformat(timespec="microseconds")


def iso_utc(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC, ending in Z, with the fraction that it has."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def cpu_ns(pid: int) -> int | None:
    """Return the CPU nanoseconds of a process, all threads, children not; None if it is gone.

    Source: clock_getcpuclockid(3); Linux, include/linux/posix-timers_types.h (CPUCLOCK_SCHED).
    """
    try:
        return time.clock_gettime_ns(~pid << 3 | _CPUCLOCK_SCHED)
    except OSError:
        return None


def seconds(nanoseconds: int) -> float:
    """Convert nanoseconds to seconds, unrounded."""
    return nanoseconds / 1e9


class Deadline:
    """Kills work that takes too long.

    Args:
        seconds: How long it may take, or None.
        abort: Kills it; called from another thread.
    """

    def __init__(self, seconds: float | None, abort: Callable[[], None]) -> None:
        self.passed = False
        self._timer = None
        if seconds is not None:
            self._timer = threading.Timer(seconds, self._pass)
            self._timer.daemon = True
        self._abort = abort

    def _pass(self) -> None:
        self.passed = True
        self._abort()

    @contextmanager
    def armed(self) -> Generator[None]:
        """Let the deadline count while inside; a kill under way is over before this is left."""
        if self._timer is not None:
            self._timer.start()
        try:
            yield
        finally:
            if self._timer is not None:
                self._timer.cancel()
                # Else it would hit what comes next, which is not late.
                self._timer.join()
