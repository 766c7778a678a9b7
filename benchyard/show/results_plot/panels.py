"""The panels of a picture: rows of marks, lines over a parameter, distributions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchyard.core.quantity import amount, number, tick
from benchyard.show.drawing import Box, Dots, Line, Shape, Text
from benchyard.show.results_plot.chart import Chart, Mark, PlotKind, PlotPanel, PlotSeries
from benchyard.show.results_plot.look import INK, SeriesLook, short
from benchyard.show.results_plot.scales import Axis, axis_of

_GRID, _BAND = "#d9dce0", "#f3f4f6"
#: Sizes of texts in pixels, and how wide a letter is at most, by its size.
TEXT, SMALL, LETTER = 11.0, 9.0, 0.62
#: Share of a row that its marks take; pixels between two series at one value of the parameter.
_FILLED, _APART = 0.78, 3.0


@dataclass(frozen=True, slots=True)
class Frame:
    """The rectangle of a panel's marks (pixels)."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


def draw_rows(chart: Chart, panel: PlotPanel, frame: Frame, longest: int) -> Iterator[Shape]:
    """Draw steps or cases below each other: points, bars, strips or ratios.

    Args:
        longest: Characters that the name of a row may have.
    """
    axis = axis_of(chart, panel, frame.left, frame.right)
    row, many = frame.height / max(1, len(panel.rows)), max(1, len(chart.series))
    for place, name in enumerate(panel.rows):
        y = frame.top + place * row
        if place % 2:
            yield Box(frame.left, y, frame.right - frame.left, row, _BAND)
        yield Text(frame.left - 8, y + row / 2 + 4, short(name, longest), TEXT, anchor="end")
    yield from _values_below(chart, axis, frame)
    if chart.kind is PlotKind.RATIO:
        x = axis(1.0)
        yield Line([(x, frame.top), (x, frame.bottom)], INK, 1.2, dashes=(5, 3))
    thick = row * _FILLED / many
    for series in panel.series:
        off = row * _FILLED * ((series.place + 0.5) / many - 0.5)
        for mark in series.marks:
            y = frame.top + (mark.at + 0.5) * row
            yield from _row_mark(chart, mark, axis, y + off, thick, SeriesLook(series.place))
            if many == 1 and chart.kind not in (PlotKind.STRIPS, PlotKind.BARS):
                yield Text(frame.right + 6, y + 4, _value(chart, mark), SMALL)


def _row_mark(
    chart: Chart, mark: Mark, axis: Axis, y: float, thick: float, look: SeriesLook
) -> Iterator[Shape]:
    kind, n = chart.kind, len(mark.values)
    if n and kind in (PlotKind.POINTS, PlotKind.STRIPS):
        # The first at the top, so that a drift is seen.
        spread = [y + thick * 0.8 * ((place + 0.5) / n - 0.5) for place in range(n)]
        alone = kind is PlotKind.STRIPS
        runs = [*zip(map(axis, mark.values), spread, strict=True)]
        how = (look.shape, look.colour, 2.2, 0.85) if alone else (0, look.colour, 1.7, 0.45)
        yield Dots(runs, *how)
    if mark.centre is None:
        return
    x = axis(mark.centre)
    if kind is PlotKind.STRIPS:
        yield Line([(x, y - thick * 0.45), (x, y + thick * 0.45)], INK, 2)
        return
    if kind is PlotKind.BARS:
        left, tall = min(axis(0.0), x), thick * 0.92
        wide = abs(x - axis(0.0))
        yield Box(left, y - tall / 2, wide, tall, look.colour, edge="#ffffff", hatch=look.hatch)
        yield Text(axis(max(mark.centre, mark.high or 0.0)) + 6, y + 3, _value(chart, mark), SMALL)
    yield from _interval(mark, lambda value: (axis(value), y), look, bare=kind is PlotKind.BARS)


def _interval(
    mark: Mark, at: Callable[[float], tuple[float, float]], look: SeriesLook, *, bare: bool = False
) -> Iterator[Shape]:
    """Draw an interval, and unless it is bare its centre, filled if there is an interval."""
    if mark.low is not None and mark.high is not None:
        ends = [at(mark.low), at(mark.high)]
        flat = ends[0][1] == ends[1][1]
        if bare:  # some bars are as dark as the whisker
            yield Line(ends, "#ffffff", 3.5)
        yield Line(ends, INK if bare else look.colour, 1.5)
        for x, y in ends:
            cap = [(x, y - 3), (x, y + 3)] if flat else [(x - 3, y), (x + 3, y)]
            yield Line(cap, INK if bare else look.colour, 1.5)
    if mark.centre is not None and not bare:
        yield Dots([at(mark.centre)], look.shape, look.colour, 3.2, hollow=mark.low is None)


