"""The whole picture of a chart: panels, title, legend and caption in a given space."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil
from textwrap import wrap

from benchyard.core.errors import InputError
from benchyard.core.quantity import amount, number, tick
from benchyard.core.wording import printable
from benchyard.show.axes import GRID, INK, LETTER, Axis, Frame, SeriesLook, short
from benchyard.show.drawing import Box, Dots, Drawing, Line, Shape, Text
from benchyard.show.results_plot.chart import Chart, Mark, PlotKind, PlotPanel

#: Sizes of texts in pixels.
_TEXT, _SMALL = 11.0, 9.0
#: Characters of a title, and of a name in the legend.
_LONGEST_TITLE, _LONGEST_NAME = 90, 32
#: Pixels of an inch, of a line of text, of axis and label below a panel, and of its title.
_INCH, _LINE, _BELOW, _ABOVE = 100, 16, 38, 18
#: Pixels that the marks of a panel, and each of a row's, need at least.
_LEAST, _LEAST_MARK = 40, 7
_TOO_SMALL = "the picture is too small for so much; make it larger, or draw fewer steps or cases"
#: Share of a row that its marks take; pixels between two series at one value of the parameter.
_FILLED, _APART = 0.78, 3.0
_BAND = "#f3f4f6"
#: Inches across, if nothing else is asked for.
_WIDTH = 7.2
#: A column and the whole width of a page with two of them, in inches; they fit ACM's and IEEE's.
#: Source: acmart (sigconf): 241 pt and 506 pt; IEEEtran (journal): 21 and 43 picas.
PAPER = {"column": 3.33, "page": 7.0}


@dataclass(frozen=True, slots=True)
class Size:
    """How large a picture is.

    Args:
        width: Inches; None takes ``_WIDTH``.
        height: Inches; None takes what the panels need.
        titled: Whether it has a title of its own; in a paper the text has one.
    """

    width: float | None = None
    height: float | None = None
    titled: bool = True


def chart_drawing(charts: Sequence[Chart], size: Size) -> Drawing:
    """Draw charts below each other, with the title and the legend of the first.

    Raises:
        InputError: If the size has no room for them.
    """
    drawing = Drawing((size.width or _WIDTH) * _INCH, 0, dots_per_inch=150)
    for chart in charts:
        height = size.height * _INCH / len(charts) if size.height else None
        _add(drawing, chart, height, titled=size.titled)
    return drawing


def _add(drawing: Drawing, chart: Chart, height: float | None, *, titled: bool) -> None:
    width, top = drawing.width, drawing.height
    columns = max(1, min(len(chart.panels), int(width / (330 if chart.kind.has_rows else 230))))
    rows, across = ceil(len(chart.panels) / columns), width / columns
    letters = max(20, int((width - 12) / (_SMALL * LETTER)))
    caption = [line for text in chart.caption for line in wrap(printable(text), letters)]
    title = short(chart.title, min(_LONGEST_TITLE, int(width / (14 * LETTER))))
    head: list[Shape] = [Text(6, 17, title, 13, bold=True)] if titled and title else []
    head += _legend(chart, width, 24 if head else 6)
    head = [] if top else head
    above = max((shape.y for shape in head if isinstance(shape, Text)), default=top) + 8
    below = len(caption) * 12 + 6
    bottom = top + height if height else above + below + rows * _height(chart, across)
    drawing.height = bottom
    drawing.shapes += head
    tall = (bottom - above - below) / rows
    for place, panel in enumerate(chart.panels):
        left, upper = place % columns * across, above + place // columns * tall
        drawing.shapes += _panel(chart, panel, Frame(left, upper, left + across, upper + tall))
    for place, line in enumerate(caption):
        drawing.shapes.append(Text(6, bottom - below + 12 * (place + 1) - 3, line, _SMALL))


def _legend(chart: Chart, width: float, top: float) -> Iterator[Shape]:
    """Name the series, in as many columns as there is room for."""
    if len(chart.series) < 2:
        return
    names = [short(name, _LONGEST_NAME) for name in chart.series]
    entry = max(map(len, names)) * _TEXT * LETTER + 44
    columns = max(1, min(len(names), int((width - 10) / entry)))
    for place, name in enumerate(names):
        look = SeriesLook(place)
        x, y = 8 + place % columns * entry, top + _LINE * (place // columns)
        if chart.kind is PlotKind.BARS:
            yield Box(x, y + 1, 22, 9, look.colour, edge="#ffffff", hatch=look.hatch)
        else:
            if not chart.kind.has_rows:
                yield Line([(x, y + 6), (x + 22, y + 6)], look.colour, 1.6, dashes=look.dashes)
            yield Dots([(x + 11, y + 6)], look.shape, look.colour, 3.2)
        yield Text(x + 28, y + 10, name, _TEXT)


def _height(chart: Chart, width: float) -> float:
    """Return how high a panel is if nothing else is wanted."""
    if not chart.kind.has_rows:
        return max(190, min(360, 0.62 * width))
    rows = max(len(panel.rows) for panel in chart.panels)
    many = max(1, len(chart.series))
    return rows * (24 if many == 1 else 10 + 14 * many) + _ABOVE + _BELOW


def _panel(chart: Chart, panel: PlotPanel, space: Frame) -> Iterator[Shape]:
    left, right, least = 62.0, 16.0, float(_LEAST)
    if chart.kind.has_rows:
        longest = max(map(len, panel.rows), default=0)
        left = min(0.4 * space.width, longest * _TEXT * LETTER + 16)
        right = 16.0 if len(chart.series) > 1 or chart.kind is PlotKind.BARS else 64.0
        least = len(panel.rows) * max(1, len(chart.series)) * _LEAST_MARK
        room = max(6, int((left - 14) / (_TEXT * LETTER)))
        panel = replace(panel, rows=tuple(short(name, room) for name in panel.rows))
    ends = space.left + left, space.top + _ABOVE, space.right - right, space.bottom - _BELOW
    frame = Frame(*ends)
    if frame.height < least or frame.width < _LEAST:
        raise InputError(_TOO_SMALL)
    draw = {PlotKind.LINES: _lines, PlotKind.ECDF: _distributions}.get(chart.kind, _rows)
    above, below = "", chart.quantity
    if chart.kind is PlotKind.LINES:
        above, below = chart.quantity, chart.parameter
    elif chart.kind is PlotKind.ECDF:
        above = "share of runs"
    heading = ": ".join(filter(None, (panel.title, above)))
    letters, middle = max(10, int(space.width / (_TEXT * LETTER))), (frame.left + frame.right) / 2
    if heading:
        yield Text(space.left + 6, space.top + 12, short(heading, letters), _TEXT)
    yield Text(middle, frame.bottom + 31, short(below, letters), _TEXT, anchor="middle")
    yield from draw(chart, panel, frame)


def axis_of(chart: Chart, panel: PlotPanel, start: float, end: float) -> Axis:
    """Return the axis of a panel's values, with some room at its ends."""
    numbers = [number for mark in panel.marks for number in mark.numbers]
    numbers += [1.0] if chart.kind is PlotKind.RATIO else []
    low, high = (min(numbers), max(numbers)) if numbers else (1.0, 10.0)
    if chart.log_values:
        room = max((high / low) ** 0.05, 1.02)
        return Axis(low / room, high * room, start, end, log=True)
    if chart.kind is PlotKind.BARS or 0 <= low < high / 2:
        low = min(0.0, low)
    # The figure of a bar is written after its end.
    room = (0.14 if chart.kind is PlotKind.BARS else 0.05) * (high - low) or abs(high) * 0.1 or 1.0
    return Axis(low - room if low else low, high + room, start, end)


