"""One entry of a test through time: what is said of it, and where what was measured changed."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchyard.core.wording import duration
from benchyard.publish.sinks.contract import Timing
from benchyard.results.subject import Subject, SubjectChange, differences, in_words
from benchyard.statistics import median
from benchyard.statistics.figures import plain

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True, slots=True)
class Change:
    """The first timing of another subject.

    Args:
        timing: It.
        differences: From the timing before it on its host.
    """

    timing: Timing
    differences: tuple[SubjectChange, ...]

    @property
    def text(self) -> str:
        """What differs, before and after: "DuckDB 1.2.2 and 2.0.0"."""
        return in_words(self.differences)


def changes_in(timings: Iterable[Timing]) -> Iterator[Change]:
    """Yield where the subject is another than at the timing before, of the same host.

    Args:
        timings: Oldest first, of any number of hosts.
    """
    before: dict[str, Subject] = {}
    for timing in timings:
        found = _between(before.get(timing.host, {}), timing.subject)
        if found:
            yield Change(timing, found)
        before[timing.host] = timing.subject


def _between(before: Subject, after: Subject) -> tuple[SubjectChange, ...]:
    found = differences(before, after)
    digests = before.get("digest"), after.get("digest")
    if found or None in digests or digests[0] == digests[1]:
        return found
    if "case" in before and "case" in after:
        return ()  # one of them tells what the other does not know
    return (SubjectChange("subject", *digests),)


@dataclass(frozen=True, slots=True)
class Series:
    """The timings of one entry of a test.

    Args:
        timings: Oldest first.
        whole: Whether these are all that the sink had in the window.
    """

    test: str
    entry: str
    timings: tuple[Timing, ...]
    whole: bool = True

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts, sorted; an empty one is not known."""
        return tuple(sorted({one.host for one in self.timings}))

    @property
    def changes(self) -> tuple[Change, ...]:
        """Where what was measured changed."""
        return tuple(changes_in(self.timings))

    @property
    def suspect(self) -> tuple[Timing, ...]:
        """The timings that are not to be trusted; they count in no figure."""
        return tuple(one for one in self.timings if one.suspect)

    @property
    def trusted(self) -> tuple[Timing, ...]:
        """The others."""
        return tuple(one for one in self.timings if not one.suspect)

    @property
    def finite(self) -> tuple[float, ...]:
        """Trusted wall times that are numbers, in seconds; the others count in no figure."""
        return tuple(one.wall_time for one in self.trusted if math.isfinite(one.wall_time))

    @property
    def last(self) -> float | None:
        """The newest trusted wall time, in seconds; NaN where it is none."""
        return self.trusted[-1].wall_time if self.trusted else None

    @property
    def median(self) -> float | None:
        """Of all trusted wall times, in seconds."""
        return median(self.finite) if self.finite else None

    @property
    def median_before(self) -> float | None:
        """Of all trusted wall times but the newest, in seconds: what the newest is held against."""
        before = [one.wall_time for one in self.trusted[:-1] if math.isfinite(one.wall_time)]
        return median(before) if before else None

    @property
    def change(self) -> float | None:
        """The newest by the median before it; None if that says nothing."""
        return ratio(self.last, self.median_before)


def ratio(value: float | None, usual: float | None) -> float | None:
    """Return ``value`` by ``usual``; None unless both are lengths of time, and it is a number."""
    if value is None or usual is None or not (value > 0 and usual > 0):
        return None
    found = value / usual
    return found if math.isfinite(found) else None


def seconds(value: float | None) -> str:
    """Write a wall time with the unit that suits it; ``-`` for none.

    Below a millisecond there are three digits: what is published is a mean of many iterations, and
    may be nanoseconds.
    """
    if value is None:
        return "-"
    if math.isnan(value):
        return "NaN"
    sign, size = "-" if value < 0 else "", abs(value)
    if size == 0 or math.isinf(size):
        return f"{sign}{plain(size)} s"
    if size >= 999.5e-6:
        return sign + (duration(size) if size < 1e9 else f"{size:.3g} s")
    scale, unit = _UNITS[2] if size >= 999.5e-9 else _UNITS[3]
    return f"{sign}{size / scale:#.3g}".rstrip(".") + f" {unit}"


def short_seconds(value: float) -> str:
    """Write a wall time for an axis: three digits that count, no zeros behind them."""
    size = abs(value)
    scale, unit = next((one for one in _UNITS if size >= 0.9995 * one[0]), _UNITS[-1])
    return f"{plain(value / scale, 3)} {unit}" if value else "0"
