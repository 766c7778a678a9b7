"""Axes: which are logarithmic, where values lie, and which round numbers stand beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchyard.show.results_plot.chart import Chart, PlotKind, PlotPanel

#: Medians that differ by a larger factor are drawn on a logarithmic axis: below it the smallest
#: still takes 5 % of a linear one, and differences between its runs can be seen.
FACTOR = 20.0


def spans_factors(medians: Sequence[float], all_values: Sequence[float]) -> bool:
    """Tell whether values differ by so large factors that only a logarithmic axis shows them."""
    return (
        bool(medians) and min(all_values, default=0.0) > 0 and max(medians) > FACTOR * min(medians)
    )


def grows_by_factors(values: Sequence[float]) -> bool:
    """Tell whether a parameter's values are chosen by factors: 1, 2, 4, 8 or 0.01, 0.1.

    Args:
        values: Distinct, ascending.
    """
    if len(values) < 2 or values[0] <= 0:
        return False
    least = min(after / before for before, after in pairwise(values))
    return least >= (2 if len(values) > 2 else 5)


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from values to pixels, of a picture.

    Args:
        low: The value at ``start``; above 0 if it is logarithmic.
        high: The value at ``end``.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self._on_scale(self.low), self._on_scale(self.high)
        share = (self._on_scale(value) - low) / ((high - low) or 1.0)
        return self.start + share * (self.end - self.start)

    def _on_scale(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self, wanted: int = 4) -> list[float]:
        """Return round numbers on the axis; of a linear one about so many as wanted."""
        found = _powers(self.low, self.high) if self.log else []
        return found if len(found) > 1 else _steps(self.low, self.high, wanted)


def axis_of(chart: Chart, panel: PlotPanel, start: float, end: float) -> Axis:
    """Return the axis of a panel's values, with some room at its ends."""
    numbers = [number for mark in panel.marks for number in mark.numbers]
    numbers += [1.0] if chart.kind is PlotKind.RATIO else []
    low, high = (min(numbers), max(numbers)) if numbers else (1.0, 10.0)
    if chart.log_values:
        room = max((high / low) ** 0.05, 1.02)
        return Axis(low / room, high * room, start, end, log=True)
    if chart.kind is PlotKind.BARS or 0 <= low < high / 2:
        low = min(0.0, low)
    # The figure of a bar is written after its end.
    room = (0.14 if chart.kind is PlotKind.BARS else 0.05) * (high - low) or abs(high) * 0.1 or 1.0
    return Axis(low - room if low else low, high + room, start, end)


def _steps(low: float, high: float, wanted: int) -> list[float]:
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten; over many decades the powers alone."""
    decades = math.log10(high / low)
    factors = (1, 2, 5) if decades < 2.3 else (1,)
    apart = max(1, round(decades / 6))
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    found = [f * 10.0**power for power in powers if power % apart == 0 for f in factors]
    return [tick for tick in found if low <= tick <= high]
