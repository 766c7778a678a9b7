"""Steps or cases below each other: points, bars, strips and ratios."""

from collections.abc import Sequence
from typing import Any

from matplotlib.patheffects import withStroke

from benchyard.core.quantity import amount, number
from benchyard.show.results_plot.chart import Chart, Kind, Mark, Panel
from benchyard.show.results_plot.look import BAND, INK, Look, set_numbers, short

#: Share of a row that its marks take.
_FILLED = 0.78


def draw_rows(axes: Any, chart: Chart, panel: Panel, longest: int) -> None:
    """Draw a panel.

    Args:
        axes: A ``matplotlib.axes.Axes``.
        longest: Characters that the name of a row may have.
    """
    many = max(1, len(chart.series))
    for series in panel.series:
        look = Look(series.place)
        off = _FILLED * ((series.place + 0.5) / many - 0.5)
        for mark in series.marks:
            _draw_mark(axes, chart, mark, mark.at + off, (look, _FILLED / many))
    _dress(axes, chart, panel, longest)
    if many == 1 and chart.kind not in (Kind.STRIPS, Kind.BARS):
        _write_numbers(axes, chart, panel.marks)


def _draw_mark(axes: Any, chart: Chart, mark: Mark, y: float, how: tuple[Look, float]) -> None:
    (look, thickness), kind = how, chart.kind
    if kind in (Kind.POINTS, Kind.STRIPS):
        _draw_runs(axes, mark, y, look, thickness, alone=kind is Kind.STRIPS)
    if mark.centre is None:
        return
    if kind is Kind.STRIPS:
        ends = (y - thickness * 0.45, y + thickness * 0.45)
        axes.plot([mark.centre] * 2, ends, color=INK, linewidth=1.4, zorder=4)
        return
    if kind is Kind.BARS:
        style = {"facecolor": look.colour, "edgecolor": "white", "hatch": look.hatch}
        axes.barh(y, mark.centre, thickness * 0.92, linewidth=0, zorder=2, **style)
        _write(
            axes, amount(mark.centre, chart.unit), (max(mark.centre, mark.high or 0.0), y), "data"
        )
    draw_point(axes, mark, (mark.centre, y), look, vertical=False, bare=kind is Kind.BARS)


def draw_point(
    axes: Any, mark: Mark, place: tuple[float, float], look: Look, *, vertical: bool, bare: bool
) -> None:
    """Draw a point, filled if it has an interval, and the interval.

    Args:
        axes: A ``matplotlib.axes.Axes``.
        place: Where the point is.
        vertical: Whether the interval runs upwards.
        bare: Whether there is no point, only the interval.
    """
    colour = INK if bare else look.colour
    if mark.low is not None and mark.high is not None:
        ends = [mark.low, mark.high]
        fixed = [place[0] if vertical else place[1]] * 2
        line = (fixed, ends) if vertical else (ends, fixed)
        cap = "_" if vertical else "|"
        # Some bars are as dark as the whisker.
        halo = [withStroke(linewidth=2.6, foreground="white")] if bare else None
        style = {"linewidth": 1.1, "markersize": 5, "zorder": 4}
        axes.plot(*line, color=colour, marker=cap, linestyle="-", path_effects=halo, **style)
    if not bare:
        fill = colour if mark.low is not None else "white"
        style = {"markersize": 4.6, "markerfacecolor": fill, "markeredgewidth": 0.9, "zorder": 5}
        axes.plot(*place, marker=look.marker, color=colour, linestyle="none", **style)


def _draw_runs(
    axes: Any, mark: Mark, y: float, look: Look, thickness: float, *, alone: bool
) -> None:
    """Draw single runs, the first at the top, so that a drift is seen."""
    n = len(mark.values)
    ys = [y + thickness * 0.8 * ((place + 0.5) / n - 0.5) for place in range(n)]
    style = {"markersize": 3.4 if alone else 2.4, "markeredgewidth": 0, "zorder": 3}
    shade = {"marker": look.marker if alone else "o", "alpha": 0.85 if alone else 0.45}
    axes.plot(mark.values, ys, color=look.colour, linestyle="none", **style, **shade)


def _dress(axes: Any, chart: Chart, panel: Panel, longest: int) -> None:
    rows = len(panel.rows)
    for row in range(1, rows, 2):
        axes.axhspan(row - 0.5, row + 0.5, color=BAND, zorder=0, linewidth=0)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks(range(rows), [short(name, longest) for name in panel.rows])
    axes.tick_params(axis="y", length=0)
    low, high = set_scale(axes, "x", chart, panel)
    set_numbers(axes.xaxis, (low, high), chart.unit, log=chart.log_values)
    axes.set_xlim(low, high)
    axes.grid(visible=True, axis="x", linewidth=0.4, color="#c9cdd2", zorder=1)
    if chart.kind is Kind.RATIO:
        axes.axvline(1.0, color=INK, linewidth=1.0, linestyle="--", zorder=2)


def set_scale(axes: Any, which: str, chart: Chart, panel: Panel) -> tuple[float, float]:
    """Set the scale of the values, and return the ends that its axis should have."""
    numbers = [number for mark in panel.marks for number in mark.numbers]
    if chart.kind is Kind.RATIO:
        numbers.append(1.0)
    numbers = numbers or [1.0, 10.0]
    low, high = min(numbers), max(numbers)
    if chart.log_values:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        room = max((high / low) ** 0.06, 1.02)
        return low / room, high * room
    if chart.kind is Kind.BARS or 0 <= low < high / 2:
        low = min(0.0, low)
    # Behind a bar stands its number.
    room = (0.14 if chart.kind is Kind.BARS else 0.06) * (high - low) or abs(high) * 0.1 or 1.0
    return (low if low == 0 else low - room), high + room


def _write_numbers(axes: Any, chart: Chart, marks: Sequence[Mark]) -> None:
    """Write the medians beside the panel."""
    for mark in marks:
        if mark.centre is None:
            text = "no value"
        elif chart.kind is Kind.RATIO:
            text = _ratio(mark.centre)
        else:
            text = amount(mark.centre, chart.unit)
        _write(axes, text, (1.0, mark.at), ("axes fraction", "data"))


def _ratio(value: float) -> str:
    return f"{value:#.3g}".rstrip(".") if 0.001 <= value < 1000 else number(value, 3)


def _write(axes: Any, text: str, place: tuple[float, float], within: Any) -> None:
    beside = {"xytext": (4, 0), "textcoords": "offset points"}
    look = {"va": "center", "fontsize": 6.5, "color": INK}
    axes.annotate(text, place, xycoords=within, **beside, **look)
