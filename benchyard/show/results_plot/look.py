"""Colours, marks and numbers that survive print, grey and impaired colour vision."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter

from benchyard.core.quantity import formatter, number, shorten, tick
from benchyard.core.wording import printable

#: Colours that most people with impaired colour vision tell apart; those that follow each other
#: differ in lightness too. Its yellow is too light for white paper.
#: Source: M. Okabe, K. Ito, Color Universal Design (2002).
COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#CC79A7", "#009E73")
#: Not as many as colours, nor a multiple of them, so that each two series differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
INK, FAINT, BAND = "#333333", "#d9dce0", "#f3f4f6"


@dataclass(frozen=True, slots=True)
class Look:
    """How one series looks.

    Args:
        place: Which series it is, from 0.
    """

    place: int

    @property
    def colour(self) -> str:
        """Its colour."""
        return COLOURS[self.place % len(COLOURS)]

    @property
    def marker(self) -> str:
        """Its mark."""
        return MARKERS[self.place % len(MARKERS)]

    @property
    def dashes(self) -> Any:
        """How its line is interrupted."""
        return DASHES[self.place % len(DASHES)]

    @property
    def hatch(self) -> str:
        """What its bars are filled with."""
        return HATCHES[self.place % len(HATCHES)]


def short(name: str, longest: int) -> str:
    """Escape and shorten a name that is the user's."""
    return shorten(printable(name), longest, 2)


def set_numbers(axis: Any, limits: tuple[float, float], unit: str, *, log: bool) -> None:
    """Give an axis of values its ticks.

    Args:
        axis: A ``matplotlib.axis.Axis``.
        limits: Its ends, the lower one above 0 if it is logarithmic.
    """
    axis.set_major_formatter(formatter(lambda value: tick(value, unit)))
    axis.set_minor_formatter(NullFormatter())
    if not log:
        axis.set_major_locator(MaxNLocator(nbins=4))
        return
    axis.set_major_locator(FixedLocator(log_ticks(*limits)))
    axis.set_minor_locator(LogLocator(subs=tuple(range(1, 10)), numticks=99))


def log_ticks(low: float, high: float) -> list[float]:
    """Return a handful of round numbers between two that are above 0.

    matplotlib's own ticks are powers of ten alone, of which a short axis has one or none.
    """
    decades = log10(high / low)
    if decades < 0.7:
        found = [float(tick) for tick in MaxNLocator(nbins=4).tick_values(low, high)]
    else:
        factors = (1, 2, 5) if decades < 2.3 else (1,)
        apart = max(1, round(decades / 6))
        powers = range(floor(log10(low)), floor(log10(high)) + 1)
        found = [f * 10.0**power for power in powers if power % apart == 0 for f in factors]
    return [tick for tick in found if low <= tick <= high]


def set_parameter(axis: Any, values: Sequence[float], *, log: bool) -> None:
    """Give an axis of a parameter a tick at each value; of many at some.

    Args:
        axis: A ``matplotlib.axis.Axis``, whose scale is set.
        values: Distinct, ascending.
    """
    axis.set_minor_locator(FixedLocator([]))
    axis.set_major_formatter(formatter(lambda value: number(value, 4)))
    if len(values) <= 8:
        axis.set_major_locator(FixedLocator(list(values)))
    elif not log:
        axis.set_major_locator(MaxNLocator(nbins=6))
    else:
        axis.set_major_locator(FixedLocator(list(values)[:: -(-len(values) // 8)]))