def _values_below(chart: Chart, axis: Axis, frame: Frame) -> Iterator[Shape]:
    """Draw the grid and the numbers of an axis of values from left to right."""
    for value in axis.ticks():
        x = axis(value)
        yield Line([(x, frame.top), (x, frame.bottom)], GRID, 0.7)
        yield Text(x, frame.bottom + 14, tick(value, chart.unit), _TEXT, anchor="middle")
    yield Line([(frame.left, frame.bottom), (frame.right, frame.bottom)], INK)


# -- steps or cases below each other: points, bars, strips, ratios


def _rows(chart: Chart, panel: PlotPanel, frame: Frame) -> Iterator[Shape]:
    axis = axis_of(chart, panel, frame.left, frame.right)
    row, many = frame.height / max(1, len(panel.rows)), max(1, len(chart.series))
    for place, name in enumerate(panel.rows):
        y = frame.top + place * row
        if place % 2:
            yield Box(frame.left, y, frame.width, row, _BAND)
        yield Text(frame.left - 8, y + row / 2 + 4, name, _TEXT, anchor="end")
    yield from _values_below(chart, axis, frame)
    if chart.kind is PlotKind.RATIO:
        x = axis(1.0)
        yield Line([(x, frame.top), (x, frame.bottom)], INK, 1.2, dashes=(5, 3))
    thick = row * _FILLED / many
    for mark in panel.marks:
        y = frame.top + (mark.at + 0.5) * row
        off = row * _FILLED * ((mark.series + 0.5) / many - 0.5)
        yield from _ROW_MARKS[chart.kind](chart, mark, axis, y + off, thick)
        if many == 1 and chart.kind not in (PlotKind.STRIPS, PlotKind.BARS):
            yield Text(frame.right + 6, y + 4, _value(chart, mark), _SMALL)


