"""What a timeline has room for: rows for tracks, boxes for slices, curves for counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchyard.core.model import Json
from benchyard.core.wording import some
from benchyard.traces.model import Counter, Instant, Trace
from benchyard.traces.nesting import arranged, nest

#: Rows of boxes that one picture has room for, and levels of one track.
MOST_ROWS, MOST_LEVELS = 120, 12
#: Marks that one picture has room for, and how many pixels one takes.
MOST_MARKS, _MARK = 4000, 4
#: Curves that one picture has room for.
MOST_COUNTERS = 24
_FAILURES = ("failed", "timed_out", "cancelled")

#: From so many nanoseconds on, so many of them make one of the unit.
_UNITS = ((1e9 * 10800, 3.6e12, "h"), (1e9 * 180, 6e10, "min"), (2e9, 1e9, "s"), (2e6, 1e6, "ms"))

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lane:
    """The rows of a track.

    Args:
        track: Which of the trace's tracks it is.
        rows: How many levels it has; 1 at least.
    """

    track: int
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Rectangles: columns of the same length.

    Args:
        track: Which of the trace's tracks each is on.
        level: How many others contain each.
        start: In nanoseconds from the trace's zero.
        end: The same.
        name: Which of the trace's names each has.
        failed: Whether what it stands for failed.
    """

    track: Places
    level: Places
    start: Places
    end: Places
    name: Places
    failed: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.start)

    def taken(self, which: NDArray[np.bool_] | Places) -> "Boxes":
        """Return some of them."""
        return Boxes(
            self.track[which],
            self.level[which],
            self.start[which],
            self.end[which],
            self.name[which],
            self.failed[which],
        )

    def and_also(self, more: "Boxes") -> "Boxes":
        """Return these, and others behind them."""
        return Boxes(
            np.append(self.track, more.track),
            np.append(self.level, more.level),
            np.append(self.start, more.start),
            np.append(self.end, more.end),
            np.append(self.name, more.name),
            np.append(self.failed, more.failed),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What is drawn of a trace.

    Args:
        trace: Arranged.
        first: When the picture begins, in nanoseconds from the trace's zero.
        last: When it ends.
        lanes: Of each process, in its order.
        boxes: Of the lanes.
        marks: Of the lanes; of instants of one name that are close the first.
        counters: Of each process, in its order.
        notes: What is not drawn, or not as it is.
    """

    trace: Trace
    first: int
    last: int
    lanes: Mapping[str, Sequence[Lane]]
    boxes: Boxes
    marks: Sequence[Instant]
    counters: Mapping[str, Sequence[Counter]]
    notes: Sequence[str]

    @property
    def processes(self) -> Sequence[str]:
        """The processes with something to draw, in the order of the trace."""
        return [*dict.fromkeys([*self.lanes, *self.counters])]


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """From nanoseconds to numbers of a unit.

    Args:
        first: Where the axis has its 0, in nanoseconds from the trace's zero.
        length: Of what is drawn (ns); 1 at least.
        per_unit: Nanoseconds of a unit.
        unit: Its name.
    """

    first: int
    length: float
    per_unit: float
    unit: str

    @classmethod
    def of(cls, layout: Layout) -> "TimeAxis":
        """Return the axis of a layout, with the unit that suits its length."""
        length = float(max(layout.last - layout.first, 1))
        found = next(((per, unit) for least, per, unit in _UNITS if length >= least), (1e3, "µs"))
        return cls(layout.first, length, *found)

    def __call__(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return where moments are on the axis, in its unit."""
        return (at - self.first) / self.per_unit

    @property
    def limits(self) -> tuple[float, float]:
        """Where the axis begins and ends: a little beside the first and the last."""
        length = self.length / self.per_unit
        return -0.004 * length, 1.004 * length


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
    lanes, notes = _lanes(trace, boxes)
    shown = np.zeros(len(trace.tracks), np.bool_)
    shown[[lane.track for several in lanes.values() for lane in several]] = True
    deep = boxes.level >= MOST_LEVELS
    if (hidden := int((deep & shown[boxes.track]).sum())) > 0:
        notes.append(f"{hidden:,} slices below the {MOST_LEVELS}th level are not drawn")
    boxes = boxes.taken(shown[boxes.track] & ~deep)
    count, pixel = len(boxes), max((last - first) / pixels, 1.0)
    boxes, width = merged(boxes, most, pixel)
    if len(boxes) < count:
        notes.append(
            f"of {count:,} slices, those shorter than {_length(width)} are drawn together where "
            f"they are close, in the colour of the longest: {len(boxes):,} boxes"
        )
    instants = [one for one in trace.instants if shown[one.track]]
    marks = _marks(instants, _MARK * pixel)
    if len(marks) < len(instants):
        notes.append(f"of {len(instants):,} instants, close ones of a name are one mark")
    counters, more = _counters(trace)
    told = [*notes, *more, *_lost(trace)]
    return Layout(trace, first, last, lanes, boxes, marks, counters, told)


def _boxes(trace: Trace) -> Boxes:
    slices = trace.slices
    failed = np.zeros(len(slices), np.bool_)
    places = [place for place, details in slices.details.items() if _has_failed(details)]
    failed[places] = True
    return Boxes(
        slices.track.astype(np.int64),
        nest(slices).depth,
        slices.start,
        slices.end,
        slices.name.astype(np.int64),
        failed,
    )


def _has_failed(details: Mapping[str, Json]) -> bool:
    return details.get("outcome") in _FAILURES


def _lanes(trace: Trace, boxes: Boxes) -> tuple[dict[str, list[Lane]], list[str]]:
    """Return the lanes of each process; of too many tracks those that were busy longest."""
    count = len(trace.tracks)
    deepest = np.full(count, -1)
    np.maximum.at(deepest, boxes.track, boxes.level)
    for one in trace.instants:
        deepest[one.track] = max(deepest[one.track], 0)
    rows = np.minimum(deepest + 1, MOST_LEVELS)
    top = boxes.level == 0
    busy = np.bincount(boxes.track[top], (boxes.end - boxes.start)[top], count)
    by_time = np.argsort(-busy, kind="stable")
    by_time = by_time[rows[by_time] > 0]
    fit = by_time[np.cumsum(rows[by_time]) <= MOST_ROWS]
    lanes: dict[str, list[Lane]] = {}
    which: list[int] = sorted(fit.tolist())
    for track in which:
        lane = Lane(track, int(rows[track]))
        lanes.setdefault(trace.tracks[track].process, []).append(lane)
    left = len(by_time) - len(fit)
    notes = [f"{left:,} more tracks, less busy than these, are not drawn"] if left else []
    return lanes, notes


def merged(boxes: Boxes, most: int, pixel: float) -> tuple[Boxes, float]:
    """Draw what is small together, until there are no more boxes than wanted.

    Args:
        boxes: In any order.
        most: So many at most, unless fewer than one for each row.
        pixel: Length of time below which a box is small (ns); doubled while there are too many.

    Returns:
        The boxes, and the length below which they were merged (ns).
    """
    span = int(boxes.end.max() - boxes.start.min()) + 1 if len(boxes) else 1
    found = boxes
    while len(found) > most:
        found = _merged(boxes, pixel)
        if pixel > span:
            break
        pixel *= 2
    return found, pixel / 2


def _merged(boxes: Boxes, pixel: float) -> Boxes:
    length = boxes.end - boxes.start
    small = length < pixel
    few, left = boxes.taken(small), boxes.taken(~small)
    column = (few.start // pixel).astype(np.int64)
    # The longest of those together comes first.
    order = np.lexsort((-length[small], column, few.level, few.track))
    few, column = few.taken(order), column[order]
    if not len(few):
        return left
    keys = np.stack((few.track, few.level, column))
    firsts = np.concatenate(([0], np.flatnonzero((np.diff(keys) != 0).any(axis=0)) + 1))
    together = Boxes(
        few.track[firsts],
        few.level[firsts],
        np.minimum.reduceat(few.start, firsts),
        np.maximum.reduceat(few.end, firsts),
        few.name[firsts],
        np.logical_or.reduceat(few.failed, firsts),
    )
    return left.and_also(together)


def _marks(instants: Sequence[Instant], width: float) -> list[Instant]:
    """Return so few instants that marks of one name on one track do not hide each other."""
    known: dict[str, int] = {}
    name = [known.setdefault(one.name, len(known)) for one in instants]
    track = [one.track for one in instants]
    times = np.array([one.time for one in instants], np.int64)
    while True:
        keys = np.stack((np.array(name), np.array(track), times // width))
        _, firsts = np.unique(keys, axis=1, return_index=True)
        if len(firsts) <= MOST_MARKS or width > 2**63:
            return [instants[place] for place in sorted(firsts.tolist())]
        width *= 2


def _counters(trace: Trace) -> tuple[dict[str, list[Counter]], list[str]]:
    known = [one for one in trace.counters if np.isfinite(one.values).any()]
    moving = [one for one in known if np.nan_to_num(one.values).any()]
    shown: dict[str, list[Counter]] = {}
    for one in moving[:MOST_COUNTERS]:
        shown.setdefault(one.process, []).append(one)
    notes: list[str] = []
    if still := [one.name for one in known if one not in moving]:
        notes.append(f"zero throughout: {some(still, 4)}")
    if left := len(moving) - MOST_COUNTERS:
        notes += [f"{left:,} more counters are not drawn"] if left > 0 else []
    return shown, notes


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


def _length(nanoseconds: float) -> str:
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"
