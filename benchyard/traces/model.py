"""One trace, in columns: what every reader makes and every writer takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from benchyard.core.errors import InputError
from benchyard.core.model import Json

Times = NDArray[np.int64]
Numbers = NDArray[np.int32]
Details = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Unit:
    """What the slices of a trace are measured in.

    Args:
        name: ``s``, ``B``, ``1`` for a mere number, or whatever else a profile counts.
        scale: A slice's duration of so much is one of it.
        sampled: Whether all slices are stacks that were sampled: neighbours that are alike are one
            slice, so how many there are, and how long each is, means nothing.
        others: What else the file measures, by the names that ``read_trace`` takes.
    """

    name: str
    scale: int
    sampled: bool = False
    others: tuple[str, ...] = ()

    @property
    def is_time(self) -> bool:
        """Whether durations are nanoseconds."""
        return self.name == "s"


TIME = Unit("s", 10**9)
BYTES = Unit("B", 1)
#: A sample without a time is drawn as one millisecond; parts of one are seldom.
SAMPLES = Unit("1", 10**6)
#: Times and durations are shorter (95 years): their sums and differences stay below 2^63.
MOST_NS = 3 * 10**18


@dataclass(frozen=True, slots=True)
class Track:
    """A thread of a process: its slices follow or contain each other, and never overlap otherwise.

    Args:
        process: The name of its process, told apart from all others of the trace.
        thread: Its own name, told apart from all others of the process.
    """

    process: str
    thread: str


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """What took time: four columns of the same length.

    Args:
        track: Which of the trace's tracks each is on.
        name: Which of the trace's names each has.
        start: When each began, in nanoseconds from the trace's zero.
        duration: How long each took, in nanoseconds; not negative.
        details: What is known besides of some, by their place in the columns.
    """

    track: Numbers
    name: Numbers
    start: Times
    duration: Times
    details: Mapping[int, Details] = field(default_factory=dict[int, Details])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.start)

    @property
    def end(self) -> Times:
        """When each ended, in nanoseconds from the trace's zero."""
        return self.start + self.duration

    def part(self, where: slice) -> "Slices":
        """Return those that follow each other there, as views and without details."""
        return Slices(self.track[where], self.name[where], self.start[where], self.duration[where])

    def taken(self, order: NDArray[np.int64]) -> "Slices":
        """Return those at some places, in this order."""
        details: Mapping[int, Details] = {}
        if self.details:
            details = {
                new: self.details[old]
                for new, old in enumerate(order.tolist())
                if old in self.details
            }
        return Slices(
            self.track[order], self.name[order], self.start[order], self.duration[order], details
        )


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """A value over time.

    Args:
        process: The name of the process that it belongs to.
        name: What is counted.
        times: When it was seen, in nanoseconds from the trace's zero, ascending.
        values: What was seen then.
        unit: Of the values; empty for a mere number.
    """

    process: str
    name: str
    times: Times
    values: NDArray[np.float64]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Instant:
    """What happened at one moment.

    Args:
        track: Which of the trace's tracks it belongs to.
        name: What happened.
        time: When, in nanoseconds from the trace's zero.
        details: What is known besides.
    """

    track: int
    name: str
    time: int
    details: Details = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Flow:
    """An arrow from a moment on one track to a later one on another.

    Args:
        name: What goes from one to the other.
        from_track: Which of the trace's tracks it begins on.
        from_time: When, in nanoseconds from the trace's zero.
        to_track: Which track it ends on.
        to_time: When, in nanoseconds from the trace's zero.
    """

    name: str
    from_track: int
    from_time: int
    to_track: int
    to_time: int


@dataclass(frozen=True, slots=True)
class Loss:
    """What a reader could not take in, with the reason.

    Args:
        reason: Why.
        count: How many events.
        first: Where the first of them is, in words (``byte 1024``).
    """

    reason: str
    count: int
    first: str

    def __str__(self) -> str:
        """Say it as one clause."""
        return f"{self.count:,} times: {self.reason} (first at {self.first})"


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A trace.

    Args:
        tracks: In the order in which they are shown.
        names: Of slices.
        slices: In any order, unless ``nesting.arranged`` made the trace.
        counters: Values over time.
        instants: Single moments.
        flows: Arrows.
        losses: What is missing here and was in the source.
        zero: The moment of time 0 in nanoseconds since 1970; none if the source does not tell.
        unit: Of durations.
    """

    tracks: Sequence[Track]
    names: Sequence[str]
    slices: Slices
    counters: Sequence[Counter] = ()
    instants: Sequence[Instant] = ()
    flows: Sequence[Flow] = ()
    losses: Sequence[Loss] = ()
    zero: int | None = None
    unit: Unit = TIME

    def as_time(self) -> "Trace":
        """Return it for a timeline; a sample without a time lasts a millisecond.

        Raises:
            InputError: If it is measured in something that is no time.
        """
        if self.unit.name not in (TIME.name, SAMPLES.name):
            raise InputError(
                f"its values are no times but {self.unit.name}: no timeline shows them"
            )
        return replace(self, unit=replace(TIME, sampled=self.unit.sampled))

    def on_tracks(self, tracks: Sequence[Track], moved: NDArray[np.int64]) -> "Trace":
        """Return it with other tracks; ``moved`` says which of them each of its own is."""
        track = moved[self.slices.track].astype(np.int32)
        return replace(
            self,
            tracks=tracks,
            slices=replace(self.slices, track=track),
            instants=[replace(one, track=int(moved[one.track])) for one in self.instants],
            flows=[
                replace(
                    one,
                    from_track=int(moved[one.from_track]),
                    to_track=int(moved[one.to_track]),
                )
                for one in self.flows
            ],
        )

    def span(self) -> tuple[int, int]:
        """Return when the first thing began and the last one ended; (0, 0) of nothing."""
        firsts = [*(int(one.times.min()) for one in self.counters if len(one.times))]
        lasts = [*(int(one.times.max()) for one in self.counters if len(one.times))]
        if len(self.slices):
            firsts.append(int(self.slices.start.min()))
            lasts.append(int(self.slices.end.max()))
        moments = [one.time for one in self.instants]
        return min([*firsts, *moments], default=0), max([*lasts, *moments], default=0)


def microseconds(nanoseconds: int) -> str:
    """Write a time in microseconds, with all its digits."""
    return str(Decimal(nanoseconds) / 1000)
