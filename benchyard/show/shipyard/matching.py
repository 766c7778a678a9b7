"""Which end belongs to which start, in whatever order they came.

Nearly every name has one start and one end. Where there are more (an image pulled again, a node
started again, an event lost), an end that tells its length takes the start nearest to where it
must have begun; any other end takes the latest start before it that is still free, since what was
begun again has given up before. That takes ``n log n`` for ``n`` events of one name.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from benchyard.show.shipyard.spans import Span, between

#: When something began, seconds since 1970, as often as that happened.
Starts: TypeAlias = Mapping[str, list[float]]
#: When it ended, how long it took by its own account (s or None), and bytes (or None).
End: TypeAlias = tuple[float, float | None, int | None]
Ends: TypeAlias = Mapping[str, list[End]]


def match(starts: Starts, ends: Ends) -> tuple[list[Span], int]:
    """Return the spans, and the number of ends that have neither start nor length.

    An end without a start that tells its length is a span all the same.
    """
    spans, strays = list[Span](), 0
    for name in dict.fromkeys((*starts, *ends)):
        found, alone = match_one(name, starts.get(name, ()), ends.get(name, ()))
        spans += found
        strays += alone
    return spans, strays


def match_one(name: str, starts: Sequence[float], ends: Sequence[End]) -> tuple[list[Span], int]:
    """Return the spans of one name, and the number of ends that have neither start nor length."""
    if len(starts) == len(ends) == 1 and starts[0] <= ends[0][0]:
        return [Span(name, starts[0], *_ended(starts[0], ends[0]))], 0
    # What two exports of one table both hold has happened once.
    begun = sorted(dict.fromkeys(starts))
    ended = sorted(dict.fromkeys(ends), key=_order)
    pairs = dict(_pairs(begun, ended))
    last = len(begun) - 1
    spans = [
        Span(
            name, at, *_ended(at, pairs.get(place)), superseded=place not in pairs and place < last
        )
        for place, at in enumerate(begun)
    ]
    met = set(pairs.values())
    alone = [end for end in ended if end not in met]
    spans += [
        Span(name, at - length, length, size) for at, length, size in alone if length is not None
    ]
    return spans, sum(length is None for _, length, _ in alone)


def _ended(start: float, end: End | None) -> tuple[float | None, int | None]:
    if end is None:
        return None, None
    at, length, size = end
    return between(start, at) if length is None else length, size


def _order(end: End) -> tuple[bool, float, float, bool, int]:
    """Put the ends first that tell their length: they know their start, the others may guess."""
    at, length, size = end
    return length is None, at, length or 0.0, size is None, size or 0


def _pairs(starts: Sequence[float], ends: Sequence[End]) -> Iterator[tuple[int, End]]:
    free = _Free(len(starts))
    for end in ends:
        at, length, _ = end
        # Old nodes told whole seconds: 12345 may be later than 12345.6.
        last = bisect_right(starts, at + 1 if at.is_integer() else at) - 1
        place = free.at_or_below(last)
        if length is not None:
            place = free.nearest(starts, at - length, last)
        if place >= 0:
            free.take(place)
            yield place, end


class _Free:
    """Which places are free; each question takes nearly constant time.

    Two forests of pointers to the next free place, halved on the way.
    Source: Tarjan and van Leeuwen 1984, Worst-case analysis of set union algorithms, section 2.
    """

    def __init__(self, count: int) -> None:
        # Shifted by one: 0 stands for "none below", count + 1 for "none above".
        self._below = list(range(count + 2))
        self._above = list(range(count + 2))

    def at_or_below(self, place: int) -> int:
        """Return the highest free place up to this one, or -1."""
        return _find(self._below, place + 1) - 1

    def nearest(self, starts: Sequence[float], wanted: float, last: int) -> int:
        """Return the free place up to ``last`` whose start is nearest to the wanted, or -1."""
        middle = min(bisect_right(starts, wanted) - 1, last)
        low = self.at_or_below(middle)
        high = _find(self._above, middle + 2) - 1
        if high > last:
            return low
        if low < 0:
            return high
        return low if wanted - starts[low] <= starts[high] - wanted else high

    def take(self, place: int) -> None:
        """Make a place unfree."""
        self._below[place + 1] = place
        self._above[place + 1] = place + 2


def _find(pointers: list[int], place: int) -> int:
    while pointers[place] != place:
        pointers[place] = pointers[pointers[place]]
        place = pointers[place]
    return place
