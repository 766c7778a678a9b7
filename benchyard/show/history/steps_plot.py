"""The history of a case's steps as a picture: runs, medians with intervals, what changed."""

from collections.abc import Iterator, Sequence
from math import ceil

from benchyard.core.quantity import amount, plural
from benchyard.show.axes import SeriesLook, short
from benchyard.show.drawing import Dots, Drawing, Line, Shape, Text
from benchyard.show.history.panels import FAINT, MOST, Panel, panels_drawing
from benchyard.show.history.steps import Group, StepHistory, Value

#: Dots of one series in one panel; of more, the least and the most of neighbours are drawn.
_MOST_DOTS = 240


def history_drawing(found: Sequence[StepHistory], width: float) -> Drawing:
    """Draw a panel for each step, at most ``MOST``.

    Args:
        found: At least one, of one metric.
        width: Pixels.
    """
    drawn = found[:MOST]
    hosts = sorted({host for step in drawn for host in step.hosts})
    across = max(1, int(width / 200))
    head = [*_legend(hosts, across)] if len(hosts) > 1 else []
    panels = [_panel(step, hosts) for step in drawn]
    height = 190 if len(drawn) == 1 else 105
    drawing = panels_drawing(panels, width, min(len(drawn), across), height, head)
    if left := len(found) - len(drawn):
        text = f"{plural(left, 'more step')}: choose one to see it"
        drawing.shapes.append(Text(4, drawing.height + 8, text, 9))
        drawing.height += 14
    return drawing


def _legend(hosts: Sequence[str], across: int) -> Iterator[Shape]:
    for place, host in enumerate(hosts):
        x, y = 8 + 200 * (place % across), 14 + 16 * (place // across)
        yield Dots([(x, y - 3)], 0, SeriesLook(place).colour)
        yield Text(x + 10, y, short(host or "host not known", 30))


def _panel(step: StepHistory, hosts: Sequence[str]) -> Panel:
    median = step.groups[-1].median
    last = "" if median is None else amount(median, step.unit)
    shapes = [
        shape
        for place, host in enumerate(hosts)
        for shape in _host(
            [one for one in step.groups if one.host == host], SeriesLook(place).colour
        )
    ]
    changes = [(one.began.timestamp(), one.change) for one in step.groups if one.change]
    return Panel(step.name, last, step.unit or "", shapes, changes)


def _host(groups: Sequence[Group], colour: str) -> Iterator[Line | Dots]:
    values = [one for group in groups for one in group.values]
    if dots := thinned([one for one in values if not one.suspect]):
        yield Dots(_points(dots), 0, colour, 1.7, 0.45)
    if rings := thinned([one for one in values if one.suspect]):
        yield Dots(_points(rings), 0, FAINT, 2.4, hollow=True)
    medians = [(_middle(one), one.median, one.interval) for one in groups if one.median is not None]
    if medians:
        yield Line([(at, median) for at, median, _ in medians], colour, 1.2)
    for at, median, interval in medians:
        if interval.low is not None and interval.high is not None:
            yield Line([(at, interval.low), (at, interval.high)], colour, 1.5)
        yield Dots([(at, median)], 0, colour, hollow=interval.low is None)


def _middle(group: Group) -> float:
    return (group.values[0].began.timestamp() + group.values[-1].began.timestamp()) / 2


def _points(values: Sequence[Value]) -> list[tuple[float, float]]:
    return [(one.began.timestamp(), one.value) for one in values]


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
