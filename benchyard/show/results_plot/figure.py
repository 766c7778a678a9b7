"""The whole picture: panels, title, legend and caption in a given space."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from textwrap import wrap

from benchyard.core.errors import InputError
from benchyard.core.outputs import write
from benchyard.core.wording import printable
from benchyard.show.drawing import Box, Dots, Drawing, Line, Shape, Text, format_of
from benchyard.show.results_plot.chart import Chart, PlotKind, PlotPanel
from benchyard.show.results_plot.look import SeriesLook, short
from benchyard.show.results_plot.panels import (
    LETTER,
    SMALL,
    TEXT,
    Frame,
    draw_distributions,
    draw_lines,
    draw_rows,
)

#: Characters of a title, and of a name in the legend.
_LONGEST_TITLE, _LONGEST_NAME = 90, 32
#: Pixels of an inch, of a line of text, of axis and label below a panel, and of its title.
_INCH, _LINE, _BELOW, _ABOVE = 100, 16, 38, 18
#: Pixels that the marks of a panel, and each of a row's, need at least.
_LEAST, _LEAST_MARK = 40, 7
_TOO_SMALL = "the picture is too small for so much; make it larger, or draw fewer steps or cases"


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


def draw(chart: Chart, size: Size, files: Sequence[Path]) -> None:
    """Write a picture.

    Args:
        files: Each is replaced whole; its ending decides the format.

    Raises:
        InputError: If the size has no room for it.
        OSError: If one cannot be written.
    """
    drawn = chart_drawing(chart, size)
    for file in files:
        write(file, drawn.picture(format_of(file)))


def chart_drawing(chart: Chart, size: Size) -> Drawing:
    """Draw a chart.

    Raises:
        InputError: If the size has no room for it.
    """
    width = (size.width or _WIDTH) * _INCH
    columns = max(1, min(len(chart.panels), int(width / (330 if chart.kind.has_rows else 230))))
    rows, across = ceil(len(chart.panels) / columns), width / columns
    letters = max(20, int((width - 12) / (SMALL * LETTER)))
    caption = [line for text in chart.caption for line in wrap(printable(text), letters)]
    head = [*_title(chart, size, width), *_legend(chart, width, bool(size.titled and chart.title))]
    above = max((shape.y for shape in head if isinstance(shape, Text)), default=0.0) + 8
    below = len(caption) * 12 + 6
    height = size.height * _INCH if size.height else above + below + rows * _height(chart, across)
    drawing = Drawing(width, height, head, dots_per_inch=150)
    tall = (height - above - below) / rows
    for place, panel in enumerate(chart.panels):
        left, top = place % columns * across, above + place // columns * tall
        drawing.shapes += _panel(chart, panel, Frame(left, top, left + across, top + tall))
    for place, line in enumerate(caption):
        drawing.shapes.append(Text(6, height - below + 12 * (place + 1) - 3, line, SMALL))
    return drawing


def _title(chart: Chart, size: Size, width: float) -> Iterator[Shape]:
    if size.titled and chart.title:
        letters = min(_LONGEST_TITLE, int(width / (14 * LETTER)))
        yield Text(6, 17, short(chart.title, letters), 13, bold=True)


def _legend(chart: Chart, width: float, titled: bool) -> Iterator[Shape]:  # noqa: FBT001
    """Name the series, in as many columns as there is room for."""
    if len(chart.series) < 2:
        return
    names = [short(name, _LONGEST_NAME) for name in chart.series]
    entry = max(map(len, names)) * TEXT * LETTER + 44
    columns = max(1, min(len(names), int((width - 10) / entry)))
    for place, name in enumerate(names):
        look = SeriesLook(place)
        x, y = 8 + place % columns * entry, (24 if titled else 6) + _LINE * (place // columns)
        if chart.kind is PlotKind.BARS:
            yield Box(x, y + 1, 22, 9, look.colour, edge="#ffffff", hatch=look.hatch)
        else:
            if not chart.kind.has_rows:
                yield Line([(x, y + 6), (x + 22, y + 6)], look.colour, 1.6, dashes=look.dashes)
            yield Dots([(x + 11, y + 6)], look.shape, look.colour, 3.2)
        yield Text(x + 28, y + 10, name, TEXT)


def _height(chart: Chart, width: float) -> float:
    """Return how high a panel is if nothing else is wanted."""
    if not chart.kind.has_rows:
        return max(190, min(360, 0.62 * width))
    rows = max(len(panel.rows) for panel in chart.panels)
    many = max(1, len(chart.series))
    return rows * (24 if many == 1 else 10 + 14 * many) + _ABOVE + _BELOW


def _panel(chart: Chart, panel: PlotPanel, space: Frame) -> Iterator[Shape]:
    width = space.right - space.left
    left, right = 62.0, 16.0
    if chart.kind.has_rows:
        longest = max(map(len, panel.rows), default=0)
        left = min(0.4 * width, longest * TEXT * LETTER + 16)
        right = 16.0 if len(chart.series) > 1 or chart.kind is PlotKind.BARS else 64.0
    ends = space.left + left, space.top + _ABOVE, space.right - right, space.bottom - _BELOW
    frame = Frame(*ends)
    least = len(panel.rows) * max(1, len(chart.series)) * _LEAST_MARK if chart.kind.has_rows else 0
    if frame.height < max(least, _LEAST if not least else 0) or frame.right - frame.left < _LEAST:
        raise InputError(_TOO_SMALL)
    letters = max(10, int(width / (TEXT * LETTER)))
    heading, label = panel.title, chart.quantity
    if chart.kind is PlotKind.LINES:
        heading = f"{panel.title}: {chart.quantity}" if panel.title else chart.quantity
        label = chart.parameter
    elif chart.kind is PlotKind.ECDF:
        heading = f"{panel.title}: share of runs" if panel.title else "share of runs"
    yield Text(space.left + 6, space.top + 12, short(heading, letters), TEXT)
    middle = (frame.left + frame.right) / 2
    yield Text(middle, frame.bottom + 31, short(label, letters), TEXT, anchor="middle")
    if chart.kind is PlotKind.LINES:
        yield from draw_lines(chart, panel, frame)
    elif chart.kind is PlotKind.ECDF:
        yield from draw_distributions(chart, panel, frame)
    else:
        yield from draw_rows(chart, panel, frame, max(6, int((left - 14) / (TEXT * LETTER))))
