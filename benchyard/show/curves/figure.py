"""The picture of a run's curves by matplotlib, as PNG or SVG of any width.

Unlike ``plot`` it is not for the process that measures.
"""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchyard.core.model import Outcome
from benchyard.core.quantity import formatter, shorten, tick
from benchyard.core.wording import printable
from benchyard.show.curves.panels import Bar, Curves, Panel
from benchyard.show.curves.plot import BROKEN, COLOURS, HOST, seconds

#: Inches: of a panel, and of title and time axis together.
_PANEL, _AROUND = 1.35, 0.8
#: So many steps have their numbers above the curves.
_MOST_NUMBERED = 30
_MOST_BANDS = 200
_GOOD = (Outcome.COMPLETED, Outcome.TOLERATED)


def make_figure(curves: Curves, inches: float) -> Any:
    """Draw the curves of a run.

    Args:
        inches: Width of the picture.

    Returns:
        A ``matplotlib.figure.Figure``.
    """
    drawn = [panel for panel in curves.panels if any(line.most > 0 for line in panel.lines)]
    height = _AROUND + _PANEL * max(1, len(drawn))
    figure: Any = Figure(figsize=(inches, height), layout="constrained")
    rows: Any = figure.subplots(max(1, len(drawn)), 1, sharex=True, squeeze=False)
    all_axes: list[Any] = list(rows[:, 0])
    title = shorten(printable(curves.title), int(inches * 9))
    figure.suptitle(title, fontsize=9, x=0.01, ha="left")
    for axes, panel in zip(all_axes, drawn, strict=False):
        _bands(axes, curves.bars)
        _panel(axes, panel, curves.at_s)
    bottom, top = all_axes[-1], all_axes[0]
    bottom.set_xlim(0, curves.length_s)
    bottom.xaxis.set_major_locator(MaxNLocator(int(inches), steps=[1, 2, 5, 10]))
    bottom.xaxis.set_major_formatter(formatter(seconds))
    for bar in curves.bars[: _MOST_NUMBERED if len(curves.bars) <= _MOST_NUMBERED else 0]:
        place = ((bar.start_s + bar.end_s) / 2, 1.0)
        words = {"xycoords": ("data", "axes fraction"), "fontsize": 6, "ha": "center"}
        top.annotate(str(bar.index), place, va="bottom", annotation_clip=True, **words)
    return figure


def _bands(axes: Any, bars: Sequence[Bar]) -> None:
    if len(bars) <= _MOST_BANDS:
        for bar in bars:
            colour = COLOURS[0] if bar.outcome in _GOOD else BROKEN
            shade = 0.06 if bar.index % 2 else 0.13
            axes.axvspan(bar.start_s, bar.end_s, color=colour, alpha=shade, linewidth=0)


def _panel(axes: Any, panel: Panel, at_s: Sequence[float]) -> None:
    colours = cycle(COLOURS)
    for line in panel.lines:
        known = [(at, v) for at, v in zip(at_s, line.values, strict=True) if v is not None]
        label = f"{shorten(printable(line.name), 30)}, at most {tick(line.most, panel.unit)}"
        x, y = [at for at, _ in known], [value for _, value in known]
        if line.of_host:
            axes.fill_between(x, y, color=HOST, alpha=0.55, linewidth=0, label=label)
        else:
            axes.plot(x, y, color=next(colours), linewidth=1, label=label)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(panel.name, fontsize=8)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(formatter(lambda value: tick(value, panel.unit)))
    axes.tick_params(labelsize=7)
    axes.grid(visible=True, linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=6, loc="upper left", frameon=False, ncols=2)
