"""Lines over a parameter, and cumulative distributions."""

from collections.abc import Iterable
from typing import Any

from matplotlib.transforms import ScaledTranslation

from benchyard.show.results_plot.chart import Chart, Panel, Series
from benchyard.show.results_plot.look import Look, set_numbers, set_parameter
from benchyard.show.results_plot.rows import draw_point, set_scale

#: Points between two series at one value of the parameter.
_APART = 2.0


def draw_lines(axes: Any, chart: Chart, panel: Panel) -> None:
    """Draw medians over a parameter as lines, with intervals and single runs.

    Args:
        axes: A ``matplotlib.axes.Axes``.
    """
    for series in panel.series:
        drawn = len(axes.lines)
        _draw_line(axes, series)
        _move(axes, axes.lines[drawn:], series.place - (len(chart.series) - 1) / 2)
    values = sorted({mark.at for mark in panel.marks})
    if chart.log_parameter:
        axes.set_xscale("log")
    if panel.rows:
        axes.set_xticks(range(len(panel.rows)), panel.rows)
    else:
        set_parameter(axes.xaxis, values, log=chart.log_parameter)
    axes.margins(x=0.06)
    low, high = set_scale(axes, "y", chart, panel)
    set_numbers(axes.yaxis, (low, high), chart.unit, log=chart.log_values)
    axes.set_ylim(low, high)
    axes.grid(visible=True, axis="y", linewidth=0.4, color="#c9cdd2", zorder=1)


def _draw_line(axes: Any, series: Series) -> None:
    look = Look(series.place)
    known = [mark for mark in series.marks if mark.centre is not None]
    style = {"color": look.colour, "linestyle": look.dashes, "linewidth": 1.2, "zorder": 3}
    axes.plot([mark.at for mark in known], [mark.centre for mark in known], **style)
    for mark in known:
        dots = {"color": look.colour, "markersize": 2.2, "markeredgewidth": 0, "alpha": 0.4}
        runs = [mark.at] * len(mark.values), mark.values
        axes.plot(*runs, "o", zorder=2, **dots)
        draw_point(axes, mark, (mark.at, mark.centre or 0.0), look, vertical=True, bare=False)


def _move(axes: Any, lines: Iterable[Any], places: float) -> None:
    """Move a series sideways, so that intervals at one value of the parameter are told apart."""
    points = ScaledTranslation(places * _APART / 72, 0, axes.figure.dpi_scale_trans)
    for line in lines:
        line.set_transform(axes.transData + points)


def draw_distributions(axes: Any, chart: Chart, panel: Panel) -> None:
    """Draw which share of the runs has at most a value.

    Args:
        axes: A ``matplotlib.axes.Axes``.
    """
    for series in panel.series:
        look = Look(series.place)
        for mark in series.marks:
            if mark.values:
                style = {"color": look.colour, "linestyle": look.dashes, "linewidth": 1.2}
                # The first vertex is on the axis, where no run is.
                dots = {"marker": look.marker, "markersize": 3, "markevery": slice(1, None)}
                axes.ecdf(mark.values, **style, **dots)
    low, high = set_scale(axes, "x", chart, panel)
    set_numbers(axes.xaxis, (low, high), chart.unit, log=chart.log_values)
    axes.set_xlim(low, high)
    axes.set_ylim(0, 1.04)
    axes.set_ylabel("share of runs")
    axes.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    axes.grid(visible=True, linewidth=0.4, color="#c9cdd2", zorder=1)
