"""What a timeline has room for: rows for tracks, boxes for slices, curves for counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchyard.core.quantity import duration
from benchyard.core.wording import some
from benchyard.traces.model import Counter, Instant, Trace
from benchyard.traces.nesting import arranged, nest

#: Rows of boxes that one picture has room for, and levels of one track.
MOST_ROWS, MOST_LEVELS = 120, 12
#: Marks that one picture has room for, and how many pixels one takes.
_MOST_MARKS, _MARK = 4000, 4
#: Curves that one picture has room for.
MOST_COUNTERS = 24
_FAILURES = ("failed", "timed_out", "cancelled")

#: Rectangles, a column each, of int64 (6, n): which track, how many others contain it, its start
#: and its end (ns from the trace's zero), which name, and whether what it stands for failed.
Boxes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What is drawn of a trace.

    Args:
        trace: Arranged.
        first: When the picture begins, in nanoseconds from the trace's zero.
        last: When it ends.
        rows: How many levels each track has that is drawn, in the trace's order.
        boxes: Of these tracks.
        marks: Of these tracks; of instants of one name that are close the first.
        counters: In the trace's order.
        notes: What is not drawn, or not as it is.
    """

    trace: Trace
    first: int
    last: int
    rows: Mapping[int, int]
    boxes: Boxes
    marks: Sequence[Instant]
    counters: Sequence[Counter]
    notes: Sequence[str]

    @property
    def processes(self) -> Sequence[str]:
        """The processes with something to draw, in the order of the trace."""
        tracks = (self.trace.tracks[track].process for track in self.rows)
        return [*dict.fromkeys([*tracks, *(one.process for one in self.counters)])]


def lay_out(trace: Trace, most: int, pixels: int) -> Layout:
    """Decide what is drawn of a trace.

    Args:
        trace: Any.
        most: So many boxes at most.
        pixels: So many stand beside each other.
    """
    trace = arranged(trace)
    first, last = trace.span()
    boxes = _boxes(trace)
    rows, notes = _rows(trace, boxes)
    boxes = boxes[:, np.isin(boxes[0], [*rows])]
    deep = boxes[1] >= MOST_LEVELS
    if deep.any():
        notes.append(f"{deep.sum():,} slices below the {MOST_LEVELS}th level are not drawn")
    boxes, pixel = boxes[:, ~deep], max((last - first) / pixels, 1.0)
    drawn, width = merged(boxes, most, pixel)
    count = drawn.shape[1]
    if count < boxes.shape[1]:
        notes.append(
            f"of {boxes.shape[1]:,} slices, those shorter than {duration(width / 1e9)} are drawn "
            f"together where they are close, in the colour of the longest: {count:,} boxes"
        )
    instants = [one for one in trace.instants if one.track in rows]
    marks = _marks(instants, _MARK * pixel)
    if len(marks) < len(instants):
        notes.append(f"of {len(instants):,} instants, close ones of a name are one mark")
    counters, more = _counters(trace)
    every = [*notes, *more, *_lost(trace)]
    return Layout(trace, first, last, rows, drawn, marks, counters, every)


def _boxes(trace: Trace) -> Boxes:
    slices = trace.slices
    failed = np.zeros(len(slices), np.int64)
    failed[[at for at, one in slices.details.items() if one.get("outcome") in _FAILURES]] = 1
    columns = (slices.track, nest(slices).depth, slices.start, slices.end, slices.name, failed)
    return np.stack([column.astype(np.int64) for column in columns])


def _rows(trace: Trace, boxes: Boxes) -> tuple[dict[int, int], list[str]]:
    """Return the rows of each track; of too many tracks those that were busy longest."""
    track, level, start, end, *_ = boxes
    count = len(trace.tracks)
    deepest = np.full(count, -1)
    np.maximum.at(deepest, track, level)
    np.maximum.at(deepest, [one.track for one in trace.instants], 0)
    rows = np.minimum(deepest + 1, MOST_LEVELS)
    busy = np.bincount(track[level == 0], (end - start)[level == 0], count)
    by_time = np.argsort(-busy, kind="stable")
    by_time = by_time[rows[by_time] > 0]
    fit = by_time[np.cumsum(rows[by_time]) <= MOST_ROWS]
    left = len(by_time) - len(fit)
    notes = [f"{left:,} more tracks, less busy than these, are not drawn"] if left else []
    return {track: int(rows[track]) for track in sorted(fit.tolist())}, notes


def merged(boxes: Boxes, most: int, pixel: float) -> tuple[Boxes, float]:
    """Draw what is small together, until there are no more boxes than wanted.

    Args:
        boxes: In any order.
        most: So many at most, unless fewer than one for each row.
        pixel: Length of time below which a box is small (ns); doubled while there are too many.

    Returns:
        The boxes, and the length below which they were merged (ns).
    """
    span = int(boxes[3].max() - boxes[2].min()) + 1 if boxes.size else 1
    found = boxes
    while found.shape[1] > most:
        found = _merged(boxes, pixel)
        if pixel > span:
            break
        pixel *= 2
    return found, pixel / 2


def _merged(boxes: Boxes, pixel: float) -> Boxes:
    length = boxes[3] - boxes[2]
    small = length < pixel
    if not small.any():
        return boxes
    few = boxes[:, small]
    column = (few[2] // pixel).astype(np.int64)
    # The longest of those together comes first.
    order = np.lexsort((-length[small], column, few[1], few[0]))
    few = few[:, order]
    keys = np.stack((few[0], few[1], column[order]))
    firsts = np.concatenate(([0], np.flatnonzero((np.diff(keys) != 0).any(axis=0)) + 1))
    together = few[:, firsts]
    together[2] = np.minimum.reduceat(few[2], firsts)
    together[3] = np.maximum.reduceat(few[3], firsts)
    together[5] = np.maximum.reduceat(few[5], firsts)
    return np.concatenate((boxes[:, ~small], together), axis=1)


def _marks(instants: Sequence[Instant], width: float) -> list[Instant]:
    """Return so few instants that marks of one name on one track do not hide each other."""
    while True:
        firsts = {(one.name, one.track, one.time // width): one for one in reversed(instants)}
        if len(firsts) <= _MOST_MARKS or width > 2**63:
            return [*reversed(firsts.values())]
        width *= 2


def _counters(trace: Trace) -> tuple[list[Counter], list[str]]:
    known = [one for one in trace.counters if np.isfinite(one.values).any()]
    moving = [one for one in known if np.nan_to_num(one.values).any()]
    notes: list[str] = []
    if still := [one.name for one in known if one not in moving]:
        notes.append(f"zero throughout: {some(still, 4)}")
    if len(moving) > MOST_COUNTERS:
        notes.append(f"{len(moving) - MOST_COUNTERS:,} more counters are not drawn")
    return moving[:MOST_COUNTERS], notes


def thinned(
    times: NDArray[np.float64], values: NDArray[np.float64], pixel: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest and the last value of each pixel, so that no peak is lost."""
    columns = np.floor(times / pixel)
    firsts = np.concatenate(([0], np.flatnonzero(np.diff(columns)) + 1))
    lasts = np.append(firsts[1:], len(times)) - 1
    both = np.stack((times[firsts], times[lasts]), axis=1).ravel()
    return both, np.stack((np.maximum.reduceat(values, firsts), values[lasts]), axis=1).ravel()


def _lost(trace: Trace) -> list[str]:
    if not trace.losses:
        return []
    more = f"; and {len(trace.losses) - 1:,} more" if len(trace.losses) > 1 else ""
    return [f"missing, {trace.losses[0]}{more}"]
