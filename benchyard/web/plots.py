"""The pictures of ``benchyard plot`` as those of a page."""

from collections.abc import Sequence
from dataclasses import replace

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.errors import InputError
from benchyard.results.trust import Suspect
from benchyard.show.drawing import Drawing
from benchyard.show.results_plot.choice import PlotRequest, make_chart
from benchyard.show.results_plot.figure import Size, chart_drawing
from benchyard.show.results_plot.sides import tell_apart
from benchyard.web.pictures import WIDTHS, Width

#: Cases in one picture, and executions of steps, each a mark: more take seconds to draw.
MOST_CASES, MOST_MARKS = 60, 12_000
#: So many marks are enough where nobody asked for them all.
_ENOUGH_MARKS = 3_000


def limited(run_set: RunSet, among: int = 1) -> RunSet:
    """Return the newest runs of a set, as many as a picture has room for.

    Args:
        among: How many such sets share the picture.
    """
    steps = max((len(record.steps) for record in run_set.records), default=1)
    runs = max(20, _ENOUGH_MARKS // max(1, steps * among))
    return replace(run_set, records=run_set.records[-runs:])


def draw_sides(
    found: Sequence[tuple[str, RunSet]],
    wish: PlotRequest,
    width: Width,
    *,
    suspect: Suspect = Suspect.AUTO,
    remark: str = "",
) -> Drawing:
    """Draw results.

    Args:
        found: Where each set of runs is, and the runs.
        remark: A sentence below the picture.

    Raises:
        InputError: If there is nothing of what is asked for, or more than a picture has room for.
    """
    found = [(place, run_set) for place, run_set in found if run_set.everything]
    if not found:
        raise InputError("there is no finished run to draw")
    marks = sum(len(record.steps) for _, run_set in found for record in run_set.records)
    if marks > MOST_MARKS:
        raise InputError(
            f"a picture has room for {MOST_MARKS:,} executions of steps, not for {marks:,}; "
            "choose fewer cases, or some of their runs"
        )
    chart = make_chart(tell_apart(found, suspect=suspect), wish)
    if remark:
        chart = replace(chart, caption=(*chart.caption, remark))
    return chart_drawing(chart, Size(WIDTHS[width], titled=len(found) > 1))
