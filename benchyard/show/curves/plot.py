"""The picture itself: SVG, written by hand.

A library for plots takes some 60 MB and most of a second of CPU, in the process that measures
next; these few lines take neither. Nothing in the picture is active, and all texts are escaped.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle, groupby

from benchyard.core.model import Outcome
from benchyard.core.quantity import number, shorten, tick
from benchyard.core.wording import printable
from benchyard.show.curves.panels import Bar, Curves, Line, Panel, Phase

WIDTH = 960
_LEFT, _RIGHT, _TOP, _PANEL, _GAP, _BAR = 74, 12, 26, 92, 30, 15
_INNER = WIDTH - _LEFT - _RIGHT
#: Colours that most people with impaired colour vision tell apart.
#: Source: M. Okabe, K. Ito, Color Universal Design (2002).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
HOST = "#b8bdc4"
_INK, _FAINT = "#333", "#e3e5e8"
_BARS = {Outcome.COMPLETED: "#cfe3f2", Outcome.TOLERATED: "#f6d9a8"}
BROKEN = "#f3b6ae"
#: Height of the band with the phases, and its pattern: stripes, which no step has.
_BAND = 11
_STRIPES = (
    '<defs><pattern id="phase" width="4" height="4" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="4" height="4" fill="#f4f5f6"/>'
    '<rect width="1.2" height="4" fill="#cdd2d8"/></pattern></defs>'
)
#: Of a text upon the stripes.
_OUTLINED = 'font-size="8" stroke="#fff" stroke-width="2" paint-order="stroke"'
#: Lanes for steps side by side; what does not fit is drawn in the last one.
_MOST_LANES = 6
#: The bars of so many attempts are shaded down through the panels.
_MOST_SHADED = 200
#: Characters are about so wide, in pixels, at the size of the letters used here.
_LETTER = 5.6


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight line from values to pixels.

    Args:
        first: The value at ``start``.
        last: The value at ``end``.
    """

    first: float
    last: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        share = (value - self.first) / ((self.last - self.first) or 1.0)
        return self.start + share * (self.end - self.start)


def ticks(most: float, wanted: int) -> list[float]:
    """Return round numbers from 0 to the first that is not below ``most``.

    Args:
        wanted: About so many steps.
    """
    if not (most > 0 and math.isfinite(most)):
        return [0.0, 1.0]
    rough = most / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    return [place * step for place in range(math.ceil(most / step - 1e-9) + 1)]


def seconds(value: float) -> str:
    """Write a moment of a run: ``40 s``, ``1:30`` (minutes), ``2:00:00`` (hours)."""
    if value < 120:
        return f"{number(value, 3)} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def draw(curves: Curves) -> str:
    """Draw the curves of a run.

    Returns:
        The text of an SVG file.
    """
    lanes = _lanes(curves.bars)
    strip = _BAR * max(1, len(lanes)) + (_BAND if curves.phases else 0)
    drawn = [panel for panel in curves.panels if any(line.most > 0 for line in panel.lines)]
    height = _TOP + strip + len(drawn) * (_PANEL + _GAP) + 22
    across = Scale(0.0, curves.length_s, _LEFT, _LEFT + _INNER)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="10" fill="{_INK}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        _text(_LEFT, 15, curves.title, 'font-size="13" font-weight="bold"'),
        _text(WIDTH - _RIGHT, 15, _remark(curves, drawn), f'text-anchor="end" fill="{_INK}"'),
        *_steps(lanes, across, height - 22),
        *_phases(curves.phases, across, _TOP + strip - _BAND),
    ]
    for place, panel in enumerate(drawn):
        top = _TOP + strip + place * (_PANEL + _GAP) + _GAP - 6
        parts += _panel(panel, curves.at_s, across, top)
    parts += [*_time(across, height - 22), "</svg>"]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(printable(text))}</text>'


def _remark(curves: Curves, drawn: Sequence[Panel]) -> str:
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


def _steps(lanes: Sequence[Sequence[Bar]], across: Scale, bottom: float) -> Iterator[str]:
    below = _TOP + _BAR * max(1, len(lanes))
    shaded = sum(map(len, lanes)) <= _MOST_SHADED
    for place, lane in enumerate(lanes):
        # Bars that share a pixel or two are one to the eye; a case may have thousands.
        for _, several in groupby(lane, key=lambda bar: round(across(bar.start_s) / 2)):
            bar = max(several, key=lambda bar: bar.end_s - bar.start_s)
            x, width = across(bar.start_s), across(bar.end_s) - across(bar.start_s)
            colour = _BARS.get(bar.outcome, BROKEN)
            size = f'x="{x:.1f}" width="{max(width, 0.8):.1f}"'
            shade = f'fill="{colour}" opacity="{0.2 if bar.index % 2 else 0.42}"'
            if shaded:
                yield f'<rect {size} y="{below}" height="{bottom - below:.1f}" {shade}/>'
            yield (
                f"<g><title>{escape(printable(f'{bar.index} {bar.name}: {bar.outcome.value}'))}"
                f'</title><rect {size} y="{_TOP + place * _BAR}" height="{_BAR - 1}" '
                f'fill="{colour}" stroke="#fff" stroke-width="0.5"/>'
            )
            yield _label(bar, x, width, _TOP + place * _BAR + 10) + "</g>"


