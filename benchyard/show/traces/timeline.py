"""A trace as a picture: boxes for slices, marks for instants, curves for counters."""

from collections import Counter as Counts
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchyard.core.errors import InputError
from benchyard.core.quantity import moment, number, shorten, tick
from benchyard.core.wording import printable
from benchyard.show.axes import COLOURS, LETTER, Axis, SeriesLook
from benchyard.show.drawing import Box, Dots, Drawing, Line, Shape, Text
from benchyard.show.themes import colour_of
from benchyard.show.traces.timeline_layout import Boxes, Layout, lay_out, thinned
from benchyard.traces.model import Counter, Instant, Trace

#: Boxes that one picture has room for; an SVG of so many has 3 MB.
_MOST_BOXES = 20_000
#: Kinds of instants with a mark of their own; the others share one.
_MOST_MARKS = len(COLOURS)
#: Sizes in pixels: picture width, left margin, row height, curve height, height of a line of text.
_WIDTH, _LEFT, _RIGHT = 1300, 190, 100
_ROW, _CURVE, _GAP, _LINE = 18, 34, 10, 16
_PIXELS = _WIDTH - _LEFT - _RIGHT
#: Size of the letters, and how wide one is at most.
_SIZE = 9
_LETTER = _SIZE * LETTER
#: Characters that the margins have room for, and the whole width.
_LABEL, _LONGEST_LINE = 30, 170
#: Pixels above a track for its marks; and above one without any.
_FOR_MARKS, _APART = 13, 5
_FAINT, _BAND, _GRID = "#8a8f98", "#f1f2f4", "#dfe2e6"
_CURVES, _WRONG, _WHITE = "#3b6ea5", "#c0162c", "#ffffff"
#: From so many nanoseconds on, so many of them make one of the unit.
_UNITS = ((1e9 * 10800, 3.6e12, "h"), (1e9 * 180, 6e10, "min"), (2e9, 1e9, "s"), (2e6, 1e6, "ms"))


@dataclass(slots=True)
class _Places:
    """Where everything begins (pixels from above).

    Args:
        tracks: Of each that is drawn.
        end: Below all of them.
    """

    end: float
    processes: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    tracks: dict[int, float] = field(default_factory=dict[int, float])
    counters: list[tuple[Counter, float]] = field(default_factory=list[tuple[Counter, float]])


def timeline_drawing(trace: Trace, title: str = "", *, most: int = _MOST_BOXES) -> Drawing:
    """Draw a trace: each track in rows of boxes, by process, with its counters below.

    A name has the same colour in every picture. What failed has a red edge. Slices that the
    picture has no room for are drawn together, which it says.

    Args:
        trace: Any.
        title: Above all; the names of the processes if left out.
        most: So many boxes at most.

    Raises:
        InputError: If the trace holds nothing that could be drawn.
    """
    layout = lay_out(trace, most, _PIXELS)
    if not layout.processes:
        raise InputError("the trace has no slices, instants or counters, so there is no timeline")
    looks = _looks(layout.trace.instants)
    places = _places(layout, 26 + _LINE * (2 if looks else 1))
    height = places.end + 38 + _LINE * len(layout.notes)
    drawing = Drawing(_WIDTH, height, [*_head(layout, title, looks)])
    drawing.shapes += _bands(layout, places)
    drawing.shapes += _time(layout, places.end)
    drawing.shapes += _boxes(layout, places)
    drawing.shapes += _instants(layout, places, looks)
    for counter, top in places.counters:
        drawing.shapes += _curve(layout, counter, top)
    for place, note in enumerate(layout.notes):
        text = shorten(printable(note), _LONGEST_LINE)
        drawing.shapes.append(Text(12, places.end + 48 + _LINE * place, text, colour=_FAINT))
    return drawing


def _places(layout: Layout, top: float) -> _Places:
    places, marked = _Places(top), {one.track for one in layout.marks}
    for process in layout.processes:
        places.processes.append((process, places.end))
        places.end += _ROW
        for track, rows in layout.rows.items():
            if layout.trace.tracks[track].process == process:
                places.end += _FOR_MARKS if track in marked else _APART
                places.tracks[track] = places.end
                places.end += rows * _ROW
        places.end += _GAP
        for counter in layout.counters:
            if counter.process == process:
                places.counters.append((counter, places.end))
                places.end += _CURVE + _GAP
    return places


# -- around the lanes


def unit_of(length: float) -> tuple[float, str]:
    """Return the unit for a duration (ns): its length in nanoseconds, and its name."""
    return next(((per, unit) for least, per, unit in _UNITS if length >= least), (1e3, "µs"))


def _head(layout: Layout, title: str, looks: Mapping[str, "_Mark"]) -> Iterator[Shape]:
    text = title or ", ".join(layout.processes)
    yield Text(12, 18, shorten(printable(text), 120), 14, bold=True)
    yield Text(12, 34, _summary(layout))
    x = 17.0
    for label, look in dict(looks.values()).items():
        yield Dots([(x, 47)], look.shape, look.colour)
        yield Text(x + 7, 50, label)
        x += 20 + len(label) * _LETTER * 1.1


