"""How large pictures are."""

from dataclasses import dataclass

#: Inches across, if nothing else is asked for.
WIDTH = 7.2
#: A column and the whole width of a page with two of them, in inches; they fit ACM's and IEEE's.
#: Source: acmart (sigconf): 241 pt and 506 pt; IEEEtran (journal): 21 and 43 picas.
PAPER = {"column": 3.33, "page": 7.0}


@dataclass(frozen=True, slots=True)
class Size:
    """How large a picture is.

    Args:
        width: Inches; None takes ``WIDTH``.
        height: Inches; None takes what the panels need.
        titled: Whether it has a title of its own; in a paper the text has one.
    """

    width: float | None = None
    height: float | None = None
    titled: bool = True
