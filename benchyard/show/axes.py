"""What charts are made of: frames of panels, axes, and looks that survive print and grey."""

import math
from dataclasses import dataclass

from benchyard.core.quantity import number, shorten
from benchyard.core.wording import printable
from benchyard.show.drawing import HATCHES, SHAPES

#: Colours that most people with impaired colour vision tell apart; those that follow each other
#: differ in lightness too. Its yellow is too light for white paper.
#: Source: M. Okabe, K. Ito, Color Universal Design (2002).
COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#CC79A7", "#009E73")
_DASHES = ((), (6, 3), (8, 3, 2, 3), (2, 2), (8, 2, 2, 2, 2, 2))
INK, GRID = "#333333", "#d9dce0"
#: How wide a letter is at most, by its size.
LETTER = 0.62


@dataclass(frozen=True, slots=True)
class SeriesLook:
    """How one series looks; no two numbers are multiples, so that each two series differ.

    Args:
        place: Which series it is, from 0.
    """

    place: int

    @property
    def colour(self) -> str:
        """Its colour."""
        return COLOURS[self.place % len(COLOURS)]

    @property
    def shape(self) -> int:
        """Its mark."""
        return self.place % len(SHAPES)

    @property
    def dashes(self) -> tuple[int, ...]:
        """How its line is interrupted."""
        return _DASHES[self.place % len(_DASHES)]

    @property
    def hatch(self) -> str:
        """The hatch pattern of its bars; empty for plain ones."""
        return ("", *HATCHES)[self.place % (len(HATCHES) + 1)]


def short(name: str, longest: int) -> str:
    """Escape and shorten a name that is the user's."""
    return shorten(printable(name), longest, 2)


@dataclass(frozen=True, slots=True)
class Frame:
    """The rectangle of a panel's marks (pixels)."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from values to pixels.

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


def _steps(low: float, high: float, wanted: int) -> list[float]:
    if not high > low:
        return [low]
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


def seconds(value: float) -> str:
    """Write a moment of a run: ``40 s``, ``1:30`` (minutes), ``2:00:00`` (hours)."""
    if value < 120:
        return f"{number(value, 3)} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
