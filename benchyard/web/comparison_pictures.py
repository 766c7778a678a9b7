"""Pictures of a comparison. matplotlib takes half a second, so this is imported to draw."""

from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.samples import DURATION
from benchyard.show.plot import Format
from benchyard.show.results_plot import figure
from benchyard.show.results_plot.chart import Kind
from benchyard.show.results_plot.choice import Wish, make_chart
from benchyard.show.results_plot.sides import tell_apart
from benchyard.show.results_plot.size import Size
from benchyard.web.comparing import Compared


def drawn(shown: Compared, rule: Rule, kind: str, form: Format, width: float) -> bytes:
    """Draw the sides of a comparison.

    Args:
        kind: ``ratio`` or ``points``.
        width: Inches.

    Raises:
        InputError: If there is nothing to draw, or more than a picture has room for.
    """
    sides = tell_apart(_runs(shown), include_suspect=rule.include_suspect)
    metric = rule.metrics[0] if len(rule.metrics) == 1 else DURATION
    rows = shown.answer.comparison.rows
    steps = dict.fromkeys(step for row in rows for step in (row.baseline.id, row.candidate.id))
    chart = make_chart(sides, Wish(Kind(kind), metric, tuple(steps)))
    return figure.drawn(chart, Size(width), form)


def _runs(shown: Compared) -> list[tuple[str, RunSet]]:
    """Return each set of runs once, though several steps of it may be sides."""
    found = {
        (runs.folder, runs.numbers): (shown.label(name), runs)
        for name, runs in reversed(shown.run_sets)
    }
    return list(reversed(found.values()))
