"""The picture of a run's curves: its steps, its phases, and what the host and the resources did."""

from collections.abc import Iterator, Sequence
from itertools import cycle, groupby
from math import isfinite
from typing import TYPE_CHECKING

from benchyard.core.model import Outcome
from benchyard.core.quantity import number, shorten, tick
from benchyard.core.wording import printable
from benchyard.show.axes import INK, Axis, seconds
from benchyard.show.curves.panels import Bar, Curves, Phase
from benchyard.show.drawing import Box, Drawing, Line, Text

if TYPE_CHECKING:
    from benchyard.show.curves.thinning import ThinLine, ThinPanel

_WIDTH = 960
_LEFT, _RIGHT, _TOP, _PANEL, _GAP, _BAR = 74, 12, 36, 92, 19, 15
#: Height of a row of the legend, and of the time axis.
_ROW, _AXIS = 11, 22
#: Colours that most people with impaired colour vision tell apart.
#: Source: M. Okabe, K. Ito, Color Universal Design (2002).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
_HOST, _FAINT = "#b8bdc4", "#e3e5e8"
_BARS = {Outcome.COMPLETED: "#cfe3f2", Outcome.TOLERATED: "#f6d9a8"}
_BROKEN = "#f3b6ae"
#: Height of the band with the phases, which are striped as no step is.
_BAND = 11
#: Lanes for steps side by side; what does not fit is drawn in the last one.
_MOST_LANES = 6
#: The bars of so many attempts are shaded down through the panels.
_MOST_SHADED = 200
#: Characters are about so wide, in pixels, at the size of the letters used here.
_LETTER = 5.6


def draw(curves: Curves, width: int = _WIDTH) -> Drawing:
    """Draw the curves of a run.

    Args:
        width: In pixels.
    """
    lanes = _lanes(curves.bars)
    phases_y = _TOP + _BAR * max(1, len(lanes))
    top = phases_y + (_BAND if curves.phases else 0)
    drawn = [panel for panel in curves.panels if any(line.moves for line in panel.lines)]
    legends = [_legend(panel, width) for panel in drawn]
    bottom = top + sum(_PANEL + _GAP + _ROW * len(legend) for legend in legends)
    across = Axis(0.0, curves.length_s, _LEFT, width - _RIGHT)
    drawing = Drawing(width, bottom + _AXIS)
    title = shorten(printable(curves.title), int(width / 8))
    drawing.shapes += [Text(8, 15, title, 13, bold=True), Text(8, 29, _remark(curves, drawn))]
    drawing.shapes += [*_steps(lanes, across, bottom), *_phases(curves.phases, across, phases_y)]
    for panel, legend in zip(drawn, legends, strict=True):
        for place, row in enumerate(legend):
            drawing.shapes += _legend_row(row, top + 16 + _ROW * place)
        top += _GAP + _ROW * len(legend)
        drawing.shapes += _panel(panel, curves.at_s, across, top)
        top += _PANEL
    drawing.shapes += _time(across, bottom)
    return drawing


def _remark(curves: Curves, drawn: "Sequence[ThinPanel]") -> str:
    if not curves.panels:
        return "no samples"
    quiet = [panel.name for panel in curves.panels if panel not in drawn]
    idle = f"; nothing on {' and '.join(quiet)}" if quiet else ""
    return f"{number(curves.samples, 9)} samples{idle}"


# -- steps
def _lanes(bars: Sequence[Bar]) -> list[list[Bar]]:
    """Distribute bars over lanes so that bars of one lane do not overlap."""
    lanes: list[list[Bar]] = []
    for bar in sorted(bars, key=lambda bar: bar.start_s):
        free = [lane for lane in lanes if lane[-1].end_s <= bar.start_s]
        if free:
            free[0].append(bar)
        elif len(lanes) < _MOST_LANES:
            lanes.append([bar])
        else:
            lanes[-1].append(bar)
    return lanes


def _steps(lanes: Sequence[Sequence[Bar]], across: Axis, bottom: float) -> Iterator[Box]:
    below = _TOP + _BAR * max(1, len(lanes))
    shaded = sum(map(len, lanes)) <= _MOST_SHADED
    for place, lane in enumerate(lanes):
        # Bars that share a pixel or two are one to the eye; a case may have thousands.
        for _, several in groupby(lane, key=lambda bar: round(across(bar.start_s) / 2)):
            bar = max(several, key=lambda bar: bar.end_s - bar.start_s)
            x, width = across(bar.start_s), across(bar.end_s) - across(bar.start_s)
            wide, colour, y = max(width, 0.8), _BARS.get(bar.outcome, _BROKEN), _TOP + place * _BAR
            if shaded:
                shade = 0.2 if bar.index % 2 else 0.42
                yield Box(x, below, wide, bottom - below, colour, opacity=shade)
            title, label = f"{bar.index} {bar.name}: {bar.outcome.value}", _label(bar, width)
            text = Text(x + 3, y + 10, label) if label else None
            yield Box(x, y, wide, _BAR - 1, colour, title, "#ffffff", label=text)


