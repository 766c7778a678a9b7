"""Histories as pictures: panels of values over one time, with what changed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from math import ceil

from benchyard.core.quantity import amount, plural, shorten, tick
from benchyard.publish.sinks.contract import Point
from benchyard.show.axes import GRID, INK, LETTER, Axis, Frame, SeriesLook, short
from benchyard.show.drawing import Dots, Drawing, Line, Shape, Text
from benchyard.show.history.report import label, short_name
from benchyard.show.history.series import Series
from benchyard.show.history.steps import Value, groups_of

#: Panels that one picture has room for.
MOST = 24
#: Of more changes of what was measured, those are marked at which the level changed.
_MOST_MARKS = 30
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


_LINE, _LAST = "#3b6ea5", "#c2410c"
#: Dots of one series in one panel; of more, the least and the most of neighbours are drawn.
_MOST_DOTS = 240


@dataclass(frozen=True, slots=True)
class Panel:
    """Values over time.

    Args:
        name: What stands above it, at the left.
        last: What stands above it, at the right.
        shapes: At seconds since 1970 and values; NaN interrupts a line.
        changes: Seconds since 1970 and words, in order of time.
    """

    name: str
    last: str
    unit: str
    shapes: Sequence[Line | Dots]
    changes: Sequence[tuple[float, str]]


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
                places = [(time(at), values(v)) for at, v in points]
                yield replace(shape, points=places)
    letters = int(frame.width / (_NAME * LETTER)) - len(panel.last) - 2
    yield Text(frame.left, frame.top - 6, short(panel.name, max(8, letters)), _NAME)
    yield Text(frame.right, frame.top - 6, panel.last, anchor="end")


def _value_axis(panel: Panel, frame: Frame) -> Axis:
    every = (v for shape in panel.shapes for _, v in shape.points if math.isfinite(v))
    numbers = [*every] or [0.0, 1.0]
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


# -- series


CAPTION = (
    "Points: medians of the runs of one subject; bars: their 95 % intervals; dots: runs, "
    "rings: suspect ones; orange: levels; violet: what was measured changed."
)


def history_drawing(
    found: Sequence[Series], width: float, title: str = "", least: float = 200
) -> Drawing:
    """Draw a panel for each step with the series of its hosts, at most ``MOST``.

    Args:
        found: At least one, each with points.
        width: Pixels.
        least: Pixels that a panel is wide.
    """
    steps: dict[object, list[Series]] = {}
    for one in found:
        steps.setdefault((one.test, one.step, one.entry, one.metric), []).append(one)
    drawn = [*steps.values()][:MOST]
    hosts = sorted({host for step in drawn for one in step for host in one.hosts})
    across = max(1, int(width / least))
    head: list[Shape] = []
    if title:
        head = [Text(8, 18, short_name(title), 14, bold=True), Text(8, 33, CAPTION, 9, FAINT)]
    head += _hosts_legend(hosts, across, 33 if title else 0) if len(hosts) > 1 else ()
    panels = [_step_panel(step, [one[0] for one in drawn], hosts) for step in drawn]
    height = 190 if len(drawn) == 1 else 105
    drawing = panels_drawing(panels, width, min(len(drawn), across), height, head)
    if left := len(steps) - len(drawn):
        text = f"{plural(left, 'more step')}: choose one to see it"
        drawing.shapes.append(Text(4, drawing.height + 8, text, 9))
        drawing.height += 14
    return drawing


def _hosts_legend(hosts: Sequence[str], across: int, below: float) -> Iterator[Shape]:
    for place, host in enumerate(hosts):
        x, y = 8 + 200 * (place % across), below + 14 + 16 * (place // across)
        yield Dots([(x, y - 3)], 0, SeriesLook(place).colour)
        yield Text(x + 10, y, short(host or "host not known", 30))


def _step_panel(step: Sequence[Series], beside: Sequence[Series], hosts: Sequence[str]) -> Panel:
    newest = max((one for series in step for one in series.points), key=lambda one: one.began)
    shapes: list[Line | Dots] = []
    for series in step:
        shapes += _host(series, SeriesLook(hosts.index(series.hosts[0])).colour)
    changes = [change for one in step for change in one.changes]
    if len(changes) > _MOST_MARKS:
        moved = {move.since for one in step for move in one.levels.moves}
        changes = [change for change in changes if change.timing.last_began in moved]
    marks = sorted((change.timing.began.timestamp(), change.text) for change in changes)
    last, name = amount(newest.value, step[0].unit), label(step[0], beside)
    return Panel(short_name(name), last, step[0].unit or "", shapes, marks)


def _host(series: Series, colour: str) -> Iterator[Line | Dots]:
    values = [one for group in groups_of(series) for one in group.values]
    if dots := thinned([one for one in values if not one.suspect]):
        yield Dots(_value_points(dots), 0, colour, 1.7, 0.45)
    if rings := thinned([one for one in values if one.suspect]):
        yield Dots(_value_points(rings), 0, FAINT, 2.4, hollow=True)
    yield from _campaigns(series, colour)


def _campaigns(series: Series, colour: str) -> Iterator[Line | Dots]:
    """Draw medians with their intervals, and the levels that they are about."""
    for one in series.points:
        if one.low is not None and one.high is not None:
            at = _middle(one)
            yield Line([(at, one.low), (at, one.high)], FAINT if one.suspect else colour, 1)
    for suspect in (False, True):
        some = [(_middle(o), o.value) for o in series.points if bool(o.suspect) is suspect]
        if some:
            yield Dots(some, 0, FAINT if suspect else colour, hollow=suspect)
    steps = list(series.levels.steps())
    ends = [*(one.since for one in steps[1:]), *(one.last for one in steps[-1:])]
    both = zip(steps, ends, strict=True)
    stairs = [(at.timestamp(), one.value) for one, end in both for at in (one.since, end)]
    if stairs:
        yield Line(stairs, _LAST, 1.6)


def _middle(point: Point) -> float:
    return (point.began.timestamp() + point.last_began.timestamp()) / 2


def _value_points(values: Sequence[Value]) -> list[tuple[float, float]]:
    return [(one.began.timestamp(), one.value) for one in values]


def thinned(values: Sequence[Value], most: int = _MOST_DOTS) -> list[Value]:
    """Return at most so many values, in order: the least and the most of neighbours."""
    if len(values) <= most:
        return list(values)
    size = ceil(2 * len(values) / most)
    kept: list[Value] = []
    for start in range(0, len(values), size):
        near = values[start : start + size]
        ends = (min(near, key=lambda one: one.value), max(near, key=lambda one: one.value))
        kept += sorted(ends, key=lambda one: one.began)
    return kept
