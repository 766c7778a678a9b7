"""The seam between executing and measuring: what a collector is.

The engine calls ``start`` once before the first step, ``boundary`` at each start and end of a
command and of a phase, and ``stop`` once. It takes the length of a step from its own monotonic
clock, tightly around the command; readings stand outside of that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchyard.model import Json


@dataclass(frozen=True, slots=True)
class Owned:
    """What belongs to the resource that a boundary is about.

    Args:
        pids: Roots of its process trees.
        cgroups: Its cgroups.
    """

    pids: Sequence[int] = ()
    cgroups: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters at one instant.

    Args:
        at_ns: Monotonic nanoseconds.
        cumulative: Metric name to a counter that only grows (s, B, counts); None where the system
            does not tell.
        gauges: Metric name to a level (B, counts); None where the system does not tell.
    """

    at_ns: int
    cumulative: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    gauges: Mapping[str, float | None] = field(default_factory=dict[str, float | None])


@dataclass(frozen=True, slots=True)
class StepWindow:
    """When a step was under way, for booking samples.

    Args:
        index: The step's position in the case, from 1.
        start_ns: Monotonic nanoseconds; the step's phases are inside.
        end_ns: Monotonic nanoseconds.
    """

    index: int
    start_ns: int
    end_ns: int


class Collector(Protocol):
    """Measures one run."""

    def start(self) -> None:
        """Begin to sample.

        Raises:
            MeasurementError: If sampling cannot begin.
        """
        ...

    def boundary(self, owned: Owned) -> Reading:
        """Read the counters now; thread-safe, takes well below a millisecond."""
        ...

    def stop(self, steps: Sequence[StepWindow]) -> dict[str, Json]:
        """End sampling, write ``metrics.csv``, and return the account for the record.

        Called once, also after a half-finished ``start``; calling it again returns the same.
        """
        ...


def used_between(start: Reading, end: Reading) -> dict[str, float | None]:
    """Return what was used between two readings: differences of counters, levels at the end."""
    used: dict[str, float | None] = dict(end.gauges)
    for name, after in end.cumulative.items():
        before = start.cumulative.get(name)
        used[name] = None if before is None or after is None else after - before
    return used
