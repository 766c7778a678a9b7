"""Which pictures a report has, the most telling first, and who draws them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import TypeAlias

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.errors import BenchyardError, RecordError
from benchyard.core.wording import printable
from benchyard.results.folders import run_folder
from benchyard.show.curves.panels import read_curves, steps_alone
from benchyard.show.curves.plot import draw
from benchyard.show.drawing import Drawing
from benchyard.show.results_plot.cells import tell_apart
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.choice import PlotRequest, make_charts
from benchyard.show.results_plot.figure import Size, chart_drawing
from benchyard.show.themes import PAGE
from benchyard.web.report.cases import CasePart
from benchyard.web.report.comparisons import ComparisonPart, ReportRequest

#: Points of a curve: in a report a few hundred pixels wide.
_POINTS = 160
#: Where the ids of a picture are: those of two pictures in a page must differ.
_ID = re.compile(r'(?<= id=")(?=[^"]*")|(?<="url\(#)(?=[^"]*\)")')

#: A colour of an attribute: thousands of shapes have the same.
_COLOUR = re.compile(r'(?<==")light-dark\([#0-9a-f,]+\)(?=")')


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture, drawn.

    Args:
        look: Class of the element around it.
        caption: Sentences below it.
    """

    svg: str
    look: str
    caption: tuple[str, ...]

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return len(self.svg.encode()) + sum(map(len, self.caption)) + 300


#: The place of its case, None for the comparison; and what draws it, or returns None.
Planned: TypeAlias = tuple[int | None, Callable[[], DrawnPicture | None]]


def planned(
    cases: Sequence[CasePart], compared: ComparisonPart | None, request: ReportRequest
) -> Iterator[Planned]:
    """Yield the pictures of a report, the most telling first."""
    metric = request.rule.main_metric
    for place, pair in enumerate(compared.pairs if compared else ()):
        both = ((pair.baseline_side, pair.baseline), (pair.candidate_side, pair.candidate))
        sides = [(request.label(name), runs) for name, runs in both]
        yield None, partial(_chart, sides, PlotKind.RATIO, metric, request, f"c{place}-")
    for kind in (PlotKind.POINTS, None, PlotKind.STRIPS):
        for place, case in enumerate(cases):
            if kind is None:
                yield place, partial(_timeline, case, f"p{place}-")
            else:
                side, prefix = [(case.side, case.runs)], f"{kind}{place}-"
                yield place, partial(_chart, side, kind, metric, request, prefix)


def _chart(
    sides: Sequence[tuple[str, RunSet]],
    kind: PlotKind,
    metric: str,
    request: ReportRequest,
    prefix: str,
) -> DrawnPicture | None:
    described = tell_apart(sides, suspect=request.rule.suspect)
    with suppress(BenchyardError):  # what cannot be drawn is in the tables, with the reason
        charts = make_charts(described, PlotRequest(kind, (metric,), request.rule.steps))
        drawing, chart = chart_drawing([replace(c, caption=()) for c in charts], Size()), charts[0]
        name = f"{kind} of {chart.title}: {chart.quantity}"
        return DrawnPicture(_inside(drawing, name, prefix), "rows", chart.caption)
    return None


def _timeline(case: CasePart, prefix: str) -> DrawnPicture | None:
    """Draw the run that stands for all; its steps alone where there are no curves."""
    runs = case.runs
    chosen = [r for r in runs.everything if r.run == case.median_run] or runs.everything[-1:]
    try:
        curves = read_curves(run_folder(runs.folder, chosen[0].run), _POINTS)
    except RecordError:
        curves = steps_alone(chosen[0])
    if not (curves.bars and curves.length_s > 0):
        return None
    what = "the median run" if case.median_run == chosen[0].run else f"run {chosen[0].run}"
    words = f"What happened when in {what}: steps, and phases of resources striped below them."
    svg = _inside(draw(curves), f"Timeline of run {chosen[0].run}", prefix)
    return DrawnPicture(svg, "timeline", (words,))


def _inside(drawing: Drawing, name: str, prefix: str) -> str:
    """Return an SVG for a page, dark where it is, with ids of its own and each colour once.

    Texts in it are escaped, so that a quotation mark is one of the markup's.
    """
    names: dict[str, str] = {}
    svg = _COLOUR.sub(
        lambda colour: names.setdefault(colour[0], f"var(--c{len(names)})"),
        _ID.sub(prefix, drawing.svg(PAGE)),
    )
    colours = ";".join(f"{name[4:-1]}:{colour}" for colour, name in names.items())
    head = f'<svg id="{prefix}svg" role="img" aria-label="{escape(printable(name))}" '
    style = f"><style>#{prefix}svg{{{colours}}}</style>"
    return svg.replace("<svg ", head, 1).replace(">", style, 1)
