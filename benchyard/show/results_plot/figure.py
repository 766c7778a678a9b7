"""The whole picture: panels, title, legend and caption in a given space."""

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from textwrap import wrap
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchyard.core.errors import InputError
from benchyard.core.outputs import write
from benchyard.core.wording import printable
from benchyard.show.plot import Format, format_of, picture
from benchyard.show.results_plot.chart import Chart, Kind, Panel
from benchyard.show.results_plot.lines import draw_distributions, draw_lines
from benchyard.show.results_plot.look import INK, Look, short
from benchyard.show.results_plot.rows import draw_rows
from benchyard.show.results_plot.size import WIDTH, Size

#: Points; of what is small too.
_TEXT, _SMALL = 8.0, 6.5
#: A letter of DejaVu Sans is about so wide, by the size of its font.
_LETTER = 0.56
_STYLE = {
    "font.size": _TEXT,
    "axes.labelsize": _TEXT,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}
#: Characters of a title, and of a name in the legend.
_LONGEST_TITLE, _LONGEST_NAME = 90, 32
_DOTS_PER_INCH = 150
#: Inches that a panel needs at least.
_LEAST_HEIGHT = 0.7
_TOO_SMALL = "the picture is too small for so much; make it larger, or draw fewer steps or cases"


def draw(chart: Chart, size: Size, files: Sequence[Path]) -> None:
    """Write a picture.

    Args:
        files: Each is replaced whole; its ending decides the format.

    Raises:
        InputError: If the size has no room for it.
        OSError: If one cannot be written.
    """
    for file in files:
        write(file, drawn(chart, size, format_of(file)))


def drawn(chart: Chart, size: Size, kind: Format) -> bytes:
    """Return a picture as a file's content.

    Raises:
        InputError: If the size has no room for it.
    """
    refused = "constrained_layout not applied"
    try:
        return picture(lambda: make_figure(chart, size), kind, _STYLE, _DOTS_PER_INCH, refused)
    except UserWarning as error:
        raise InputError(_TOO_SMALL) from error


def make_figure(chart: Chart, size: Size) -> Any:
    """Return the picture as a ``matplotlib.figure.Figure``.

    Raises:
        InputError: If the size has no room for it.
    """
    width = size.width or WIDTH
    columns = _columns(chart, width)
    rows = ceil(len(chart.panels) / columns)
    caption = [line for text in chart.caption for line in wrap(printable(text), _letters(width))]
    above = _heights(chart, size, width)
    below = len(caption) * _SMALL * 1.35 / 72 + 0.06
    height = size.height or sum(above) + below + rows * _panel_height(chart, width / columns)
    if height - sum(above) - below < _LEAST_HEIGHT * rows:
        raise InputError(_TOO_SMALL)
    figure: Any = Figure(figsize=(width, height), layout="constrained")
    rect = (0, below / height, 1, 1 - (sum(above) + below) / height)
    figure.get_layout_engine().set(rect=rect, w_pad=0.05, h_pad=0.05)
    grid = figure.subplots(rows, columns, squeeze=False).flatten()
    for place, axes in enumerate(grid):
        if place >= len(chart.panels):
            axes.set_axis_off()
            continue
        _draw_panel(axes, chart, chart.panels[place], width / columns)
        _label(axes, chart, place, columns)
    _write_title(figure, chart, above[0])
    _draw_legend(figure, chart, above[0])
    style = {"fontsize": _SMALL, "color": INK, "va": "bottom", "linespacing": 1.2}
    figure.text(0.06 / width, 0.05 / height, "\n".join(caption), **style)
    return figure


def _letters(width: float) -> int:
    """Return how many small letters fit into a width (inches)."""
    return max(20, int((width - 0.12) * 72 / (_SMALL * _LETTER)))


# -- sizes


