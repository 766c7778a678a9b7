"""Times of events in nanoseconds, rounded as if every digit that is written were read."""

from collections.abc import Sequence
from decimal import Decimal

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchyard.traces.chrome.chunks import Chunk
from benchyard.traces.chrome.events import MOST_US, Event
from benchyard.traces.model import Times

_NS = Decimal(1000)
#: A float is at most so much of itself away from what is written; and in nanoseconds.
_FLOAT_ERROR = 2.0**-53 * 1000
#: More than what the sums of parts of a microsecond are off by, in nanoseconds.
_SUM_ERROR = 1e-9


class _Exact(msgspec.Struct, gc=False):
    ts: int | Decimal | None = None
    dur: int | Decimal | None = None


_EXACT = msgspec.json.Decoder(list[_Exact], strict=False)


def times_of(chunk: Chunk, events: Sequence[Event]) -> tuple[Times, Times] | None:
    """Return when events begin and end; None if one has no such time, or one out of range."""
    begins = np.array([0 if event.ph == "M" else event.ts for event in events])
    took = np.array([event.dur if event.ph == "X" else 0 for event in events])
    if begins.dtype.kind not in "if" or took.dtype.kind not in "if":
        return None
    if not ((np.abs(begins) < MOST_US).all() and ((took >= 0) & (took < MOST_US)).all()):
        return None
    starts, ends = _rounded(begins), _rounded(begins, took)
    if starts is None or ends is None:
        return _exact(chunk, events)
    return starts, ends


def _rounded(*microseconds: NDArray[np.float64]) -> Times | None:
    """Return sums in nanoseconds; None if floats do not tell which is the nearest."""
    whole, part, doubt = np.zeros((3, len(microseconds[0])))
    for one in microseconds:
        whole += np.trunc(one)
        part += (one - np.trunc(one)) * 1000
        if one.dtype.kind == "f":
            doubt += np.abs(one) * _FLOAT_ERROR
    rounded = np.rint(part)
    if (np.abs(part - rounded) + doubt < 0.5 - _SUM_ERROR).all():
        return whole.astype(np.int64) * 1000 + rounded.astype(np.int64)
    return None


def _exact(chunk: Chunk, events: Sequence[Event]) -> tuple[Times, Times]:
    starts: list[int] = []
    ends: list[int] = []
    for event, one in zip(events, _EXACT.decode(chunk.listed), strict=True):
        begin = 0 if event.ph == "M" else one.ts or 0
        starts.append(round(begin * _NS))
        ends.append(round((begin + one.dur) * _NS) if event.ph == "X" and one.dur else starts[-1])
    return np.array(starts, np.int64), np.array(ends, np.int64)


def ns(microseconds: Decimal) -> int:
    """Return a time in nanoseconds."""
    return round(microseconds * _NS)