def _summary(layout: Layout) -> str:
    trace, length = layout.trace, max(layout.last - layout.first, 1)
    per_unit, unit = unit_of(length)
    parts = [f"{len(trace.slices):,} slices on {len(trace.tracks):,} tracks"]
    parts.append(f"{number(length / per_unit, 4)} {unit}")
    if trace.zero is not None and (began := moment((trace.zero + layout.first) // 10**9)):
        parts.append(f"from {began}")
    if layout.boxes[5].any():
        parts.append("red edge: failed")
    return "; ".join(parts)


def _bands(layout: Layout, places: _Places) -> Iterator[Shape]:
    for process, top in places.processes:
        yield Text(12, top + 13, shorten(printable(process), _LABEL), 11, bold=True)
    for track, top in places.tracks.items():
        yield Box(_LEFT, top, _PIXELS, layout.rows[track] * _ROW, _BAND)
        name = printable(layout.trace.tracks[track].thread)
        yield Text(12, top + 13, shorten(name, _LABEL))


def _time(layout: Layout, bottom: float) -> Iterator[Shape]:
    """Draw the axis below the lanes, and its grid behind them."""
    length = max(layout.last - layout.first, 1)
    per_unit, unit = unit_of(length)
    axis = Axis(0.0, length / per_unit, _LEFT, _LEFT + _PIXELS)
    for mark in axis.ticks(10):
        x = axis(mark)
        yield Line([(x, 26 + _LINE), (x, bottom + 3)], _GRID, 0.6)
        yield Text(x, bottom + 14, number(mark, 6), anchor="middle")
    text = f"time since the start ({unit})"
    yield Text(_LEFT + _PIXELS / 2, bottom + 29, text, anchor="middle")


def _x(layout: Layout, at: NDArray[np.int64]) -> NDArray[np.float64]:
    share = (at - layout.first) / max(layout.last - layout.first, 1)
    return _LEFT + share * _PIXELS


# -- tracks


def _boxes(layout: Layout, places: _Places) -> Iterator[Box | Text]:
    """Draw the boxes, and then the names in those that are wide enough."""
    boxes: Boxes = layout.boxes
    left, right = _x(layout, boxes[2]), _x(layout, boxes[3])
    names: list[Text] = []
    columns: list[list[int]] = boxes[[0, 1, 4, 5]].T.tolist()
    for (track, level, name, failed), x, end in zip(
        columns, left.tolist(), right.tolist(), strict=True
    ):
        text, y = layout.trace.names[name], places.tracks[track] + level * _ROW + 1
        # What is thinner than half a pixel would not be seen.
        wide = max(end - x, 0.5)
        edge = _WRONG if failed else _WHITE if wide > 4 else ""
        yield Box(x, y, wide, _ROW - 2, colour_of(text), edge=edge)
        # Less than three letters tell nothing.
        room, shown = int((wide - 5) / _LETTER), printable(text)
        if room >= 3 and (len(shown) <= room or room >= 5):
            names.append(Text(x + 3, y + 11.5, shorten(shown, room), _SIZE))
    yield from names


#: A label and its look.
_Mark = tuple[str, SeriesLook]


def _looks(instants: Sequence[Instant]) -> dict[str, _Mark]:
    """Return the mark of each name, those seen most often first; the last is that of the rest."""
    counts = Counts(one.name for one in instants)
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    own = ordered if len(ordered) <= _MOST_MARKS else ordered[: _MOST_MARKS - 1]
    marks = {
        name: (f"{shorten(printable(name), 24)} ({counts[name]:,})", SeriesLook(place))
        for place, name in enumerate(own)
    }
    others = ordered[len(own) :]
    rest = f"others ({sum(counts[name] for name in others):,})", SeriesLook(len(own))
    return marks | dict.fromkeys(others, rest)


def _instants(layout: Layout, places: _Places, looks: Mapping[str, _Mark]) -> Iterator[Dots]:
    points: dict[str, list[tuple[float, float]]] = {}
    times = _x(layout, np.array([one.time for one in layout.marks], np.int64)).tolist()
    for one, x in zip(layout.marks, times, strict=True):
        points.setdefault(one.name, []).append((x, places.tracks[one.track] - 6))
    for name, several in points.items():
        _, look = looks[name]
        yield Dots(several, look.shape, look.colour)


# -- counters


def _curve(layout: Layout, counter: Counter, top: float) -> Iterator[Shape]:
    known = np.isfinite(counter.values)
    times, values = thinned(_x(layout, counter.times[known]), counter.values[known], 1.0)
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    up = Axis(low, high, top + _CURVE, top)
    points = [(x, up(value)) for x, value in zip(times.tolist(), values.tolist(), strict=True)]
    steps = points[:1]
    for (_, before), (x, after) in pairwise(points):
        steps += [(x, before), (x, after)]
    edge = [(steps[0][0], up(0.0)), *steps, (steps[-1][0], up(0.0))]
    yield Line(edge, _CURVES, 0, 0.25)
    yield Line(steps, _CURVES)
    middle = top + _CURVE / 2 + 4
    yield Text(12, middle, shorten(printable(counter.name), _LABEL), colour=_CURVES)
    most = f"≤ {tick(high, counter.unit).strip()}" if low == 0 else f"{low:.3g} to {high:.3g}"
    yield Text(_LEFT + _PIXELS + 8, middle, shorten(printable(most), 16), colour=_CURVES)
