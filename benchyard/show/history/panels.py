"""Panels of values over one time, with what changed: the picture of every history."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby

from benchyard.core.quantity import shorten, tick
from benchyard.show.axes import GRID, INK, LETTER, Axis, Frame, short
from benchyard.show.drawing import Dots, Drawing, Line, Shape, Text

#: Panels that one picture has room for.
MOST = 24
FAINT, CHANGE = "#8a8a8a", "#6d28d9"
#: Pixels beside, below and above a panel; sizes of letters.
_LEFT, _RIGHT, _BELOW, _ABOVE = 72, 30, 32, 36
_NAME, _TEXT, _SMALL = 11, 10, 8
#: Pixels that a change needs beside the next to be written out, and a date beside another.
_BESIDE, _DATE = 35, 80
_DAY = 86_400
#: Seconds between two marks of the axis of time; months are those of the calendar.
_STEPS = (
    *(unit * n for unit in (1, 60) for n in (1, 2, 5, 10, 15, 30)),
    *(3600 * hours for hours in (1, 2, 3, 6, 12)),
    *(_DAY * days for days in (1, 2, 7, 14)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 600, 6000, 120_000)


@dataclass(frozen=True, slots=True)
class Panel:
    """Values over time.

    Args:
        name: What stands above it, at the left.
        last: What stands above it, at the right.
        shapes: At seconds since 1970 and values; NaN interrupts a line.
        changes: Seconds since 1970 and words, in order of time.
        around: Values that the axis goes round; others lie at its edge. None takes all.
    """

    name: str
    last: str
    unit: str
    shapes: Sequence[Line | Dots]
    changes: Sequence[tuple[float, str]]
    around: tuple[float, float] | None = None
    last_colour: str = INK


def panels_drawing(
    panels: Sequence[Panel], width: float, columns: int, height: float, head: Sequence[Shape]
) -> Drawing:
    """Draw panels below each other, all over the same time.

    Args:
        width: Of the whole (pixels).
        height: Of one panel (pixels).
        head: What stands above them.
    """
    above = max((shape.y + 4 for shape in head if isinstance(shape, Text)), default=0)
    rows, across = math.ceil(len(panels) / columns), width / columns
    drawing = Drawing(width, above + rows * (height + _ABOVE) + _BELOW, [*head])
    times = [at for panel in panels for shape in panel.shapes for at, _ in shape.points]
    first, last = min(times), max(times)
    room = (last - first) * 0.03 or 60.0
    for place, panel in enumerate(panels):
        left, top = place % columns * across, above + _ABOVE + place // columns * (height + _ABOVE)
        frame = Frame(left + _LEFT, top, left + across - _RIGHT, top + height)
        time = Axis(first - room, last + room, frame.left, frame.right)
        drawing.shapes += _panel(panel, frame, time)
        drawing.shapes += _dates(time, frame.bottom, labels=place + columns >= len(panels))
    return drawing


def _panel(panel: Panel, frame: Frame, time: Axis) -> Iterator[Shape]:
    values = _value_axis(panel, frame)
    for mark in values.ticks():
        y = values(mark)
        yield Line([(frame.left, y), (frame.right, y)], GRID, 0.6)
        yield Text(frame.left - 5, y + 3, tick(mark, panel.unit), anchor="end")
    yield Line([(frame.left, frame.top), (frame.left, frame.bottom)], INK, 0.8)
    yield from _changes(panel, frame, time)
    for shape in panel.shapes:
        for known, points in groupby(shape.points, key=lambda point: math.isfinite(point[1])):
            if known:
                places = [(time(at), _within(values(v), frame)) for at, v in points]
                yield replace(shape, points=places)
    letters = int(frame.width / (_NAME * LETTER)) - len(panel.last) - 2
    yield Text(frame.left, frame.top - 6, short(panel.name, max(8, letters)), _NAME)
    yield Text(frame.right, frame.top - 6, panel.last, colour=panel.last_colour, anchor="end")


def _within(y: float, frame: Frame) -> float:
    return min(max(y, frame.top), frame.bottom)


def _value_axis(panel: Panel, frame: Frame) -> Axis:
    every = (v for shape in panel.shapes for _, v in shape.points if math.isfinite(v))
    numbers = panel.around or [*every] or [0.0, 1.0]
    low, high = min(numbers), max(numbers)
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return Axis(low - room, high + room, frame.bottom, frame.top)


def _changes(panel: Panel, frame: Frame, time: Axis) -> Iterator[Shape]:
    """Mark what changed; write it out where there is room, the newest first."""
    free = frame.right + _BESIDE
    for at, words in reversed(panel.changes):
        x = time(at)
        yield Line([(x, frame.top), (x, frame.bottom)], CHANGE, 1, dashes=(1, 2))
        if free - x >= _BESIDE and x - frame.left >= _BESIDE / 3:
            free = x
            text = shorten(words, int(frame.height / (_SMALL * LETTER)))
            yield Text(x - 2, frame.top + 2, text, _SMALL, CHANGE, "end", upwards=True)


# -- the axis of time


def _dates(time: Axis, y: float, *, labels: bool) -> Iterator[Shape]:
    yield Line([(time.start, y), (time.end, y)], INK, 0.8)
    span = time.high - time.low
    form = "%Y-%m-%d" if span > 2 * _DAY else "%m-%d %H:%M" if span > 300 else "%H:%M:%S"
    for at in _moments(time.low, time.high, max(2, int((time.end - time.start) / _DATE))):
        x = time(at)
        yield Line([(x, y), (x, y + 4)], INK, 0.8)
        if labels:
            yield Text(x, y + 15, f"{datetime.fromtimestamp(at, UTC):{form}}", anchor="middle")


def _moments(first: float, last: float, most: int) -> list[float]:
    """Return round moments, about so many at most (seconds since 1970)."""
    # Marks with a date alone are a day apart at least.
    span = max((last - first) / most, _DAY if last - first > 2 * _DAY else 0)
    if step := next((step for step in _STEPS if step >= span), 0):
        return [n * step for n in range(math.ceil(first / step), math.floor(last / step) + 1)]
    step = next(months for months in _MONTHS if months * 30 * _DAY >= span)
    start, end = (datetime.fromtimestamp(at, UTC) for at in (first, last))
    months = range(-(-12 * start.year // step) * step, 12 * end.year + end.month, step)
    found = (datetime(at // 12, at % 12 + 1, 1, tzinfo=UTC).timestamp() for at in months)
    return [at for at in found if first <= at]
