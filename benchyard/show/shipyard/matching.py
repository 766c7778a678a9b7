"""Pairs starts with ends; the order of events does not matter."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

#: Of a difference of two times, so many decimals count: they come as microseconds, and a float of
#: seconds since 1970 has steps of a quarter of one.
DIGITS = 6


class Edge(NamedTuple):
    """A start or an end, as read from an event.

    Args:
        at: Seconds since 1970, UTC.
        name: Of what: the image, the step, the resource; of a node's cascade its mode.
        length: Of an end: how long it took by its own account (s).
        size: Bytes.
    """

    at: float
    name: str
    length: float | None = None
    size: int | None = None


class Span(NamedTuple):
    """Something that began, and perhaps ended.

    Args:
        name: Of what: the image, the step, the resource; may be empty.
        start: Seconds since 1970, UTC.
        duration: Seconds; None while it is unfinished.
        size: Bytes that it moved, as told; None if it was not.
        superseded: It is unfinished, and the same was begun again later.
    """

    name: str
    start: float
    duration: float | None
    size: int | None = None
    superseded: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it is unfinished and was not begun again."""
        return self.duration is None and not self.superseded

    @property
    def seen_until(self) -> float:
        """The last instant known of it, seconds since 1970."""
        return self.start + (self.duration or 0.0)


def match(starts: Iterable[Edge], ends: Iterable[Edge]) -> tuple[list[Span], int]:
    """Return the spans, and the number of ends that have neither start nor length.

    Any of the ends may belong to any of the starts. One without a start that tells its length is a
    span all the same.
    """
    # What two exports of one table both hold has happened once.
    begun = list({(start.at, start.name): start for start in sorted(starts, key=_order)}.values())
    ended = sorted(set(ends), key=_order)
    pairs = _pairs(begun, ended)
    last = {start.name: start for start in begun}
    spans = [_span(start, pairs.get(start), last[start.name]) for start in begun]
    met = set(pairs.values())
    alone = [end for end in ended if end not in met]
    spans += [
        Span(e.name, e.at - e.length, e.length, e.size) for e in alone if e.length is not None
    ]
    return spans, sum(end.length is None for end in alone)


def _order(edge: Edge) -> tuple[Any, ...]:
    return edge.at, edge.name, *(-1.0 if one is None else one for one in edge[2:])


def _span(start: Edge, end: Edge | None, last: Edge) -> Span:
    if end is None:
        return Span(start.name, start.at, None, start.size, superseded=start is not last)
    duration = between(start.at, end.at) if end.length is None else end.length
    return Span(start.name, start.at, duration, start.size if end.size is None else end.size)


def _pairs(starts: Sequence[Edge], ends: Sequence[Edge]) -> Mapping[Edge, Edge]:
    """Return the end of each start that has one; both come in order of time.

    Where they take turns, it is the end that follows. Otherwise an end that tells its length takes
    the start nearest to where it must have begun; any other takes the latest one before it that is
    still free, since what was begun again has given up before.
    """
    following = [*(start.at for start in starts[1:]), math.inf]
    if len(starts) == len(ends) and all(
        start.at <= end.at < then for start, end, then in zip(starts, ends, following, strict=False)
    ):
        return dict(zip(starts, ends, strict=True))
    free, found = list(starts), dict[Edge, Edge]()
    for end in sorted(ends, key=lambda end: end.length is None):
        place = _place(free, end)
        if place >= 0:
            found[free.pop(place)] = end
    return found


def _place(free: Sequence[Edge], end: Edge) -> int:
    """Return the index of the start that an end belongs to, or -1."""
    # Old nodes told whole seconds: 12345 may be later than 12345.6.
    last = _last(free, end.at + 1 if end.at.is_integer() else end.at)
    if end.length is None or last < 0:
        return last
    began = end.at - end.length
    low = max(0, min(_last(free, began), last))
    near = range(low, min(low + 1, last) + 1)
    return min(near, key=lambda place: abs(free[place].at - began))


def _last(starts: Sequence[Edge], at: float) -> int:
    return bisect_right(starts, at, key=lambda start: start.at) - 1


def between(start: float, end: float) -> float:
    """Return the time from one instant to another (s); never less than 0."""
    return max(0.0, round(end - start, DIGITS))
