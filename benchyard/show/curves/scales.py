"""Axes: from values to places, round numbers to mark them with, and how these are written."""

import math
from dataclasses import dataclass

from benchyard.statistics.figures import plain

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight line from values to pixels.

    Args:
        first: The value at ``start``.
        last: The value at ``end``.
    """

    first: float
    last: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        share = (value - self.first) / ((self.last - self.first) or 1.0)
        return self.start + share * (self.end - self.start)


def ticks(most: float, wanted: int) -> list[float]:
    """Return round numbers from 0 to the first that is not below ``most``.

    Args:
        wanted: About so many steps.
    """
    if not (most > 0 and math.isfinite(most)):
        return [0.0, 1.0]
    rough = most / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    return [place * step for place in range(math.ceil(most / step - 1e-9) + 1)]


def amount(value: float, unit: str) -> str:
    """Write a value with the unit that suits it, as short as an axis wants it."""
    if not value:
        return "0"
    if unit == "cores":
        return f"{plain(value, 3)} {'core' if value == 1 else 'cores'}"
    for factor, prefix in _PREFIXES:
        if value >= factor * 0.9995:
            return f"{plain(value / factor, 3)} {prefix}{unit}"
    return f"{plain(value, 3)} {unit}"


def seconds(value: float) -> str:
    """Write a moment of a run: ``40 s``, ``1:30`` (minutes), ``2:00:00`` (hours)."""
    if value < 120:
        return f"{plain(value, 3)} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
