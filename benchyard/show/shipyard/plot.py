"""Nodes and runs as stacked bars: one bar for each, in order of their start."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from benchyard.core.quantity import day_and_time, duration, number
from benchyard.show.axes import LETTER, Axis, Frame, short
from benchyard.show.drawing import Box, Drawing, Line, Shape, Text
from benchyard.show.shipyard.events import IMAGE_WORK, Operation
from benchyard.show.shipyard.nodes import Graph, Node, summed

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
_UNFINISHED = "unfinished"
#: Of what is finished of a segment, and of what is not.
_HATCHES = ("", "////")


class _Panel(NamedTuple):
    """Stacked bars on one axis; a row of the picture has one or two panels.

    Args:
        axis: What the bars are of.
        width: Pixels.
        bars: Of each the finished and the unfinished length of each operation.
        remarks: What stands behind each bar.
    """

    axis: str
    width: int
    bars: Sequence[Mapping[Operation, tuple[float, float]]]
    remarks: Sequence[str]

    @property
    def operations(self) -> list[Operation]:
        """Those that any bar has."""
        return [op for op in self.bars[0] if any(any(bar[op]) for bar in self.bars)]


def graph_drawing(graph: Graph, title: str) -> Drawing:
    """Draw the nodes, and below them the runs."""
    groups = [bars for bars in (graph.nodes, graph.runs) if bars]
    rows = [(_labels(nodes), list(_panels(nodes))) for nodes in groups]
    left = 20 + _TEXT * LETTER * max(len(label) for labels, _ in rows for label in labels)
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


def _labels(nodes: Sequence[Node]) -> list[str]:
    """Return a label for each bar: name and start."""
    first = min(node.start for node in nodes)
    return [f"{short(node.label, _LONGEST)}  {_start(node, first)}" for node in nodes]


def _start(node: Node, first: float) -> str:
    if node.is_run:
        return day_and_time(node.start)
    return f"+{duration(node.start - first)}" if node.start > first else "first"


def _panels(nodes: Sequence[Node]) -> Iterator[_Panel]:
    what = "run" if nodes[0].is_run else "node's preparation"
    axis = f"seconds of the {what}; what overlaps counts once"
    remarks = ["" if node.is_finished else _UNFINISHED for node in nodes]
    yield _Panel(axis, _PHASES_WIDTH, [node.segments() for node in nodes], remarks)
    # Bars of images are of what is finished; the rest is told in words.
    work = [{op: (summed(node.of(op)), 0.0) for op in IMAGE_WORK} for node in nodes]
    left = [sum(span.is_open for span in node.of(*IMAGE_WORK)) for node in nodes]
    remarks = [f"{count:,} {_UNFINISHED}" if count else "" for count in left]
    panel = _Panel("seconds, summed over images", _WORK_WIDTH, work, remarks)
    if not nodes[0].is_run and (any(left) or panel.operations):
        yield panel


def _names(labels: Sequence[str], frame: Frame) -> Iterator[Text]:
    """Label the bars; where labels would touch, only every n-th one."""
    high = frame.height / len(labels)
    size = _TEXT if high >= 20 else _SMALL
    for place in range(0, len(labels), max(1, math.ceil(_LABEL / high))):
        y = frame.top + (place + 0.5) * high + 3
        yield Text(frame.left - 8, y, labels[place], size, anchor="end")


def _bars(panel: _Panel, frame: Frame) -> Iterator[Shape]:
    longest = max(sum(chain(*bar.values())) for bar in panel.bars) or 1.0
    axis = Axis(0.0, longest * (1.16 if any(panel.remarks) else 1.02), frame.left, frame.right)
    for mark in axis.ticks():
        yield Line([(axis(mark), frame.top), (axis(mark), frame.bottom)], _GRID, 0.6)
        yield Text(axis(mark), frame.bottom + 13, number(mark, 6), anchor="middle")
    yield Text((frame.left + frame.right) / 2, frame.bottom + 28, panel.axis, anchor="middle")
    yield from _legend(panel, frame)
    high = frame.height / len(panel.bars)
    for place, (bar, remark) in enumerate(zip(panel.bars, panel.remarks, strict=True)):
        y, end = frame.top + high * place, 0.0
        for operation, lengths in bar.items():
            for length, hatch in zip(lengths, _HATCHES, strict=True):
                if length > 0:
                    left, width = axis(end), axis(end + length) - axis(end)
                    colour = _LOOKS[operation][0]
                    yield _box(left, y + 0.12 * high, width, 0.76 * high, colour, hatch)
                end += length
        if remark and high >= _LABEL:
            yield Text(axis(end) + 4, y + high / 2 + 3, remark, _SMALL)


def _legend(panel: _Panel, frame: Frame) -> Iterator[Shape]:
    """Put the legend above the bars, in one row or two."""
    known = [(_LOOKS[operation], "") for operation in panel.operations]
    known += [((_OPEN, _UNFINISHED), _HATCHES[1])] * (_UNFINISHED in panel.remarks)
    columns = len(known) if len(known) <= 3 else math.ceil(len(known) / 2)
    for place, ((colour, words), hatch) in enumerate(known):
        x = frame.left + place % columns * panel.width / columns
        y = frame.top - 32 + 15 * (place // columns)
        yield _box(x, y, 14, 9, colour, hatch)
        yield Text(x + 18, y + 8, words)


def _box(x: float, y: float, width: float, height: float, colour: str, hatch: str) -> Box:
    """Draw a part of a bar; what is unfinished is hatched."""
    fill = _WHITE if hatch else colour
    return Box(x, y, width, height, fill, edge=colour, hatch=hatch)
