"""Colours and marks that survive print, grey and impaired colour vision."""

from dataclasses import dataclass

from benchyard.core.quantity import shorten
from benchyard.core.wording import printable
from benchyard.show.drawing import HATCHES, SHAPES

#: Colours that most people with impaired colour vision tell apart; those that follow each other
#: differ in lightness too. Its yellow is too light for white paper.
#: Source: M. Okabe, K. Ito, Color Universal Design (2002).
COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#CC79A7", "#009E73")
DASHES = ((), (6, 3), (8, 3, 2, 3), (2, 2), (8, 2, 2, 2, 2, 2))
INK = "#333333"


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
        return DASHES[self.place % len(DASHES)]

    @property
    def hatch(self) -> str:
        """What its bars are filled with."""
        return ("", *HATCHES)[self.place % (len(HATCHES) + 1)]


def short(name: str, longest: int) -> str:
    """Escape and shorten a name that is the user's."""
    return shorten(printable(name), longest, 2)
