"""A history as a picture, PNG or SVG."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from matplotlib.dates import AutoDateLocator, DateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchyard.analysis.comparison.wording import change
from benchyard.core.outputs import write
from benchyard.core.quantity import duration, formatter, shorten, tick
from benchyard.core.wording import printable
from benchyard.publish.sinks.contract import Timing
from benchyard.show.history.series import Change, Series
from benchyard.show.history.wording import LEAST_RANGE, host_names, several_hosts, short_name
from benchyard.show.plot import format_of, picture

#: Entries that one picture has room for.
MOST = 24
_LINE, _LAST, _MEDIAN, CHANGE = "#3b6ea5", "#c2410c", "#8a8a8a", "#6d28d9"
#: Inches beside, below and above a panel, and above all.
_LEFT, _RIGHT, _BELOW, _ABOVE, _TITLE = 0.75, 0.2, 0.35, 0.42, 0.12
_HEADING: Any = {"fontsize": 11, "weight": "bold"}
_SMALL: Any = {"fontsize": 7, "color": _MEDIAN}
_LEGEND = "dashed: median; orange: the newest, against the median before it"
_LEGEND_OF_CHANGES, _LEGEND_OF_SUSPECTS = "; violet: what was measured changed", "; rings: suspect"
#: Characters of what changed that a panel has room for, and changes that are written out.
_CHANGE_TEXT, _CHANGES = 40, 3
_STYLE = {"font.size": 9.0}


def draw(found: Sequence[Series], title: str, file: Path) -> int:
    """Draw each series in a panel of its own; return how many were drawn.

    If there are more than ``MOST``, those are drawn whose newest timing changed most.

    Args:
        found: At least one, each with timings.
        file: Replaced whole; its ending decides the format.

    Raises:
        OSError: If it cannot be written.
    """
    chosen = _chosen(found)
    drawn = picture(lambda: _figure(chosen, short_name(title)), format_of(file), _STYLE)
    write(file, drawn)
    return len(chosen)


def _chosen(found: Sequence[Series]) -> list[Series]:
    if len(found) <= MOST:
        return list(found)
    kept = {id(one) for one in sorted(found, key=_size_of_change, reverse=True)[:MOST]}
    return [one for one in found if id(one) in kept]


def _size_of_change(series: Series) -> float:
    return abs(math.log(series.change)) if series.change else 0.0


def _figure(found: Sequence[Series], title: str) -> Any:
    columns = 1 if len(found) == 1 else 2 if len(found) <= 4 else 3
    rows = math.ceil(len(found) / columns)
    width, height = (7.2, 3.0) if columns == 1 else (3.4, 1.5)
    size = columns * (width + _LEFT) + _RIGHT, rows * (height + _ABOVE) + _BELOW + _TITLE
    figure: Any = Figure(figsize=size)
    figure.text(0.1 / size[0], 1 - 0.08 / size[1], title, va="top", **_HEADING)
    figure.text(
        1 - 0.2 / size[0], 1 - 0.1 / size[1], _legend(found), va="top", ha="right", **_SMALL
    )
    several = several_hosts(found)
    for place, series in enumerate(found):
        row, column = divmod(place, columns)
        left = _LEFT + column * (width + _LEFT)
        bottom = _BELOW + (rows - 1 - row) * (height + _ABOVE)
        frame = (left / size[0], bottom / size[1], width / size[0], height / size[1])
        axes = figure.add_axes(frame)
        _draw_one(axes, series, _name(series) if several else series.entry)
        ticks = 7 if columns == 1 else 5
        set_dates(axes, *_span(found), labels=place + columns >= len(found), ticks=ticks)
    return figure


def _draw_one(axes: Any, series: Series, name: str) -> None:
    moments, values = _points(series.trusted)
    dots = 3.0 if len(values) <= 150 else 1.5
    axes.plot(moments, values, "-o", color=_LINE, linewidth=0.8, markersize=dots)
    if series.median is not None:
        axes.axhline(series.median, color=_MEDIAN, linewidth=0.8, linestyle="--")
        axes.plot(moments[-1:], values[-1:], "o", color=_LAST, markersize=5)
        axes.set_ylim(*_range(series.finite, series.median))
    _ring_suspects(axes, series)
    _mark_changes(axes, series.changes)
    axes.set_title(short_name(name), loc="left", fontsize=9)
    axes.set_title(_last(series), loc="right", fontsize=8, color=_LAST)
    dress(axes, "s")


def _points(timings: Sequence[Timing]) -> tuple[list[datetime], list[float]]:
    moments = [one.started_at.astimezone(UTC) for one in timings]
    return moments, [one.wall_time if math.isfinite(one.wall_time) else math.nan for one in timings]


def _name(series: Series) -> str:
    return f"{series.entry}, {host_names(series)}"


def _legend(found: Sequence[Series]) -> str:
    changes = _LEGEND_OF_CHANGES if any(series.changes for series in found) else ""
    return _LEGEND + changes + (_LEGEND_OF_SUSPECTS if any(s.suspect for s in found) else "")


def _ring_suspects(axes: Any, series: Series) -> None:
    """Ring suspect timings; those outside of the axis are drawn at its edge."""
    moments, values = _points(series.suspect)
    if series.median is not None:
        low, high = axes.get_ylim()
        values = [min(max(value, low), high) for value in values]
    look = {"color": _MEDIAN, "markersize": 5, "fillstyle": "none", "clip_on": False}
    axes.plot(moments, values, "o", **look)


def _mark_changes(axes: Any, found: Sequence[Change]) -> None:
    for one in found:
        at = one.timing.started_at.astimezone(UTC)
        axes.axvline(at, color=CHANGE, linewidth=0.8, linestyle=":")
    for one in found[-_CHANGES:]:
        text = shorten(printable(one.text), _CHANGE_TEXT)
        # The height is a share of the panel's, whatever its axis.
        place = {"xy": (one.timing.started_at.astimezone(UTC), 0.97), "textcoords": "offset points"}
        look = {"rotation": 90, "va": "top", "ha": "right", "fontsize": 6, "color": CHANGE}
        axes.annotate(text, xytext=(-1, 0), xycoords=("data", "axes fraction"), **place, **look)


def _last(series: Series) -> str:
    text = duration(series.last)
    return text if series.change is None else f"{text}  {change(series.change)}"


def _range(values: Sequence[float], usual: float) -> tuple[float, float]:
    """Return the limits of the axis, never closer than ``LEAST_RANGE`` of the median."""
    low, high = min(values), max(values)
    missing = max(LEAST_RANGE * abs(usual) - (high - low), 0.0)
    margin = 0.08 * (high - low + missing) or 1.0
    return low - missing / 2 - margin, high + missing / 2 + margin


def _span(found: Sequence[Series]) -> tuple[datetime, datetime]:
    first = min(series.timings[0].started_at for series in found).astimezone(UTC)
    last = max(series.timings[-1].started_at for series in found).astimezone(UTC)
    return first, last


def set_dates(axes: Any, first: datetime, last: datetime, *, labels: bool, ticks: int) -> None:
    """Give an axis of time its ends and ticks; panels with the same ends share it.

    Args:
        axes: A ``matplotlib.axes.Axes``.
        labels: Whether the ticks are written.
        ticks: At most so many.
    """
    span = last - first
    margin = max(span * 0.03, timedelta(minutes=1 if not span else 0))
    axes.set_xlim(first - margin, last + margin)
    axes.xaxis.set_major_locator(AutoDateLocator(tz=UTC, minticks=2, maxticks=ticks))
    form = "%Y-%m-%d" if span > timedelta(days=2) else "%m-%d %H:%M"
    form = "%H:%M:%S" if timedelta() < span < timedelta(minutes=5) else form
    axes.xaxis.set_major_formatter(DateFormatter(form, tz=UTC))
    axes.tick_params(axis="x", labelbottom=labels)


def dress(axes: Any, unit: str) -> None:
    """Give a panel its ticks of a unit and its grid.

    Args:
        axes: A ``matplotlib.axes.Axes``.
    """
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.yaxis.set_major_formatter(formatter(lambda value: tick(value, unit)))
    axes.grid(visible=True, axis="y", linewidth=0.4, alpha=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