def _value(chart: Chart, mark: Mark) -> str:
    if mark.centre is None:
        return "no value"
    if chart.kind is PlotKind.RATIO:
        small = 0.001 <= mark.centre < 1000
        return f"{mark.centre:#.3g}".rstrip(".") if small else number(mark.centre, 3)
    return amount(mark.centre, chart.unit)


def draw_lines(chart: Chart, panel: PlotPanel, frame: Frame) -> Iterator[Shape]:
    """Draw medians over a parameter as lines, with intervals and single runs."""
    up = axis_of(chart, panel, frame.bottom, frame.top)
    places = sorted({mark.at for mark in panel.marks}) or [0.0]
    if panel.rows:
        places = [float(place) for place in range(len(panel.rows))]
    margin = 0.06 * (frame.right - frame.left)
    ends = places[0], places[-1], frame.left + margin, frame.right - margin
    across = Axis(*ends, log=chart.log_parameter)
    names = panel.rows or [number(value, 4) for value in places]
    room = int((frame.right - frame.left) / (TEXT * LETTER * (max(map(len, names)) + 2)))
    for place in range(0, len(places), max(1, -(-len(places) // max(1, room)))):
        x = across(places[place])
        yield Line([(x, frame.bottom), (x, frame.bottom + 4)], INK)
        yield Text(x, frame.bottom + 15, names[place], TEXT, anchor="middle")
    yield Line([(frame.left, frame.bottom), (frame.right, frame.bottom)], INK)
    for value in up.ticks():
        y = up(value)
        yield Line([(frame.left, y), (frame.right, y)], _GRID, 0.7)
        yield Text(frame.left - 6, y + 4, tick(value, chart.unit), TEXT, anchor="end")
    for series in panel.series:
        off = _APART * (series.place - (len(chart.series) - 1) / 2)
        yield from _line(series, across, up, off)


def _line(series: PlotSeries, across: Axis, up: Axis, off: float) -> Iterator[Shape]:
    look = SeriesLook(series.place)
    known = [mark for mark in series.marks if mark.centre is not None]
    points = [(across(mark.at) + off, up(mark.centre or 0.0)) for mark in known]
    if points:
        yield Line(points, look.colour, 1.6, dashes=look.dashes)
    for mark, (x, _) in zip(known, points, strict=True):
        if mark.values:
            yield Dots([(x, up(value)) for value in mark.values], 0, look.colour, 1.6, 0.4)
        yield from _interval(mark, lambda value, x=x: (x, up(value)), look)


def draw_distributions(chart: Chart, panel: PlotPanel, frame: Frame) -> Iterator[Shape]:
    """Draw which share of the runs has at most a value."""
    across = axis_of(chart, panel, frame.left, frame.right)
    up = Axis(0.0, 1.04, frame.bottom, frame.top)
    yield from _values_below(chart, across, frame)
    for share in (0.0, 0.5, 1.0):
        y = up(share)
        yield Line([(frame.left, y), (frame.right, y)], _GRID, 0.7)
        yield Text(frame.left - 6, y + 4, f"{100 * share:g} %", TEXT, anchor="end")
    for series in panel.series:
        look = SeriesLook(series.place)
        for mark in series.marks:
            steps: list[tuple[float, float]] = []
            for place, value in enumerate(sorted(mark.values)):
                steps += [(across(value), up((place + n) / len(mark.values))) for n in (0, 1)]
            if steps:
                yield Line([*steps, (frame.right, up(1.0))], look.colour, 1.6, dashes=look.dashes)
                yield Dots(steps[1::2], look.shape, look.colour, 2.2)


def _values_below(chart: Chart, axis: Axis, frame: Frame) -> Iterator[Shape]:
    """Draw the grid and the numbers of an axis of values from left to right."""
    for value in axis.ticks():
        x = axis(value)
        yield Line([(x, frame.top), (x, frame.bottom)], _GRID, 0.7)
        yield Text(x, frame.bottom + 14, tick(value, chart.unit), TEXT, anchor="middle")
    yield Line([(frame.left, frame.bottom), (frame.right, frame.bottom)], INK)