def _phases(phases: Sequence[Phase], across: Scale, y: float) -> Iterator[str]:
    """Draw what is no step in a band of its own below the steps."""
    if phases:
        yield _STRIPES
    for _, several in groupby(phases, key=lambda phase: round(across(phase.start_s) / 2)):
        phase = max(several, key=lambda phase: phase.end_s - phase.start_s)
        x, width = across(phase.start_s), across(phase.end_s) - across(phase.start_s)
        name = f"{phase.name} {phase.resource}"
        fill = "url(#phase)" if phase.outcome is Outcome.COMPLETED else BROKEN
        yield (
            f"<g><title>{escape(printable(f'{name}: {phase.outcome.value}'))}</title>"
            f'<rect x="{x:.1f}" width="{max(width, 0.8):.1f}" y="{y}" height="{_BAND - 2}" '
            f'fill="{fill}" stroke="#8b939c" stroke-width="0.5"/>'
        )
        fits = len(name) <= int((width - 4) / _LETTER)
        yield (_text(x + 3, y + 7.5, name, _OUTLINED) if fits else "") + "</g>"


def _label(bar: Bar, x: float, width: float, y: float) -> str:
    room = int((width - 4) / _LETTER)
    name = f"{bar.index} {bar.name}"
    text = shorten(name, room) if room > 4 or len(name) <= room else str(bar.index)
    return _text(x + 3, y, text) if len(text) <= room else ""


# -- panels
def _panel(panel: Panel, at_s: Sequence[float], across: Scale, top: float) -> Iterator[str]:
    bottom = top + _PANEL
    most = max(line.most for line in panel.lines)
    marks = ticks(most, 3)
    up = Scale(0.0, max(most, marks[-1]), bottom, top)
    for mark in marks:
        y = up(mark)
        yield f'<path d="M{_LEFT} {y:.1f}H{_LEFT + _INNER}" stroke="{_FAINT}" stroke-width="0.7"/>'
        yield _text(_LEFT - 5, y + 3, tick(mark, panel.unit), 'text-anchor="end"')
    for line, colour in _coloured(panel):
        yield _curve(line, at_s, across, up, colour)
    yield from _legend(panel, top - 9)


def _coloured(panel: Panel) -> Iterator[tuple[Line, str]]:
    colours = cycle(COLOURS)
    yield from ((line, HOST if line.of_host else next(colours)) for line in panel.lines)


def _curve(line: Line, at_s: Sequence[float], across: Scale, up: Scale, colour: str) -> str:
    points = [
        f"{across(at):.1f} {up(value):.1f}"
        for at, value in zip(at_s, line.values, strict=True)
        if value is not None
    ]
    if not points:
        return ""
    if line.of_host:
        first, last = points[0].split()[0], points[-1].split()[0]
        edge = f"M{first} {up(0):.1f}L{'L'.join(points)}L{last} {up(0):.1f}Z"
        return f'<path d="{edge}" fill="{colour}" fill-opacity="0.55"/>'
    return f'<path d="M{"L".join(points)}" fill="none" stroke="{colour}" stroke-width="1.3"/>'


def _legend(panel: Panel, y: float) -> Iterator[str]:
    yield _text(_LEFT, y, panel.name, 'font-weight="bold"')
    x = _LEFT + 16 + len(panel.name) * (_LETTER + 0.6)
    for line, colour in _coloured(panel):
        text = printable(line.name)[:40]
        yield f'<rect x="{x:.1f}" y="{y - 7:.1f}" width="9" height="7" fill="{colour}"/>'
        words = f"{text}, at most {tick(line.most, panel.unit)}"
        yield _text(x + 12, y, words)
        x += 30 + len(words) * _LETTER


def _time(across: Scale, y: float) -> Iterator[str]:
    yield f'<path d="M{_LEFT} {y}H{_LEFT + _INNER}" stroke="{_INK}" stroke-width="0.8"/>'
    for mark in ticks(across.last, 9):
        if mark <= across.last:
            x = across(mark)
            yield f'<path d="M{x:.1f} {y}v4" stroke="{_INK}" stroke-width="0.8"/>'
            yield _text(x, y + 15, seconds(mark), 'text-anchor="middle"')
