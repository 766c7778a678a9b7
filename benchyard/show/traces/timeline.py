"""A trace as a picture, PNG or SVG: boxes for slices, marks for instants, curves for counters."""

from collections import Counter as Counts
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from benchyard.core.errors import InputError
from benchyard.core.outputs import write
from benchyard.core.quantity import formatter, moment, number, shorten, tick
from benchyard.core.wording import printable
from benchyard.show.drawing import colour_of
from benchyard.show.plot import Format, format_of, picture
from benchyard.show.traces.timeline_layout import Lane, Layout, TimeAxis, lay_out, thinned
from benchyard.traces.model import Counter, Instant, Trace

#: Boxes that one picture has room for; an SVG of so many has 5 MB.
MOST_BOXES = 20_000
#: Names that are written into boxes, those of the widest.
_MOST_NAMES = 1500
#: Kinds of instants with a mark of their own; the others share one.
_MOST_MARKS = 7
#: Inches: of the picture, of what stands beside the panels, of a row and of a curve.
_WIDTH, _LEFT, _RIGHT = 13.0, 1.9, 1.0
_ROW, _CURVE, _GAP, _BELOW, _LINE = 0.185, 0.36, 0.16, 0.42, 0.17
_PIXELS = int((_WIDTH - _LEFT - _RIGHT) * 110)
#: Points: size of the letters, and how wide one is at most, on the average.
_LETTERS, _LETTER = 7.0, 4.5
#: Characters that the margins have room for, and the whole width.
_LABEL, _LONGEST_LINE = 30, 170
#: Room above a track for its marks, in rows; and above one without any.
_FOR_MARKS, _APART = 0.75, 0.3
_INK, _FAINT, _BAND, _CURVES, _WRONG = "#222222", "#8a8f98", "#f1f2f4", "#3b6ea5", "#c0162c"
_MARKS = ("v", "X", "D", "s", "P", "^", "*")
#: Colours that most people with impaired colour vision tell apart, from dark to light.
#: Source: M. Okabe, K. Ito, Color Universal Design (2002).
_MARK_COLOURS = ("#d55e00", "#0072b2", "#000000", "#cc79a7", "#009e73", "#e69f00", "#56b4e9")
_STYLE = {"font.size": _LETTERS, "axes.linewidth": 0.5}


def draw_timeline(trace: Trace, path: Path, title: str = "", *, most: int = MOST_BOXES) -> None:
    """Draw a trace: each track in rows of boxes, by process, with its counters below.

    A name has the same colour in every picture. What failed has a red edge. Slices that the
    picture has no room for are drawn together, which it says. The same trace gives the same file.

    Args:
        trace: Any.
        path: Replaced whole; its ending decides the format, SVG or else PNG.
        title: Above all; the names of the processes if left out.
        most: So many boxes at most.

    Raises:
        InputError: If the trace holds nothing that could be drawn.
        OSError: If the file cannot be written.
    """
    write(path, timeline_picture(trace, format_of(path), title, most=most))


def timeline_picture(
    trace: Trace, kind: Format, title: str = "", *, most: int = MOST_BOXES
) -> bytes:
    """Return a timeline as a file's content; see ``draw_timeline``.

    Raises:
        InputError: If the trace holds nothing that could be drawn.
    """
    layout = lay_out(trace, most, _PIXELS)
    if not layout.processes:
        raise InputError("the trace has no slices, instants or counters, so there is no timeline")
    drawing = _Drawing(layout, title or ", ".join(layout.processes))
    return picture(drawing.figure, kind, _STYLE)


