"""Draw the sheet of ``docs/how-to/plotting.md``: one example a picture, light, dark, in print.

python docs/pictures/sheet.py
"""

import math
from pathlib import Path

import numpy as np

from benchyard.core.model import Outcome
from benchyard.show.curves.panels import Bar, Curves, Phase
from benchyard.show.curves.plot import draw as draw_curves
from benchyard.show.curves.thinning import ThinLine, ThinPanel
from benchyard.show.drawing import Dots, Drawing
from benchyard.show.drawing import Line as Stroke
from benchyard.show.history import plot
from benchyard.show.results_plot.chart import Chart, Mark, PlotKind, PlotPanel
from benchyard.show.results_plot.figure import Size, chart_drawing
from benchyard.show.themes import DARK, LIGHT, Theme
from benchyard.show.traces.flame import flame_drawing
from benchyard.show.traces.timeline import timeline_drawing
from benchyard.traces.building import TraceBuilder

_WIDTH, _GAP = 720, 12
_STEPS = ("load", "map", "query")
_RUNS = (0.93, 0.98, 1.0, 1.01, 1.04, 1.1)


def _grey(colour: str) -> str:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return "#" + 3 * f"{round(0.2126 * red + 0.7152 * green + 0.0722 * blue):02x}"


def _ink(colour: str) -> str:
    """Return black for what has a hue or is dark, and light grey as it is."""
    shades = bytes.fromhex(colour.removeprefix("#"))
    return _grey(colour) if min(shades) > 0x80 and max(shades) - min(shades) < 0x20 else "#000000"


#: Black on white: series differ by their marks, dashes and patterns.
PRINT = Theme(_grey, _ink)


def main() -> None:
    """Write ``sheet.svg``, ``sheet-dark.svg`` and ``sheet-print.svg`` beside this program."""
    folder = Path(__file__).parent
    for name, theme in (("sheet", LIGHT), ("sheet-dark", DARK), ("sheet-print", PRINT)):
        (folder / f"{name}.svg").write_text(_sheet(theme))


def _sheet(theme: Theme) -> str:
    drawings = [*(chart_drawing([_chart(kind)], Size()) for kind in PlotKind), _curves(), _flame()]
    drawings += [_history(), _timeline()]
    heights = [0.0, 0.0]
    parts: list[str] = []
    for drawing in drawings:
        if drawing.width > _WIDTH:  # it is below both columns
            heights = [max(heights)] * 2
        column = heights.index(min(heights))
        place = f'<svg x="{column * (_WIDTH + _GAP)}" y="{heights[column]:g}" '
        parts.append(drawing.svg(theme).replace("<svg ", place, 1))
        heights[column] += drawing.height + _GAP
    size = f'width="{2 * _WIDTH + _GAP}" height="{max(heights):g}"'
    paper = f'<rect {size} fill="{theme.area("#ffffff")}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{paper}\n{"".join(parts)}</svg>\n'


def _chart(kind: PlotKind) -> Chart:
    names = ("baseline",) if kind is PlotKind.RATIO else ("baseline", "candidate")
    scale = 0.25 if kind is PlotKind.RATIO else 1.0
    marks = [
        _mark(at, side, scale * 2.0**at * (1 + 0.2 * side))
        for side in range(len(names))
        for at in (0, 1, 2)
    ]
    panel = PlotPanel("", tuple(marks), _STEPS)
    unit = "" if kind is PlotKind.RATIO else "s"
    title = f"--kind {kind}"
    return Chart(
        kind, title, "time", unit, (panel,), names, (), "step", log_values=kind is PlotKind.RATIO
    )


def _mark(at: int, side: int, median: float) -> Mark:
    values = tuple(median * run for run in _RUNS)
    return Mark(median, values[0], values[-1], values, at, side)


def _curves() -> Drawing:
    at = [place / 5 for place in range(200)]
    host, own = (scale * (1 + np.sin(np.array(at) / 3)) for scale in (1.4, 0.8))
    both = (("host", host), ("PostgreSQL", own))
    lines = [ThinLine(name, name == "host", one, one, one) for name, one in both]
    panel = ThinPanel("CPU", "cores", lines)
    bars = (Bar(1, "load", 4, 16, Outcome.COMPLETED), Bar(2, "query", 16, 36, Outcome.FAILED))
    phases = (Phase("start", "PostgreSQL", 0, 4, Outcome.COMPLETED),)
    return draw_curves(Curves("--curves", 40.0, at, (panel,), bars, 200, phases), _WIDTH)


def _flame() -> Drawing:
    totals = {("main",): 3.0, ("main", "parse"): 1.0, ("main", "join"): 1.7, ("other",): 1.0}
    return flame_drawing({**totals, ("main", "join", "sort"): 0.9}, "--flame", width=_WIDTH)


def _history() -> Drawing:
    days = [1_767_225_600.0 + 86_400 * day for day in range(40)]
    points = [(at, 0.2 + 0.02 * math.sin(day) + 0.1 * (day > 24)) for day, at in enumerate(days)]
    shapes = [Stroke(points, "#3b6ea5"), Dots(points, 0, "#3b6ea5", 2)]
    panel = plot.Panel("history", "0.3 s", "s", shapes, [(days[25], "DuckDB 1.2.2 and 2.0.0")])
    return plot.panels_drawing([panel], _WIDTH, 1, 150, [])


def _timeline() -> Drawing:
    made = TraceBuilder()
    engine, database = made.track("bench1", "engine"), made.track("bench1", "PostgreSQL")
    made.slice(engine, "run", 0, 9 * 10**9)
    made.slice(engine, "query", 4 * 10**9, 4 * 10**9, {"outcome": "failed"})
    made.slice(database, "start", 0, 3 * 10**9)
    made.instant(engine, "retry", 6 * 10**9)
    for second in range(10):
        made.count("bench1", "CPU", second * 10**9, 1 + math.sin(second), "cores")
    return timeline_drawing(made.trace(), "timeline of a trace")


if __name__ == "__main__":
    main()
