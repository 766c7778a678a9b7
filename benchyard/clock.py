"""The clocks of a run: monotonic for lengths, wall for dates."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """Where time comes from; tests hand in their own.

    Args:
        monotonic_ns: Nanoseconds of a clock that never steps; its zero means nothing.
        sleep: Wait so many seconds.
    """

    monotonic_ns: Callable[[], int] = time.monotonic_ns
    sleep: Callable[[float], None] = time.sleep


def now() -> str:
    """Return the wall time as ISO 8601 with offset, microseconds kept."""
    return datetime.now(UTC).astimezone().isoformat(timespec="microseconds")


def seconds(nanoseconds: int) -> float:
    """Convert nanoseconds to seconds, unrounded."""
    return nanoseconds / 1e9
