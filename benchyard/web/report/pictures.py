"""Pictures of results as SVG inside of a page: steps or cases below each other.

They are written by hand: matplotlib takes longer to import than all of a report takes to make. The
page's style sheet gives the colours, so a picture is dark where the page is, and light on paper.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape

from benchyard.core.quantity import amount, number, shorten, tick
from benchyard.core.wording import printable
from benchyard.show.results_plot.chart import Chart, Kind, Mark, Panel
from benchyard.web.report.scales import Axis, axis_of

_WIDTH, _LEFT, _RIGHT, _TITLE, _BELOW, _LINE = 760, 200, 76, 20, 38, 18
#: Height of a row with one series, and what each further one adds.
_ROW, _SERIES = 22, 11
_LONGEST_NAME, _LETTER = 30, 6.4
#: Classes of colours in the style sheet.
COLOURS = 7
#: Paths of the marks around their centre; no multiple of the colours, so that each pair differs.
_SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.5-3.5h7v7h-7z",
    "m0-5l4.5 8h-9z",
    "m0-5l5 5l-5 5l-5-5z",
    "m0 5l4.5-8h-9z",
)
#: In a picture that is drawn elsewhere: where its ids are.
_ID = re.compile(r'(?<= id=")(?=[^"]*")|(?<="url\(#)(?=[^"]*\)")')


def with_ids(svg: str, prefix: str) -> str:
    """Return a picture with ids of its own: those of two pictures in a page must differ.

    Texts in it are escaped, so that a quotation mark is one of the markup's.
    """
    return _ID.sub(prefix, svg)


def rows_picture(chart: Chart) -> str:
    """Draw points, strips or ratios.

    Returns:
        An ``svg`` element without ids or colours.
    """
    head = _TITLE + (_LINE if len(chart.series) > 1 else 0)
    heights = [_height(chart, panel) for panel in chart.panels]
    height = head + sum(heights)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{_said(chart)}">',
        _text(0, 13, chart.title, "name"),
        *_legend(chart),
    ]
    for panel, tall in zip(chart.panels, heights, strict=True):
        parts += _panel(chart, panel, head)
        head += tall
    return "\n".join([*parts, "</svg>"])


def _said(chart: Chart) -> str:
    return escape(printable(f"{chart.kind} of {chart.title}: {chart.quantity}"))


def _row(chart: Chart) -> int:
    return _ROW + _SERIES * (len(chart.series) - 1)


def _height(chart: Chart, panel: Panel) -> int:
    return (_LINE if panel.title else 0) + len(panel.rows) * _row(chart) + _BELOW


def _text(x: float, y: float, text: str, look: str = "") -> str:
    look = f' class="{look}"' if look else ""
    return f'<text x="{x:g}" y="{y:g}"{look}>{escape(printable(text))}</text>'


def _legend(chart: Chart) -> Iterator[str]:
    if len(chart.series) < 2:
        return
    room = max(12, int(_WIDTH / len(chart.series) / _LETTER) - 4)
    x = 8.0
    for place, name in enumerate(chart.series):
        shown = shorten(printable(name), room, 2)
        yield _shape(x, _TITLE + 8, place, "mark")
        yield _text(x + 10, _TITLE + 12, shown)
        x += 26 + len(shown) * _LETTER


def _panel(chart: Chart, panel: Panel, top: float) -> Iterator[str]:
    if panel.title:
        yield _text(0, top + 13, shorten(printable(panel.title), 100, 2), "name")
        top += _LINE
    row, rows = _row(chart), len(panel.rows)
    axis = axis_of(chart, panel, _LEFT, _WIDTH - _RIGHT)
    bottom = top + rows * row
    for place, name in enumerate(panel.rows):
        if place % 2:
            yield f'<path class="band" d="M0 {top + place * row:g}h{_WIDTH}v{row}H0z"/>'
        shown = shorten(printable(name), _LONGEST_NAME, 2)
        yield _text(_LEFT - 10, top + (place + 0.5) * row + 4, shown, "end")
    yield from _grid(chart, axis, top, bottom)
    for series in panel.series:
        for mark in series.marks:
            middle = top + (mark.at + 0.5) * row
            off = _SERIES * (series.place - (len(chart.series) - 1) / 2)
            yield from _mark(chart, mark, axis, middle + off, series.place)
            if len(chart.series) == 1:
                yield _text(_WIDTH - _RIGHT + 8, middle + 4, _number(chart, mark), "quiet")


def _grid(chart: Chart, axis: Axis, top: float, bottom: float) -> Iterator[str]:
    for value in axis.ticks():
        x = axis(value)
        yield f'<path class="line" d="M{x:.1f} {top:g}V{bottom:g}"/>'
        yield _text(round(x, 1), bottom + 14, tick(value, chart.unit), "middle quiet")
    if chart.kind is Kind.RATIO:
        yield f'<path class="one" d="M{axis(1.0):.1f} {top:g}V{bottom:g}"/>'
    quantity = shorten(printable(chart.quantity), 80, 2)
    yield _text((axis.start + axis.end) / 2, bottom + 29, quantity, "middle quiet")


def _mark(chart: Chart, mark: Mark, axis: Axis, y: float, place: int) -> Iterator[str]:
    if mark.values and chart.kind is not Kind.RATIO:
        yield _runs(mark.values, axis, y, place, chart.kind)
    if mark.centre is None:
        return
    x = axis(mark.centre)
    if chart.kind is Kind.STRIPS:
        yield f'<path class="median" d="M{x:.1f} {y - 7:g}v14"/>'
        return
    known = mark.low is not None and mark.high is not None
    if mark.low is not None and mark.high is not None:
        low, high = axis(mark.low), axis(mark.high)
        ends = f"M{low:.1f} {y - 3:g}v6M{high:.1f} {y - 3:g}v6"
        yield f'<path class="interval c{place % COLOURS}" d="M{low:.1f} {y:g}H{high:.1f}{ends}"/>'
    yield _shape(x, y, place, "mark" if known else "hollow")


def _shape(x: float, y: float, place: int, look: str) -> str:
    shape = _SHAPES[place % len(_SHAPES)]
    return f'<path class="{look} c{place % COLOURS}" d="M{x:.1f} {y:g}{shape}"/>'


def _runs(values: Sequence[float], axis: Axis, y: float, place: int, kind: Kind) -> str:
    """Draw single runs, the first at the top, so that a drift is seen."""
    tall = _SERIES if kind is Kind.POINTS else _ROW - 8
    dots = "".join(
        f"M{axis(value):.1f} {y + tall * ((n + 0.5) / len(values) - 0.5):.1f}h0"
        for n, value in enumerate(values)
    )
    return f'<path class="runs c{place % COLOURS}" d="{dots}"/>'


def _number(chart: Chart, mark: Mark) -> str:
    if mark.centre is None:
        return "no value"
    if chart.kind is Kind.RATIO:
        return number(mark.centre, 3)
    return amount(mark.centre, chart.unit)
