"""The history of a case's steps as a picture: runs, medians with intervals, what changed."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchyard.core.quantity import amount, plural, shorten
from benchyard.core.wording import printable
from benchyard.show.history.plot import CHANGE, dress, set_dates
from benchyard.show.history.steps import Group, StepHistory, Value
from benchyard.show.plot import Format, picture
from benchyard.show.results_plot.look import INK, Look, short

#: Steps that one picture has room for.
MOST = 24
#: Dots of one series in one panel; of more, the least and the most of neighbours are drawn.
_MOST_DOTS = 240
#: Inches that a change needs beside the one before it to be written out, and per letter.
_BESIDE, _LETTER = 0.35, 5.5 * 0.56 / 72
#: Inches beside, below and above a panel.
_LEFT, _RIGHT, _BELOW, _ABOVE = 0.72, 0.12, 0.32, 0.36
_STYLE = {"font.size": 8.0, "axes.linewidth": 0.6}


def draw(found: Sequence[StepHistory], width: float, kind: Format) -> bytes:
    """Return a panel for each step, at most ``MOST``, as a file's content.

    Args:
        found: At least one, of one metric.
        width: Inches.
    """
    return picture(lambda: _figure(found[:MOST], width, len(found) - MOST), kind, _STYLE)


def _figure(found: Sequence[StepHistory], width: float, left_out: int) -> Any:
    columns = max(1, min(len(found), int(width / 2)))
    rows = ceil(len(found) / columns)
    hosts = sorted({host for step in found for host in step.hosts})
    legend = 0.22 * ceil(len(hosts) / max(1, int(width / 2))) if len(hosts) > 1 else 0.0
    panel = 1.9 if len(found) == 1 else 1.05
    size = width, rows * (panel + _ABOVE) + _BELOW + legend + 0.05
    figure: Any = Figure(figsize=size)
    if left_out > 0:
        text = f"{plural(left_out, 'more step')}: choose one to see it"
        figure.text(0.01, 0.04 / size[1], text, fontsize=6.5, va="bottom")
    frame = width / columns - _LEFT - _RIGHT, panel
    for place, step in enumerate(found):
        row, column = divmod(place, columns)
        left = _LEFT + column * width / columns
        bottom = _BELOW + (rows - 1 - row) * (panel + _ABOVE)
        axes = figure.add_axes(
            (left / size[0], bottom / size[1], frame[0] / size[0], frame[1] / size[1])
        )
        _draw_step(axes, step, hosts, int(frame[0] * 72 / 5))
        _date(axes, found, labels=place + columns >= len(found), ticks=max(2, int(frame[0] / 0.8)))
    if legend:
        handles = [Line2D([], [], color=Look(at).colour, marker="o") for at in range(len(hosts))]
        figure.legend(
            handles,
            [short(host or "host not known", 30) for host in hosts],
            loc="upper left",
            ncols=max(1, int(width / 2)),
            frameon=False,
        )
    return figure


def _draw_step(axes: Any, step: StepHistory, hosts: Sequence[str], letters: int) -> None:
    for place, host in enumerate(hosts):
        groups = [group for group in step.groups if group.host == host]
        if groups:
            _draw_host(axes, groups, Look(place).colour)
    _mark_changes(axes, step.groups)
    last = step.groups[-1]
    right = "" if last.median is None else amount(last.median, step.unit)
    axes.set_title(short(step.name, max(8, letters - len(right) - 2)), loc="left", fontsize=8)
    axes.set_title(right, loc="right", fontsize=7.5)
    _dress(axes, step.unit or "")


def _draw_host(axes: Any, groups: Sequence[Group], colour: str) -> None:
    values = [one for group in groups for one in group.values]
    dots = thinned([one for one in values if not one.suspect])
    style = {"linestyle": "none", "markeredgewidth": 0, "markersize": 2.4, "alpha": 0.45}
    axes.plot(*_points(dots), marker="o", color=colour, zorder=2, **style)
    rings = thinned([one for one in values if one.suspect])
    look = {"linestyle": "none", "fillstyle": "none", "markersize": 3.4, "markeredgewidth": 0.6}
    axes.plot(*_points(rings), marker="o", color="#8a8a8a", zorder=2, **look)
    known = [group for group in groups if group.median is not None]
    axes.plot(
        [_middle(group) for group in known],
        [group.median for group in known],
        "-",
        color=colour,
        linewidth=0.9,
        alpha=0.7,
        zorder=3,
    )
    for group in known:
        _draw_median(axes, group, colour)


def _draw_median(axes: Any, group: Group, colour: str) -> None:
    low, high = group.interval.low, group.interval.high
    at = _middle(group)
    if low is not None and high is not None:
        axes.plot([at, at], [low, high], color=colour, linewidth=1.1, marker="_", markersize=5)
    fill = "white" if low is None else colour
    style = {"markersize": 4.2, "markerfacecolor": fill, "markeredgewidth": 0.9, "zorder": 5}
    axes.plot([at], [group.median], marker="o", color=colour, linestyle="none", **style)


def _middle(group: Group) -> datetime:
    first, last = (group.values[at].began.astimezone(UTC) for at in (0, -1))
    return first + (last - first) / 2


def _points(values: Sequence[Value]) -> tuple[list[datetime], list[float]]:
    return [one.began.astimezone(UTC) for one in values], [one.value for one in values]


def thinned(values: Sequence[Value], most: int = _MOST_DOTS) -> list[Value]:
    """Return at most so many values, in order: the least and the most of neighbours."""
    if len(values) <= most:
        return list(values)
    size = ceil(2 * len(values) / most)
    kept: list[Value] = []
    for start in range(0, len(values), size):
        near = values[start : start + size]
        ends = (min(near, key=lambda one: one.value), max(near, key=lambda one: one.value))
        kept += sorted(ends, key=lambda one: one.began)
    return kept


def _mark_changes(axes: Any, groups: Sequence[Group]) -> None:
    """Mark where the subject changed; write it out where there is room, the newest first."""
    changed = [group for group in groups if group.change]
    for group in changed:
        at = group.began.astimezone(UTC)
        axes.axvline(at, color=CHANGE, linewidth=0.8, linestyle=":", zorder=1)
    box = axes.get_position()
    width, height = axes.figure.get_size_inches() * (box.width, box.height)
    begins = groups[0].began
    span = max(group.values[-1].began for group in groups) - begins or timedelta(seconds=1)
    free = 1.0 + _BESIDE
    look = {"rotation": 90, "va": "top", "ha": "right", "fontsize": 5.5, "color": CHANGE}
    beside = {"xytext": (-1, 0), "textcoords": "offset points"}
    for group in reversed(changed):
        share = (group.began - begins) / span
        if (free - share) * width < _BESIDE or share * width < _BESIDE / 3:
            continue
        free = share
        text = shorten(printable(group.change), int(height * 0.96 / _LETTER))
        place = group.began.astimezone(UTC), 0.98
        axes.annotate(text, place, xycoords=("data", "axes fraction"), **beside, **look)


def _dress(axes: Any, unit: str) -> None:
    low, high = axes.get_ylim()
    if 0 < low < high < 1.04 * low:
        # What differs by a few percent only should not look like a cliff.
        axes.set_ylim((low + high) / 2 * 0.97, (low + high) / 2 * 1.03)
    dress(axes, unit)
    axes.tick_params(labelsize=7, colors=INK)


def _date(axes: Any, found: Sequence[StepHistory], *, labels: bool, ticks: int) -> None:
    values = [group.values for step in found for group in step.groups]
    first = min(several[0].began for several in values).astimezone(UTC)
    last = max(several[-1].began for several in values).astimezone(UTC)
    set_dates(axes, first, last, labels=labels, ticks=ticks)
