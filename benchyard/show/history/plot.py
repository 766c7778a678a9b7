"""The timings of entries through time as a picture."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchyard.analysis.comparison.wording import change
from benchyard.core.quantity import duration
from benchyard.publish.sinks.contract import Timing
from benchyard.show.drawing import Dots, Line, Text
from benchyard.show.history.panels import FAINT, MOST, Panel, panels_drawing
from benchyard.show.history.series import Series
from benchyard.show.history.wording import LEAST_RANGE, host_names, several_hosts, short_name

_LINE, _LAST = "#3b6ea5", "#c2410c"
_LEGEND = "dashed: median; orange: the newest, against the median before it"
_LEGEND_OF_CHANGES, _LEGEND_OF_SUSPECTS = "; violet: what was measured changed", "; rings: suspect"


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
    columns = 1 if len(chosen) == 1 else 2 if len(chosen) <= 4 else 3
    width, height = (820, 300) if columns == 1 else (420 * columns, 150)
    head = [Text(8, 18, short_name(title), 14, bold=True), Text(8, 33, _legend(chosen), 9, FAINT)]
    several = several_hosts(chosen)
    panels = [_panel(one, several=several) for one in chosen]
    panels_drawing(panels, width, columns, height, head).write(file)
    return len(chosen)


def _chosen(found: Sequence[Series]) -> list[Series]:
    if len(found) <= MOST:
        return list(found)
    kept = {id(one) for one in sorted(found, key=_size_of_change, reverse=True)[:MOST]}
    return [one for one in found if id(one) in kept]


def _size_of_change(series: Series) -> float:
    return abs(math.log(series.change)) if series.change else 0.0


def _legend(found: Sequence[Series]) -> str:
    changes = _LEGEND_OF_CHANGES if any(series.changes for series in found) else ""
    return _LEGEND + changes + (_LEGEND_OF_SUSPECTS if any(s.suspect for s in found) else "")


def _panel(series: Series, *, several: bool) -> Panel:
    name = f"{series.entry}, {host_names(series)}" if several else series.entry
    text = duration(series.last)
    text += "" if series.change is None else f"  {change(series.change)}"
    return Panel(
        short_name(name),
        text,
        "s",
        [*_shapes(series)],
        [(one.timing.started_at.timestamp(), one.text) for one in series.changes],
        None if series.median is None else _around(series.finite, series.median),
        _LAST,
    )


def _shapes(series: Series) -> Iterator[Line | Dots]:
    points = _points(series.trusted)
    if series.median is not None:
        ends = (series.timings[at].started_at.timestamp() for at in (0, -1))
        yield Line([(at, series.median) for at in ends], FAINT, 1, dashes=(4, 3))
    if points:
        yield Line(points, _LINE, 1)
        yield Dots(points, 0, _LINE, 2 if len(points) <= 150 else 1)
        yield Dots(points[-1:], 0, _LAST)
    if series.suspect:
        yield Dots(_points(series.suspect), 0, FAINT, hollow=True)


def _points(timings: Sequence[Timing]) -> list[tuple[float, float]]:
    return [(one.started_at.timestamp(), one.wall_time) for one in timings]


def _around(values: Sequence[float], usual: float) -> tuple[float, float]:
    """Return the ends of the values, never closer than ``LEAST_RANGE`` of the median."""
    low, high = min(values), max(values)
    missing = max(LEAST_RANGE * abs(usual) - (high - low), 0.0)
    return low - missing / 2, high + missing / 2