def _runs(mark: Mark, axis: Axis, y: float, thick: float) -> list[tuple[float, float]]:
    """Place the runs below each other, the first at the top, so that a drift is seen."""
    step, top = thick * 0.8 / max(1, len(mark.values)), y - thick * 0.4
    return [(axis(value), top + (n + 0.5) * step) for n, value in enumerate(mark.values)]


def _point(_: Chart, mark: Mark, axis: Axis, y: float, thick: float) -> Iterator[Shape]:
    if runs := _runs(mark, axis, y, thick):
        yield Dots(runs, 0, SeriesLook(mark.series).colour, 1.7, 0.45)
    yield from _interval(mark, lambda value: (axis(value), y))


def _strip(_: Chart, mark: Mark, axis: Axis, y: float, thick: float) -> Iterator[Shape]:
    look = SeriesLook(mark.series)
    if runs := _runs(mark, axis, y, thick):
        yield Dots(runs, look.shape, look.colour, 2.2, 0.85)
    if mark.centre is not None:
        x = axis(mark.centre)
        yield Line([(x, y - thick * 0.45), (x, y + thick * 0.45)], INK, 2)


def _bar(chart: Chart, mark: Mark, axis: Axis, y: float, thick: float) -> Iterator[Shape]:
    if mark.centre is None:
        return
    look, x, tall = SeriesLook(mark.series), axis(mark.centre), thick * 0.92
    zero = axis.start if axis.log else axis(0.0)
    place = min(zero, x), y - tall / 2, abs(x - zero), tall
    yield Box(*place, look.colour, edge="#ffffff", hatch=look.hatch)
    end = axis(max(mark.centre, mark.high or mark.centre))
    yield Text(max(end, zero) + 6, y + 3, _value(chart, mark), _SMALL)
    yield from _interval(mark, lambda value: (axis(value), y), bare=True)


#: How the kinds that have rows draw a mark.
_ROW_MARKS = {
    PlotKind.POINTS: _point,
    PlotKind.STRIPS: _strip,
    PlotKind.BARS: _bar,
    PlotKind.RATIO: _point,  # has no runs of its own
}


