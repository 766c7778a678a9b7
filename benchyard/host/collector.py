"""The seam between executing and measuring: what a collector is.

The engine calls ``start`` once before the first step, ``boundary`` at each start and end of a
command and of a phase, ``used`` with the two readings of what just ended, ``watch`` when what
belongs to a resource changed, and ``stop`` once. The engine takes the length of a step from its
own monotonic clock, tightly around the command; readings stand outside of that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchyard.core.model import Json
from benchyard.process.usage import Owned, Stop

Metrics = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The run that a collector is made for.

    Args:
        folder: The run's result folder.
        case: Title of the case.
        interval_s: Seconds between two samples.
        origin_ns: The run's start, monotonic nanoseconds.
        lab: The lab's own processes beside this one, such as ``server``: name to process id.
    """

    folder: Path
    case: str
    run: int
    interval_s: float
    origin_ns: int
    lab: Mapping[str, int] = field(default_factory=dict[str, int])


class Reading(Protocol):
    """The counters at one instant; only the collector that made it knows what is inside."""

    @property
    def at_ns(self) -> int:
        """Monotonic nanoseconds."""
        ...

    @property
    def wall_ns(self) -> int:
        """Nanoseconds since 1970, of the wall clock."""
        ...


@dataclass(frozen=True, slots=True)
class Used:
    """What happened between two readings; null where the system does not tell.

    Args:
        metrics: Name to amount: of the host (``host_``) and of what the resource owns
            (``resource_``). Differences of counters, levels at the end, peaks in between.
        harness: What the lab itself used: CPU seconds of its processes, their memory at the end.
        suspect: Why the interval is not to be trusted, each in a few words; empty is right.
    """

    metrics: Metrics = field(default_factory=dict[str, float | None])
    harness: Metrics = field(default_factory=dict[str, float | None])
    suspect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """What a collector has to say at the end.

    Args:
        facts: For the record: interval, samples, missed ones, files, the run's own peaks, what is
            not known and why, what sampling cost.
        sampled: Index of a step to what its samples show, in the attempt that decided it:
            ``samples`` (their number) and ``levels`` (name to ``min`` and ``max``).
        stops: When processes of the lab were stopped, and went on.
    """

    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    sampled: Mapping[int, Mapping[str, Json]] = field(default_factory=dict[int, Mapping[str, Json]])
    stops: Sequence[Stop] = ()


class Collector(Protocol):
    """Measures one run."""

    def start(self) -> None:
        """Begin to sample.

        Raises:
            MeasurementError: If sampling cannot begin.
        """
        ...

    def watch(self, resource: str, owned: Owned) -> None:
        """Draw curves of what belongs to a resource from now on; what it owned before ended.

        Thread-safe, and it never raises: curves are not worth a run.
        """
        ...

    def boundary(self, owned: Owned, *, begins: bool) -> Reading:
        """Read the counters now; thread-safe, takes well below a millisecond.

        Args:
            owned: What belongs to the resource that the boundary is about.
            begins: Whether a command or phase begins here; else it ends.
        """
        ...

    def used(
        self, start: Reading, end: Reading, *, step: int | None = None, beside: bool = False
    ) -> Used:
        """Tell what happened between the readings at both ends of a command or phase.

        Args:
            step: Index of the step whose command it was; None for a phase, which is no step's.
            beside: Whether processes of the case that are not the resource's own worked as well.
        """
        ...

    def stop(self, began: Mapping[int, int]) -> Account:
        """End sampling, write the curves, and return the account for the record.

        Called once, also after a half-finished ``start``; calling it again returns the same.

        Args:
            began: Index of each step that was begun to the start (monotonic nanoseconds) of the
                attempt that decided it.
        """
        ...
