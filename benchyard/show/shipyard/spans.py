"""What took time: spans, how much of the clock they cover, and what they come to."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple


class Operation(StrEnum):
    """What a span is of. The first eight are Batch Shipyard's, ``PULL`` and the rest a run's."""

    PREPARATION = "preparation"
    REGISTRY = "private_registry"
    CONTAINER = "container_pull"
    RESOURCES = "global_resources"
    SAVE = "save"
    TORRENT = "torrent"
    LOAD = "load"
    PULL = "pull"
    RUN = "run"
    INITIALIZE = "initialize"
    START = "start"
    READY = "ready"
    STEP = "step"
    STOP = "stop"
    UPLOAD = "upload"
    ARCHIVE = "archive"


#: Of a difference of two times, so many decimals count: they come as microseconds, and a float of
#: seconds since 1970 has steps of a quarter of one.
DIGITS = 6


def between(start: float, end: float) -> float:
    """Return the time from one instant to another (s); never less than 0."""
    return max(0.0, round(end - start, DIGITS))


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
        """Whether it is unfinished, and nothing took its place."""
        return self.duration is None and not self.superseded

    @property
    def seen_until(self) -> float:
        """The last instant that is known of it, seconds since 1970."""
        return self.start + (self.duration or 0.0)


def is_unfinished(spans: Iterable[Span]) -> bool:
    """Tell whether any is unfinished for good."""
    return any(span.is_open for span in spans)


def summed(spans: Iterable[Span]) -> float:
    """Return the sum of all durations that are known, in any order the same (s)."""
    return math.fsum(span.duration for span in spans if span.duration is not None)


def covered(spans: Iterable[Span]) -> float:
    """Return how much of the clock lies under the spans; what overlaps counts once (s)."""
    known = [span for span in spans if span.duration is not None]
    if len(known) <= 1:
        return known[0].duration or 0.0 if known else 0.0
    lengths, until = list[float](), -math.inf
    for span in sorted(known, key=lambda span: span.start):
        end = span.seen_until
        if end > until:
            lengths.append(end - max(span.start, until))
            until = end
    return round(math.fsum(lengths), DIGITS)


def shares(groups: Sequence[Sequence[Span]]) -> list[float]:
    """Return how much of the clock each group covers that none before it does (s)."""
    found, before, all_of_them = list[float](), 0.0, list[Span]()
    for group in groups:
        all_of_them += group
        now = covered(all_of_them) if group else before
        found.append(between(before, now))
        before = now
    return found