def _interval(
    mark: Mark, at: Callable[[float], tuple[float, float]], *, bare: bool = False
) -> Iterator[Shape]:
    """Draw an interval, and unless it is bare its centre, filled if there is an interval."""
    look = SeriesLook(mark.series)
    if mark.low is not None and mark.high is not None:
        ends = [at(mark.low), at(mark.high)]
        flat = ends[0][1] == ends[1][1]
        if bare:  # some bars are as dark as the whisker
            yield Line(ends, "#ffffff", 3.5)
        caps = [[(x, y - 3), (x, y + 3)] if flat else [(x - 3, y), (x + 3, y)] for x, y in ends]
        for line in (ends, *caps):
            yield Line(line, INK if bare else look.colour, 1.5)
    if mark.centre is not None and not bare:
        yield Dots([at(mark.centre)], look.shape, look.colour, 3.2, hollow=mark.low is None)


def _value(chart: Chart, mark: Mark) -> str:
    if mark.centre is None:
        return "no value"
    if chart.kind is PlotKind.RATIO:
        small = 0.001 <= mark.centre < 1000
        return f"{mark.centre:#.3g}".rstrip(".") if small else number(mark.centre, 3)
    return amount(mark.centre, chart.unit)


# -- medians over a parameter, with intervals and single runs


def _lines(chart: Chart, panel: PlotPanel, frame: Frame) -> Iterator[Shape]:
    up = axis_of(chart, panel, frame.bottom, frame.top)
    places = sorted({mark.at for mark in panel.marks}) or [0.0]
    if panel.rows:
        places = [float(place) for place in range(len(panel.rows))]
    margin = 0.06 * frame.width
    ends = places[0], places[-1], frame.left + margin, frame.right - margin
    across = Axis(*ends, log=chart.log_parameter)
    names = panel.rows or [number(value, 4) for value in places]
    room = int(frame.width / (_TEXT * LETTER * (max(map(len, names)) + 2)))
    for place in range(0, len(places), max(1, -(-len(places) // max(1, room)))):
        x = across(places[place])
        yield Line([(x, frame.bottom), (x, frame.bottom + 4)], INK)
        yield Text(x, frame.bottom + 15, names[place], _TEXT, anchor="middle")
    yield Line([(frame.left, frame.bottom), (frame.right, frame.bottom)], INK)
    for value in up.ticks():
        yield from _level(up(value), tick(value, chart.unit), frame)
    known = (mark for mark in panel.marks if mark.centre is not None)
    for series, marks in groupby(known, key=lambda mark: mark.series):
        off = _APART * (series - (len(chart.series) - 1) / 2)
        placed = [(mark, across(mark.at) + off) for mark in marks]
        look, points = SeriesLook(series), [(x, up(mark.centre or 0.0)) for mark, x in placed]
        yield Line(points, look.colour, 1.6, dashes=look.dashes)
        for mark, x in placed:
            if mark.values:
                yield Dots([(x, up(value)) for value in mark.values], 0, look.colour, 1.6, 0.4)
            yield from _interval(mark, lambda value, x=x: (x, up(value)))


def _level(y: float, name: str, frame: Frame) -> Iterator[Shape]:
    """Draw a line of the grid from left to right, and its name beside it."""
    yield Line([(frame.left, y), (frame.right, y)], GRID, 0.7)
    yield Text(frame.left - 6, y + 4, name, _TEXT, anchor="end")


# -- which share of the runs has at most a value


def _distributions(chart: Chart, panel: PlotPanel, frame: Frame) -> Iterator[Shape]:
    across = axis_of(chart, panel, frame.left, frame.right)
    up = Axis(0.0, 1.04, frame.bottom, frame.top)
    yield from _values_below(chart, across, frame)
    for share in (0.0, 0.5, 1.0):
        yield from _level(up(share), f"{100 * share:g} %", frame)
    for mark in panel.marks:
        look, steps = SeriesLook(mark.series), list[tuple[float, float]]()
        for place, value in enumerate(sorted(mark.values)):
            steps += [(across(value), up((place + n) / len(mark.values))) for n in (0, 1)]
        if steps:
            yield Line([*steps, (frame.right, up(1.0))], look.colour, 1.6, dashes=look.dashes)
            yield Dots(steps[1::2], look.shape, look.colour, 2.2)
