"""What files of other benchmark tools tell, in one form: SI units, unrounded, in their order."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from benchyard.core.model import Json
from benchyard.statistics.measures import mean, median, stdev

#: What is told of the values of a measurement.
STATISTICS = ("n", "median", "mean", "stdev", "min", "max")

#: The first second that no date can name: years have four digits.
_TOO_LATE = 253_402_300_800


@dataclass(frozen=True, slots=True)
class Measurement:
    """One metric of one benchmark.

    Args:
        name: Of the benchmark.
        metric: What was measured, such as ``wall`` or ``memory``.
        unit: Of all its numbers: ``s``, ``B``, ``1/s``, ``B/s``; ``1`` for a mere number; empty if
            the file does not tell.
        values: In the order in which they were measured; empty if only statistics are told.
        told: Statistics by the file itself, among ``STATISTICS``.
        parameters: Of the benchmark.
        note: What else is to be said: why there is no value.
    """

    name: str
    metric: str
    unit: str
    values: Sequence[float] = ()
    told: Mapping[str, float] = field(default_factory=dict[str, float])
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    note: str = ""

    def statistic(self, name: str) -> float | None:
        """Return one of ``STATISTICS``: as the file tells it, or else of the values."""
        if name in self.told:
            return self.told[name]
        if not self.values or (name == "stdev" and len(self.values) < 2):
            return None
        found = {"n": len, "median": median, "mean": mean, "stdev": stdev, "min": min, "max": max}
        return found[name](self.values)


@dataclass(frozen=True, slots=True)
class Measurements:
    """A file of measurements.

    Args:
        rows: In the order of the file.
        host: Where they were measured.
        commit: What was measured.
        started_s: When, in seconds since the epoch.
        about: What else the file tells of the circumstances.
    """

    rows: Sequence[Measurement]
    host: str = ""
    commit: str = ""
    started_s: float | None = None
    about: Mapping[str, str] = field(default_factory=dict[str, str])


def number(value: object) -> float | None:
    """Return a number of a file as a double; None for what is none, or not finite."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def known(numbers: Iterable[float | None]) -> list[float]:
    """Return the numbers that are finite; others are missing values."""
    return [one for one in numbers if one is not None and math.isfinite(one)]


def statistics(**told: float | None) -> dict[str, float]:
    """Return those of the statistics that a file tells which are finite numbers."""
    return {name: one for name, value in told.items() if (one := number(value)) is not None}


def moment(seconds: float) -> float | None:
    """Return a moment in seconds since the epoch; None if no date from 1970 to 9999 is meant."""
    return seconds if 0 <= seconds < _TOO_LATE else None


def seconds_of(text: str, *, utc: bool = False) -> float | None:
    """Return a moment as seconds since the epoch; None if the text does not tell it exactly.

    Args:
        text: Date and time by ISO 8601.
        utc: Whether a time without an offset is one of UTC.
    """
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is None and not utc:
            return None
        return moment(read.replace(tzinfo=read.tzinfo or UTC).timestamp())
    except (ValueError, OverflowError):
        return None


def facts(**told: object) -> dict[str, str]:
    """Return what is not empty of some facts, as texts."""
    return {name.replace("_", " "): str(one) for name, one in told.items() if one not in (None, "")}
