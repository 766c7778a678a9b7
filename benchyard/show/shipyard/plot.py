"""Nodes and runs as stacked bars: one bar for each, in order of their start."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchyard.core.quantity import number, shorten
from benchyard.core.wording import printable
from benchyard.show.axes import LETTER, Axis, Frame
from benchyard.show.drawing import Box, Drawing, Line, Shape, Text
from benchyard.show.shipyard.events import IMAGE_WORK, Operation
from benchyard.show.shipyard.nodes import BarKind, Graph, Node, Segment, summed
from benchyard.show.shipyard.tables import UNFINISHED, after, clock

#: Colour and words of an operation. The colours are distinct for the colour-blind, too.
#: Source: Okabe and Ito 2008, Color Universal Design.
_LOOKS = {
    Operation.PREPARATION: ("#0072b2", "node preparation"),
    Operation.REGISTRY: ("#cc79a7", "private registry"),
    Operation.CONTAINER: ("#e69f00", "container pull"),
    Operation.RESOURCES: ("#009e73", "global resources"),
    Operation.PULL: ("#56b4e9", "image pulls"),
    Operation.SAVE: ("#999999", "saves"),
    Operation.LOAD: ("#f0e442", "loads"),
    Operation.TORRENT: ("#d55e00", "torrents"),
    Operation.INITIALIZE: ("#0072b2", "initialize"),
    Operation.START: ("#e69f00", "start"),
    Operation.READY: ("#f0e442", "ready"),
    Operation.STEP: ("#009e73", "steps"),
    Operation.STOP: ("#cc79a7", "stop"),
    Operation.RUN: ("#cccccc", "in no phase"),
}
_WHITE, _GRID, _OPEN = "#ffffff", "#dfe2e6", "#555555"
#: Pixels: of a bar with many and with few others, of all bars at most, and of the margins.
_BAR, _BROAD_BAR, _TALLEST = 15, 24, 2200
_ABOVE, _BELOW, _RIGHT, _BETWEEN, _TITLE = 50, 44, 35, 25, 26
_PHASES_WIDTH, _WORK_WIDTH = 600, 340
#: Letters of the longest label; of labels nearer than so many pixels, not all are written.
_LONGEST, _LABEL = 44, 11.5
_TEXT, _SMALL = 10, 8.5


@dataclass(frozen=True, slots=True)
class _Panel:
    """Stacked bars on one axis; a row of the picture has one or two panels.

    Args:
        axis: What the bars are of.
        width: Pixels.
        values: Each operation's length on each node.
        remarks: What stands behind each bar.
        is_open: Whether any of the operations is unfinished.
    """

    axis: str
    width: int
    values: Mapping[Operation, Sequence[Segment]]
    remarks: Sequence[str]
    is_open: bool = False


def graph_drawing(graph: Graph, title: str) -> Drawing:
    """Draw the nodes, and below them the runs."""
    rows = [(_labels(nodes), _panels(nodes)) for kind in BarKind if (nodes := graph.of(kind))]
    longest = max(len(label) for labels, _ in rows for label in labels)
    left = 20 + _TEXT * LETTER * longest
    broadest = max(sum(panel.width + _BETWEEN for panel in panels) for _, panels in rows)
    drawing = Drawing(left + broadest - _BETWEEN + _RIGHT, _TITLE)
    drawing.shapes.append(Text(10, 18, title, 14, bold=True))
    for labels, panels in rows:
        top, x = drawing.height + _ABOVE, left
        broad = _BROAD_BAR if len(labels) <= 40 else _BAR
        bottom = top + max(50, min(_TALLEST, broad * len(labels)))
        drawing.shapes += _names(labels, Frame(left, top, left, bottom))
        for panel in panels:
            drawing.shapes += _bars(panel, Frame(x, top, x + panel.width, bottom))
            x += panel.width + _BETWEEN
        drawing.height = bottom + _BELOW
    return drawing


def _panels(nodes: Sequence[Node]) -> list[_Panel]:
    segments = [node.segments() for node in nodes]
    phases = {operation: [one[operation] for one in segments] for operation in segments[0]}
    begun = {op for op in phases if any(node.is_open(op) for node in nodes)}
    used = {op: each for op, each in phases.items() if op in begun or any(map(any, each))}
    what = "node's preparation" if nodes[0].kind is BarKind.NODE else "run"
    axis = f"seconds of the {what}; what overlaps counts once"
    remarks = ["" if node.is_finished else UNFINISHED for node in nodes]
    panel = _Panel(axis, _PHASES_WIDTH, used, remarks, bool(begun))
    if nodes[0].kind is BarKind.RUN or not any(node.of(op) for node in nodes for op in IMAGE_WORK):
        return [panel]
    # Bars of images are of what is finished; the rest is told in words.
    work = {op: [Segment(summed(node.of(op)), 0.0) for node in nodes] for op in IMAGE_WORK}
    used = {op: each for op, each in work.items() if any(map(any, each))}
    left = [sum(span.is_open for op in IMAGE_WORK for span in node.of(op)) for node in nodes]
    remarks = [f"{count:,} {UNFINISHED}" if count else "" for count in left]
    return [panel, _Panel("seconds, summed over images", _WORK_WIDTH, used, remarks)]


def _bars(panel: _Panel, frame: Frame) -> Iterator[Shape]:
    count = len(panel.remarks)
    ends = [sum(sum(each[place]) for each in panel.values.values()) for place in range(count)]
    room = 1.16 if any(panel.remarks) else 1.02
    axis = Axis(0.0, max([*ends, 1e-9]) * room, frame.left, frame.right)
    for mark in axis.ticks():
        yield Line([(axis(mark), frame.top), (axis(mark), frame.bottom)], _GRID, 0.6)
        yield Text(axis(mark), frame.bottom + 13, number(mark, 6), anchor="middle")
    yield Text((frame.left + frame.right) / 2, frame.bottom + 28, panel.axis, anchor="middle")
    yield from _legend(panel, frame)
    high = frame.height / count
    places = [frame.top + high * place for place in range(count)]
    for place, y in enumerate(places):
        bar = [(operation, each[place]) for operation, each in panel.values.items()]
        yield from _stack(axis, y + 0.12 * high, 0.76 * high, bar)
    if high >= _LABEL:
        for remark, end, y in zip(panel.remarks, ends, places, strict=True):
            if remark:
                yield Text(axis(end) + 4, y + high / 2 + 3, remark, _SMALL)


def _stack(
    axis: Axis, y: float, height: float, segments: Sequence[tuple[Operation, Segment]]
) -> Iterator[Box]:
    """Put a bar together; the time of what is unfinished is hatched."""
    start = 0.0
    for operation, segment in segments:
        colour, _ = _LOOKS[operation]
        for length, hatch in ((segment.finished, ""), (segment.unfinished, "////")):
            if length > 0:
                x, fill = axis(start), _WHITE if hatch else colour
                yield Box(x, y, axis(start + length) - x, height, fill, "", colour, hatch=hatch)
            start += length


def _legend(panel: _Panel, frame: Frame) -> Iterator[Shape]:
    """Put the legend above the bars, in one row or two."""
    known = [(colour, words, "") for colour, words in map(_LOOKS.__getitem__, panel.values)]
    known += [(_OPEN, UNFINISHED, "////")] if panel.is_open else []
    columns = len(known) if len(known) <= 3 else math.ceil(len(known) / 2)
    for place, (colour, words, hatch) in enumerate(known):
        x = frame.left + place % columns * panel.width / columns
        y = frame.top - 32 + 15 * (place // columns)
        yield Box(x, y, 14, 9, _WHITE if hatch else colour, "", colour, hatch=hatch)
        yield Text(x + 18, y + 8, words)


def _names(labels: Sequence[str], frame: Frame) -> Iterator[Text]:
    """Label the bars; where labels would touch, only every n-th one."""
    high = frame.height / len(labels)
    size = _TEXT if high >= 20 else _SMALL
    for place in range(0, len(labels), max(1, math.ceil(_LABEL / high))):
        y = frame.top + (place + 0.5) * high + 3
        yield Text(frame.left - 8, y, labels[place], size, anchor="end")


def _labels(nodes: Sequence[Node]) -> list[str]:
    """Return a label for each bar: name and start."""
    first = min(node.start for node in nodes)
    is_node = nodes[0].kind is BarKind.NODE
    when = [after(n.start - first) if is_node else clock(n.start)[5:-2] for n in nodes]
    return [
        f"{shorten(printable(n.label), _LONGEST, 2)}  {at}"
        for n, at in zip(nodes, when, strict=True)
    ]
