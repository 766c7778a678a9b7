"""A series as one line of text."""

import math
from collections.abc import Sequence
from itertools import pairwise

from benchyard.statistics import median

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*#@"
#: Where nothing was measured.
GAP = " "
#: The line's height is at least this share of the median: what moves by less looks flat.
LEAST_RANGE = 0.1


def sparkline(values: Sequence[float], width: int, marks: str = BLOCKS) -> str:
    """Draw values, oldest first, in at most ``width`` characters.

    Where there are more values than characters, each character is the median of those that it
    stands for. The lowest and the highest mark are the least and the largest value, but never
    closer together than ``LEAST_RANGE`` of the median: noise shall not look like mountains.

    Args:
        values: Shape (n,); what is not finite is a gap.
        marks: From low to high.
    """
    cells = [_median(cell) for cell in _cells(values, width)]
    known = [cell for cell in cells if cell is not None]
    if not known:
        return GAP * len(cells)
    low, high = _bounds(known)
    return "".join(GAP if cell is None else _mark(cell, low, high, marks) for cell in cells)


def _cells(values: Sequence[float], width: int) -> list[Sequence[float]]:
    count = min(len(values), max(width, 1))
    edges = [len(values) * place // count for place in range(count + 1)] if count else [0]
    return [values[start:end] for start, end in pairwise(edges)]


def _median(values: Sequence[float]) -> float | None:
    finite = [value for value in values if math.isfinite(value)]
    return median(finite) if finite else None


def _bounds(known: Sequence[float]) -> tuple[float, float]:
    """Return what the lowest and the highest mark stand for; halved, so that nothing overflows."""
    low, high = min(known) / 2, max(known) / 2
    missing = max(LEAST_RANGE * abs(median(known)) / 2 - (high - low), 0.0)
    return low - missing / 2, high + missing / 2


def _mark(value: float, low: float, high: float, marks: str) -> str:
    span = high - low
    share = (value / 2 - low) / span if span > 0 and math.isfinite(span) else 0.5
    return marks[min(int(share * len(marks)), len(marks) - 1)]
