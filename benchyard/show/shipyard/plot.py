"""Nodes and runs as stacked bars, PNG or SVG: one bar for each, in order of their start."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchyard.core.quantity import shorten
from benchyard.core.wording import printable
from benchyard.show.plot import Format, picture
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
_STYLE = {"font.size": 8.0, "hatch.linewidth": 0.8}
#: Inches: of a bar with many and with few others, of all bars at most, and of the margins.
_BAR, _BROAD_BAR, _TALLEST = 0.15, 0.24, 22.0
_ABOVE, _BELOW, _RIGHT, _BETWEEN, _TITLE = 0.5, 0.48, 0.35, 0.25, 0.22
_PHASES_WIDTH, _WORK_WIDTH = 6.0, 3.4
#: Inches of a letter of a label, and letters of the longest one.
_LETTER, _LONGEST = 0.064, 44
#: Labels nearer than that would touch (inches).
_LABEL = 0.115


class _Panel(NamedTuple):
    """Stacked bars on one axis; a row of the picture has one or two panels.

    Args:
        axis: What the bars are of.
        wide: Inches.
        values: Each operation's length on each node.
        remarks: What stands behind each bar.
        is_open: Whether any of the operations is unfinished.
    """

    axis: str
    wide: float
    values: Mapping[Operation, Sequence[Segment]]
    remarks: Sequence[str]
    is_open: bool = False


def draw(graph: Graph, title: str, kind: Format) -> bytes:
    """Return the picture, as a file of that format."""
    return picture(lambda: _figure(graph, title), kind, _STYLE)


def _figure(graph: Graph, title: str) -> Any:
    rows = [(_labels(nodes), _panels(nodes)) for kind in BarKind if (nodes := graph.of(kind))]
    left = 0.2 + _LETTER * max(len(label) for labels, _ in rows for label in labels)
    broadest = max(sum(panel.wide + _BETWEEN for panel in panels) for _, panels in rows)
    width = left + broadest - _BETWEEN + _RIGHT
    height = _TITLE + sum(_height(labels) + _ABOVE + _BELOW for labels, _ in rows)
    figure: Any = Figure(figsize=(width, height))
    figure.text(
        0.1 / width, 1 - 0.1 / height, printable(title), va="top", fontsize=11, weight="bold"
    )
    top = height - _TITLE
    for labels, panels in rows:
        tall, place = _height(labels), left
        top -= _ABOVE + tall
        for panel in panels:
            frame = (place / width, top / height, panel.wide / width, tall / height)
            axes = figure.add_axes(frame)
            _draw(axes, panel, tall)
            _label(axes, labels, tall, named=panel is panels[0])
            place += panel.wide + _BETWEEN
        top -= _BELOW
    return figure


def _height(labels: Sequence[str]) -> float:
    bar = _BROAD_BAR if len(labels) <= 40 else _BAR
    return max(0.5, min(_TALLEST, bar * len(labels)))


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


def _draw(axes: Any, panel: _Panel, tall: float) -> None:
    count = len(panel.remarks)
    left = [0.0] * count
    for operation, segments in panel.values.items():
        colour, _ = _LOOKS[operation]
        hatched = {"facecolor": "#ffffff", "edgecolor": colour, "hatch": "////", "linewidth": 0.8}
        left = _bars(
            axes,
            left,
            [one.finished for one in segments],
            {"facecolor": colour, "edgecolor": "none", "linewidth": 0},
        )
        left = _bars(axes, left, [one.unfinished for one in segments], hatched)
    most = max([*left, 1e-9])
    axes.set_xlim(0, most * (1.16 if any(panel.remarks) else 1.02))
    axes.set_ylim(count - 0.4, -0.6)
    if tall / count >= _LABEL:
        for place, remark in enumerate(panel.remarks):
            axes.text(left[place] + most * 0.008, place, remark, va="center", fontsize=6.5)
    _legend(axes, panel)
    axes.set_xlabel(panel.axis, fontsize=8)
    axes.grid(visible=True, axis="x", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _bars(
    axes: Any, left: Sequence[float], lengths: Sequence[float], look: Mapping[str, Any]
) -> list[float]:
    """Draw bars as one collection, for a thousand rectangles take seconds; return their ends."""
    ends = [start + wide for start, wide in zip(left, lengths, strict=True)]
    corners = [
        ((x, y - 0.38), (end, y - 0.38), (end, y + 0.38), (x, y + 0.38))
        for y, (x, end) in enumerate(zip(left, ends, strict=True))
        if end > x
    ]
    if corners:
        axes.add_collection(PolyCollection(corners, **look))
    return ends


def _legend(axes: Any, panel: _Panel) -> None:
    """Put the legend above the bars."""
    looks = [_LOOKS[operation] for operation in panel.values]
    known: list[Any] = [Patch(color=colour, label=words) for colour, words in looks]
    if panel.is_open:
        known.append(Patch(fill=False, hatch="////", edgecolor="#555555", label=UNFINISHED))
    if known:
        columns = len(known) if len(known) <= 3 else math.ceil(len(known) / 2)
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3}
        letters = {"frameon": False, "fontsize": 7.5, "columnspacing": 1.2}
        axes.legend(handles=known, ncols=columns, **letters, **above)


def _label(axes: Any, names: Sequence[str], tall: float, *, named: bool) -> None:
    """Label the bars; where labels would overlap, only every n-th one."""
    step = max(1, math.ceil(_LABEL * len(names) / tall))
    places = list(range(0, len(names), step))
    axes.set_yticks(places, [names[place] for place in places] if named else [])
    axes.tick_params(axis="y", length=0, labelsize=8 if tall / len(names) >= 0.2 else 6.5)
    axes.tick_params(axis="x", labelsize=7.5)


def _labels(nodes: Sequence[Node]) -> list[str]:
    """Return a label for each bar: name and start."""
    first = min(node.start for node in nodes)
    is_node = nodes[0].kind is BarKind.NODE
    when = [after(n.start - first) if is_node else clock(n.start)[5:-2] for n in nodes]
    return [
        f"{shorten(printable(n.label), _LONGEST, 2)}  {at}"
        for n, at in zip(nodes, when, strict=True)
    ]