def _columns(chart: Chart, width: float) -> int:
    narrowest = 3.3 if chart.kind.has_rows else 2.3
    return max(1, min(len(chart.panels), int(width / narrowest)))


def _panel_height(chart: Chart, width: float) -> float:
    if not chart.kind.has_rows:
        return max(1.9, min(3.6, 0.62 * width))
    rows = max(len(panel.rows) for panel in chart.panels)
    many = max(1, len(chart.series))
    return rows * (0.24 if many == 1 else 0.1 + 0.14 * many) + 0.62


def _heights(chart: Chart, size: Size, width: float) -> tuple[float, float]:
    """Return how high title and legend are (inches)."""
    title = 0.24 if size.titled and chart.title else 0.0
    rows = ceil(len(chart.series) / _legend_columns(chart, width)) if _has_legend(chart) else 0
    return title, rows * 0.165 + 0.06 * bool(rows)


def _has_legend(chart: Chart) -> bool:
    return len(chart.series) > 1


def _legend_columns(chart: Chart, width: float) -> int:
    longest = max(len(short(name, _LONGEST_NAME)) for name in chart.series)
    entry = (longest * _LETTER + 4.5) * _TEXT / 72
    return max(1, min(len(chart.series), int((width - 0.1) / entry)))


# -- parts


def _draw_panel(axes: Any, chart: Chart, panel: Panel, width: float) -> None:
    longest = max(10, int(width * 0.36 * 72 / (7.5 * _LETTER)))
    if chart.kind is Kind.LINES:
        draw_lines(axes, chart, panel)
    elif chart.kind is Kind.ECDF:
        draw_distributions(axes, chart, panel)
    else:
        draw_rows(axes, chart, panel, longest)
    if panel.title:
        letters = max(10, int(width * 0.8 * 72 / (_TEXT * _LETTER)))
        axes.set_title(short(panel.title, letters), loc="left", fontsize=_TEXT)


def _label(axes: Any, chart: Chart, place: int, columns: int) -> None:
    """Name the axes, of several panels those at the edges."""
    quantity = short(chart.quantity, 60)
    lowest = place + columns >= len(chart.panels)
    if chart.kind is not Kind.LINES:
        axes.set_xlabel(quantity if lowest else "")
        return
    axes.set_xlabel(short(chart.parameter, 40) if lowest else "")
    axes.set_ylabel(quantity if place % columns == 0 else "")


def _write_title(figure: Any, chart: Chart, height: float) -> None:
    if height:
        width, whole = figure.get_size_inches()
        style = {"fontsize": _TEXT + 1.5, "weight": "bold", "va": "top"}
        letters = int(width * 72 / (_TEXT * 1.35 * _LETTER))
        text = short(chart.title, min(_LONGEST_TITLE, letters))
        figure.text(0.06 / width, 1 - 0.06 / whole, text, **style)


def _draw_legend(figure: Any, chart: Chart, title: float) -> None:
    if not _has_legend(chart):
        return
    width, height = figure.get_size_inches()
    legend = figure.legend(
        handles=list(_handles(chart)),
        labels=["x"] * len(chart.series),
        loc="upper left",
        bbox_to_anchor=(0.0, 1 - title / height),
        ncols=_legend_columns(chart, width),
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.4,
        labelspacing=0.35,
    )
    legend.set_in_layout(False)
    # matplotlib leaves out what begins with an underscore, which a name may do.
    for text, name in zip(legend.get_texts(), chart.series, strict=True):
        text.set_text(short(name, _LONGEST_NAME))


def _handles(chart: Chart) -> Iterator[Any]:
    for place in range(len(chart.series)):
        look = Look(place)
        if chart.kind is Kind.BARS:
            yield Patch(facecolor=look.colour, edgecolor="white", hatch=look.hatch, linewidth=0)
        else:
            dashes = "none" if chart.kind.has_rows else look.dashes
            yield Line2D([], [], color=look.colour, marker=look.marker, linestyle=dashes)
