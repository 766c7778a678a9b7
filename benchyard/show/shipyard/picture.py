"""Nodes and runs as stacked bars, PNG or SVG: one bar for each, in order of their start."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchyard.core.wording import printable
from benchyard.show.plot import Format, picture
from benchyard.show.shipyard.assembling import Graph
from benchyard.show.shipyard.nodes import IMAGE_WORK, Kind, Node, Segment
from benchyard.show.shipyard.spans import Operation
from benchyard.show.shipyard.wording import UNFINISHED, after, clock

#: Distinct for the colour-blind, too. Source: Okabe and Ito 2008, Color Universal Design.
_COLOURS = {
    Operation.PREPARATION: "#0072b2",
    Operation.REGISTRY: "#cc79a7",
    Operation.CONTAINER: "#e69f00",
    Operation.RESOURCES: "#009e73",
    Operation.PULL: "#56b4e9",
    Operation.SAVE: "#999999",
    Operation.LOAD: "#f0e442",
    Operation.TORRENT: "#d55e00",
    Operation.INITIALIZE: "#0072b2",
    Operation.START: "#e69f00",
    Operation.READY: "#f0e442",
    Operation.STEP: "#009e73",
    Operation.STOP: "#cc79a7",
    Operation.RUN: "#cccccc",
}
_WORDS = {
    Operation.PREPARATION: "node preparation",
    Operation.REGISTRY: "private registry",
    Operation.CONTAINER: "container pull",
    Operation.RESOURCES: "global resources",
    Operation.STEP: "steps",
    Operation.RUN: "in no phase",
    Operation.PULL: "image pulls",
    Operation.SAVE: "saves",
    Operation.LOAD: "loads",
    Operation.TORRENT: "torrents",
}
_STYLE = {"font.size": 8.0, "hatch.linewidth": 0.8}
#: Inches: of a bar with many and with few others, of all bars at most, and of the margins.
_BAR, _BROAD_BAR, _TALLEST = 0.15, 0.24, 22.0
_ABOVE, _BELOW, _RIGHT, _BETWEEN, _TITLE = 0.5, 0.48, 0.35, 0.25, 0.22
_PHASES_WIDTH, _WORK_WIDTH = 6.0, 3.4
#: Inches of a letter of a label, and letters of the longest one.
_LETTER, _LONGEST = 0.064, 44
#: Labels nearer than that would touch (inches).
_LABEL = 0.115


@dataclass(frozen=True, slots=True)
class _Panel:
    """Bars beside each other: a row of the picture has one or two.

    Args:
        values: Each operation's length on each node.
        open: Operations that are unfinished on a node.
        remarks: What stands behind each bar.
    """

    axis: str
    values: Mapping[Operation, Sequence[Segment]]
    open: frozenset[Operation]
    remarks: Sequence[str]


def draw(graph: Graph, title: str, kind: Format) -> bytes:
    """Return the picture, as a file of that format."""
    return picture(lambda: _figure(graph, title), kind, _STYLE)


def _figure(graph: Graph, title: str) -> Any:
    rows = [(nodes, _panels(nodes)) for kind in Kind if (nodes := graph.of(kind))]
    labels = [_labels(nodes) for nodes, _ in rows]
    left = 0.2 + _LETTER * max(len(label) for row in labels for label in row)
    heights = [_height(len(nodes)) for nodes, _ in rows]
    columns = max(len(panels) for _, panels in rows)
    width = left + _PHASES_WIDTH + (_BETWEEN + _WORK_WIDTH) * (columns - 1) + _RIGHT
    height = _TITLE + sum(heights) + (_ABOVE + _BELOW) * len(rows)
    figure: Any = Figure(figsize=(width, height))
    figure.text(
        0.1 / width, 1 - 0.1 / height, printable(title), va="top", fontsize=11, weight="bold"
    )
    top = height - _TITLE
    for (_, panels), names, tall in zip(rows, labels, heights, strict=True):
        top -= _ABOVE + tall
        place = left
        for number, panel in enumerate(panels):
            wide = _WORK_WIDTH if number else _PHASES_WIDTH
            frame = (place / width, top / height, wide / width, tall / height)
            axes = figure.add_axes(frame)
            _draw(axes, panel, tall)
            _label(axes, names if number == 0 else (), len(names), tall)
            place += wide + _BETWEEN
        top -= _BELOW
    return figure


def _height(count: int) -> float:
    bar = _BROAD_BAR if count <= 40 else _BAR
    return max(0.5, min(_TALLEST, bar * count))


def _panels(nodes: Sequence[Node]) -> list[_Panel]:
    segments = [node.segments() for node in nodes]
    values = {op: [one[op] for one in segments] for op in segments[0]}
    what = "node's preparation" if nodes[0].kind is Kind.NODE else "run"
    remarks = ["" if node.is_finished else UNFINISHED for node in nodes]
    panels = [_panel(nodes, values, f"seconds of the {what}; what overlaps counts once", remarks)]
    # Bars of images are of what is finished; the rest is told in words.
    work = {op: [Segment(_total(node, op), 0.0) for node in nodes] for op in IMAGE_WORK}
    if any(node.work for node in nodes):
        left = [sum(one.open for one in node.work.values()) for node in nodes]
        remarks = [f"{count:,} {UNFINISHED}" if count else "" for count in left]
        panels.append(_panel(nodes, work, "seconds, summed over images", remarks))
    return panels


def _panel(
    nodes: Sequence[Node],
    values: Mapping[Operation, Sequence[Segment]],
    axis: str,
    remarks: Sequence[str],
) -> _Panel:
    images = IMAGE_WORK if nodes[0].kind is Kind.NODE else ()
    begun = {op for op in values if op not in images and any(node.is_open(op) for node in nodes)}
    used = {op: each for op, each in values.items() if any(map(any, each)) or op in begun}
    return _Panel(axis, used, frozenset(begun), remarks)


def _total(node: Node, operation: Operation) -> float:
    work = node.work.get(operation)
    return 0.0 if work is None else work.total


# -- one panel


def _draw(axes: Any, panel: _Panel, tall: float) -> None:
    count = len(panel.remarks)
    left: list[float] = [0.0] * count
    for operation, segments in panel.values.items():
        for hatch in (False, True):
            lengths = [segment.unfinished if hatch else segment.finished for segment in segments]
            _bars(axes, left, lengths, _COLOURS[operation], hatch=hatch)
            left = [a + b for a, b in zip(left, lengths, strict=True)]
    most = max([*left, 1e-9])
    axes.set_xlim(0, most * (1.16 if any(panel.remarks) else 1.02))
    axes.set_ylim(count - 0.4, -0.6)
    if tall / count >= _LABEL:
        for place, remark in enumerate(panel.remarks):
            axes.text(left[place] + most * 0.008, place, remark, va="center", fontsize=6.5)
    known: list[Any] = [
        Patch(color=_COLOURS[op], label=_WORDS.get(op, op.value)) for op in panel.values
    ]
    if panel.open:
        known.append(Patch(fill=False, hatch="////", edgecolor="#555555", label=UNFINISHED))
    if known:
        _legend(axes, known)
    axes.set_xlabel(panel.axis, fontsize=8)
    axes.grid(visible=True, axis="x", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _legend(axes: Any, known: Sequence[Any]) -> None:
    """Put the legend above the bars, where no bar can ever be."""
    above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3}
    columns = len(known) if len(known) <= 3 else math.ceil(len(known) / 2)
    axes.legend(
        handles=known, ncols=columns, frameon=False, fontsize=7.5, columnspacing=1.2, **above
    )


def _bars(
    axes: Any,
    left: Sequence[float],
    lengths: Sequence[float],
    colour: str,
    *,
    hatch: bool = False,
) -> None:
    """Draw bars as one collection: a thousand rectangles would take seconds."""
    corners = [
        ((x, y - 0.38), (x + wide, y - 0.38), (x + wide, y + 0.38), (x, y + 0.38))
        for y, (x, wide) in enumerate(zip(left, lengths, strict=True))
        if wide > 0
    ]
    if corners:
        look: Any = {"facecolor": colour, "edgecolor": "none", "linewidth": 0}
        if hatch:
            look = {"facecolor": "#ffffff", "edgecolor": colour, "hatch": "////", "linewidth": 0.8}
        axes.add_collection(PolyCollection(corners, **look))


def _label(axes: Any, names: Sequence[str], count: int, tall: float) -> None:
    """Name the bars; where they stand too close, every second or third one."""
    step = max(1, math.ceil(_LABEL * count / tall))
    places = list(range(0, count, step))
    axes.set_yticks(places, [names[place] for place in places] if names else [])
    axes.tick_params(axis="y", length=0, labelsize=8 if tall / count >= 0.2 else 6.5)
    axes.tick_params(axis="x", labelsize=7.5)


def _labels(nodes: Sequence[Node]) -> list[str]:
    """Return a label for each bar: nodes that start at once need their names."""
    first = min(node.start for node in nodes)
    return [f"{_shortened(printable(node.label))}  {_when(node, first)}" for node in nodes]


def _when(node: Node, first: float) -> str:
    if node.kind is Kind.RUN:
        return clock(node.start)[5:-2]
    return after(node.start - first)


def _shortened(label: str) -> str:
    if len(label) <= _LONGEST:
        return label
    return f"{label[: _LONGEST // 2 - 1]}…{label[-_LONGEST // 2 :]}"