class _Drawing:
    """A timeline while it is drawn."""

    def __init__(self, layout: Layout, title: str) -> None:
        self._layout = layout
        self._title = title
        self._time = TimeAxis.of(layout)
        self._marks = _marks(layout.trace.instants)
        self._marked = {one.track for one in layout.trace.instants}

    def figure(self) -> Any:
        """Draw it all."""
        layout, notes = self._layout, self._notes()
        heads = _LINE * (3 if self._marks else 2) + 0.12
        heights = [height for process in layout.processes for height in self._heights(process)]
        below = _BELOW + _LINE * len(notes)
        height = heads + sum(heights) + below
        figure: Any = Figure(figsize=(_WIDTH, height))
        top = height - heads
        panels: list[Any] = []
        for process in layout.processes:
            for draw, tall in zip(self._panels(process), self._heights(process), strict=True):
                bottom = top - tall + _GAP / 2
                frame = (_LEFT, bottom, _WIDTH - _LEFT - _RIGHT, tall - _GAP / 2)
                scale = (_WIDTH, height, _WIDTH, height)
                panels.append(figure.add_axes([a / b for a, b in zip(frame, scale, strict=True)]))
                self._dress(panels[-1])
                draw(panels[-1])
                top -= tall
        self._finish(figure, panels[-1], height, notes)
        return figure

    # -- around the panels

    def _notes(self) -> list[str]:
        return [shorten(printable(note), _LONGEST_LINE) for note in self._layout.notes]

    def _finish(self, figure: Any, lowest: Any, height: float, notes: Sequence[str]) -> None:
        lowest.tick_params(axis="x", labelbottom=True, length=3)
        lowest.set_xlabel(f"time since the start ({self._time.unit})", color=_INK, labelpad=2)
        head: Any = {"va": "top", "color": _INK}
        left = 0.12 / _WIDTH
        title = shorten(printable(self._title), 120)
        figure.text(left, 1 - 0.07 / height, title, fontsize=10, weight="bold", **head)
        figure.text(left, 1 - (0.1 + _LINE) / height, self._summary(), **head)
        for place, note in enumerate(reversed(notes)):
            figure.text(left, (0.06 + _LINE * place) / height, note, va="bottom", color=_FAINT)
        if self._marks:
            handles = [
                Line2D([], [], linestyle="", label=label, **look)
                for label, look in dict(self._marks.values()).items()
            ]
            place = ((left - 0.004) * 1.0, 1 - (0.06 + 2 * _LINE) / height)
            look: Any = {"frameon": False, "borderpad": 0, "handletextpad": 0.1}
            figure.legend(
                handles=handles,
                loc="upper left",
                bbox_to_anchor=place,
                ncols=len(handles),
                columnspacing=1.2,
                borderaxespad=0.2,
                **look,
            )

    def _summary(self) -> str:
        trace = self._layout.trace
        span = number(self._time.length / self._time.per_unit, 4)
        parts = [f"{len(trace.slices):,} slices on {len(trace.tracks):,} tracks"]
        parts.append(f"{span} {self._time.unit}")
        if trace.zero is not None and (began := moment((trace.zero + self._layout.first) // 10**9)):
            parts.append(f"from {began}")
        if self._layout.boxes.failed.any():
            parts.append("red edge: failed")
        return "; ".join(parts)

    def _dress(self, axes: Any) -> None:
        axes.set_xlim(*self._time.limits)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=11, steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_formatter(formatter(lambda value: number(value, 6)))
        axes.grid(visible=True, axis="x", linewidth=0.4, color="#dfe2e6")
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color("#cdd1d6")
        axes.tick_params(axis="x", labelbottom=False, length=0, labelsize=_LETTERS)
        axes.set_yticks([])

    def _heights(self, process: str) -> Iterator[float]:
        """Yield the height of each panel of a process (inch)."""
        lanes = self._layout.lanes.get(process, ())
        yield self._tops(lanes)[1] * _ROW + _GAP
        for _ in self._layout.counters.get(process, ()):
            yield _CURVE + _GAP / 2

    def _panels(self, process: str) -> Iterator[Callable[[Any], None]]:
        yield partial(self._lanes, process)
        for counter in self._layout.counters.get(process, ()):
            yield partial(self._counter, counter)

    # -- tracks

    def _tops(self, lanes: Sequence[Lane]) -> tuple[dict[int, float], float]:
        """Return where each track begins, in rows below the process's name, and the whole."""
        at, tops = 1.0, dict[int, float]()
        for lane in lanes:
            at += _FOR_MARKS if lane.track in self._marked else _APART
            tops[lane.track] = at
            at += lane.rows
        return tops, at + 0.2

    def _lanes(self, process: str, axes: Any) -> None:
        lanes = self._layout.lanes.get(process, ())
        tops, whole = self._tops(lanes)
        axes.set_ylim(whole, 0)
        _label(axes, 0.5, process, "data", weight="bold", fontsize=8, color=_INK)
        trace = self._layout.trace
        for lane in lanes:
            top = tops[lane.track]
            axes.axhspan(top, top + lane.rows, color=_BAND, linewidth=0, zorder=0.5)
            _label(axes, top + 0.5, trace.tracks[lane.track].thread, "data", color=_INK)
        self._boxes(axes, tops)
        self._instants(axes, tops)

    def _boxes(self, axes: Any, tops: Mapping[int, float]) -> None:
        boxes = self._layout.boxes
        boxes = boxes.taken(np.isin(boxes.track, [*tops]))
        if not len(boxes):
            return
        names = self._layout.trace.names
        which: list[int] = boxes.name.tolist()
        colours = {name: colour_of(names[name]) for name in set(which)}
        begins = np.zeros(len(self._layout.trace.tracks))
        begins[[*tops]] = [*tops.values()]
        upper = begins[boxes.track] + boxes.level + 0.06
        left, right = self._time(boxes.start), self._time(boxes.end)
        # What is thinner than half a pixel would not be seen.
        right = np.maximum(right, left + 0.5 * self._time.length / self._time.per_unit / _PIXELS)
        lower = upper + 0.88
        corners = ((left, upper), (right, upper), (right, lower), (left, lower))
        wide = (right - left) * self._time.per_unit / self._time.length * _PIXELS
        edges = np.where(boxes.failed, _WRONG, "white")
        drawn = PolyCollection(
            [*np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)],
            facecolors=[colours[name] for name in which],
            edgecolors=edges.tolist(),
            linewidths=np.where(boxes.failed, 0.9, np.where(wide > 4, 0.4, 0.0)),
            zorder=2,
        )
        axes.add_collection(drawn, autolim=False)
        self._names(axes, boxes.name, left, upper + 0.46, wide)

    def _names(
        self,
        axes: Any,
        name: NDArray[np.int64],
        left: NDArray[np.float64],
        middle: NDArray[np.float64],
        wide: NDArray[np.float64],
    ) -> None:
        """Write names into the boxes that are wide enough."""
        points = wide / 110 * 72
        # Less than three letters tell nothing.
        fit = np.flatnonzero(points > 3 * _LETTER)
        fit = fit[np.argsort(-points[fit], kind="stable")][:_MOST_NAMES]
        indent = 2.2 / 72 * 110 / _PIXELS * self._time.length / self._time.per_unit
        for place in fit.tolist():
            room = int((points[place] - 4) / _LETTER)
            text = printable(self._layout.trace.names[int(name[place])])
            if len(text) <= room or room >= 5:
                at = (left[place] + indent, middle[place])
                axes.text(*at, shorten(text, room), va="center", fontsize=6.5, zorder=3)

    def _instants(self, axes: Any, tops: Mapping[int, float]) -> None:
        places: dict[str, list[tuple[int, float]]] = {}
        for one in self._layout.marks:
            if one.track in tops:
                places.setdefault(one.name, []).append((one.time, tops[one.track] - 0.32))
        for name, several in places.items():
            _, look = self._marks[name]
            times = self._time(np.array([time for time, _ in several], np.int64))
            heights = [height for _, height in several]
            axes.plot(times, heights, linestyle="", clip_on=False, zorder=4, **look)

    # -- counters

    def _counter(self, counter: Counter, axes: Any) -> None:
        known = np.isfinite(counter.values)
        times, values = thinned(
            self._time(counter.times[known]), counter.values[known], self._time.limits[1] / _PIXELS
        )
        low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
        axes.set_ylim(low - 0.04 * (high - low), high + 0.08 * (high - low))
        axes.fill_between(times, values, step="post", color=_CURVES, alpha=0.25, linewidth=0)
        axes.plot(times, values, drawstyle="steps-post", color=_CURVES, linewidth=0.7)
        _label(axes, 0.5, counter.name, "axes fraction", color=_CURVES)
        most = f"≤ {tick(high, counter.unit).strip()}" if low == 0 else f"{low:.3g} to {high:.3g}"
        beside: Any = {"xycoords": "axes fraction", "va": "center", "annotation_clip": False}
        axes.annotate(shorten(printable(most), 16), (1.008, 0.5), color=_CURVES, **beside)


def _label(axes: Any, at: float, text: str, system: str, **look: Any) -> None:
    """Write what a row or a curve is into the margin, at a height in a system of coordinates."""
    shown = shorten(printable(text), _LABEL)
    inner = _WIDTH - _LEFT - _RIGHT
    axes.annotate(
        shown,
        (-(_LEFT - 0.12) / inner, at),
        xycoords=("axes fraction", system),
        va="center",
        annotation_clip=False,
        **{"fontsize": 7.5, **look},
    )


def _marks(instants: Sequence[Instant]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the label and the look of the mark of each name, those seen most often first."""
    counts = Counts(one.name for one in instants)
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    marks: dict[str, tuple[str, dict[str, Any]]] = {}
    for place, name in enumerate(ordered):
        own = place < _MOST_MARKS - 1 or len(ordered) == _MOST_MARKS
        kind = place if own else _MOST_MARKS - 1
        label = f"{shorten(printable(name), 24)} ({counts[name]:,})"
        if not own:
            rest = sum(counts[one] for one in ordered[_MOST_MARKS - 1 :])
            label = f"others ({rest:,})"
        look = {"marker": _MARKS[kind], "color": _MARK_COLOURS[kind], "markersize": 4.5}
        marks[name] = label, {**look, "markeredgewidth": 0}
    return marks