def _phases(phases: Sequence[Phase], across: Axis, y: float) -> Iterator[Box]:
    """Draw what is no step in a band of its own below the steps."""
    for _, several in groupby(phases, key=lambda phase: round(across(phase.start_s) / 2)):
        phase = max(several, key=lambda phase: phase.end_s - phase.start_s)
        x, width = across(phase.start_s), across(phase.end_s) - across(phase.start_s)
        name = f"{phase.name} {phase.resource}"
        title, fits = f"{name}: {phase.outcome.value}", len(name) <= int((width - 4) / _LETTER)
        fine = phase.outcome is Outcome.COMPLETED
        fill, hatch = ("#f4f5f6", "////") if fine else (_BROKEN, "")
        text = Text(x + 3, y + 7.5, name, 8, halo=True) if fits else None
        wide = max(width, 0.8)
        yield Box(x, y, wide, _BAND - 2, fill, title, "#8b939c", label=text, hatch=hatch)


def _label(bar: Bar, width: float) -> str:
    room = int((width - 4) / _LETTER)
    name = f"{bar.index} {bar.name}"
    text = shorten(name, room) if room > 4 or len(name) <= room else str(bar.index)
    return text if len(text) <= room else ""


# -- panels
def _panel(
    panel: "ThinPanel", at_s: Sequence[float], across: Axis, top: float
) -> Iterator[Line | Text]:
    up = Axis(0.0, 1.1 * max(_most(panel, line) for line in panel.lines), top + _PANEL, top)
    for mark in up.ticks(3):
        y = up(mark)
        yield Line([(across.start, y), (across.end, y)], _FAINT, 0.7)
        yield Text(_LEFT - 5, y + 3, tick(mark, panel.unit), anchor="end")
    for line, colour in _coloured(panel):
        known = zip(at_s, panel.values(line), strict=True)
        points = [(across(at), up(value)) for at, value in known if isfinite(value)]
        if points and colour == _HOST:
            edge = [(points[0][0], up(0)), *points, (points[-1][0], up(0))]
            yield Line(edge, colour, 0, 0.55)
        elif points:
            yield Line(points, colour, 1.3)


def _most(panel: "ThinPanel", line: "ThinLine") -> float:
    return max(filter(isfinite, panel.values(line)), default=0.0)


def _coloured(panel: "ThinPanel") -> "Iterator[tuple[ThinLine, str]]":
    """Yield lines; the host is an area where it has one alone, elsewhere as any other line."""
    colours = cycle(_COLOURS)
    for line in panel.lines:
        yield line, _HOST if line.of_host and panel.unit != "B/s" else next(colours)


#: Places from the left, words and colours of a row of the legend; a name has no colour.
_Row = list[tuple[float, str, str]]


def _legend(panel: "ThinPanel", width: int) -> list[_Row]:
    """Distribute the panel's name and the words of its lines over rows."""
    rows: list[_Row] = [[(_LEFT, panel.name, "")]]
    x = _LEFT + 16 + len(panel.name) * (_LETTER + 0.6)
    for line, colour in _coloured(panel):
        words = f"{printable(line.name)[:40]}, at most {tick(_most(panel, line), panel.unit)}"
        wide = 12 + len(words) * _LETTER
        if x + wide > width:
            rows.append([])
            x = _LEFT
        rows[-1].append((x, words, colour))
        x += wide + 18
    return rows


def _legend_row(row: _Row, y: float) -> Iterator[Box | Text]:
    for x, words, colour in row:
        if colour:
            yield Box(x, y - 7, 9, 7, colour)
        yield Text(x + 12 if colour else x, y, words, bold=not colour)


def _time(across: Axis, y: float) -> Iterator[Line | Text]:
    yield Line([(across.start, y), (across.end, y)], INK, 0.8)
    for mark in across.ticks(max(2, int(across.end / 100))):
        x = across(mark)
        yield Line([(x, y), (x, y + 4)], INK, 0.8)
        yield Text(x, y + 15, seconds(mark), anchor="middle")
