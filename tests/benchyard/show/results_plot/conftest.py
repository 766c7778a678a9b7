"""Sides of a picture, made of records by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchyard.core.model import Json, point_suffix
from benchyard.results.record import RunRecord
from benchyard.results.trust import Suspect
from benchyard.show.results_plot.cells import PlotSide, tell_apart
from benchyard.show.results_plot.chart import Chart, PlotKind
from benchyard.show.results_plot.choice import PlotRequest, make_charts
from tests.benchyard.analysis.comparison.conftest import run, run_set, step

SIX = (1.0, 1.1, 0.9, 1.05, 0.95, 1.02)
STEPS = {"load": SIX, "ask": tuple(2.0 * one for one in SIX)}


def records(
    durations: Mapping[str, Sequence[float]] = STEPS,
    point: Mapping[str, Json] | None = None,
    name: str = "tpch",
) -> list[RunRecord]:
    """Make runs of several steps, from the durations of each."""
    about = {"name": name, "title": name + point_suffix(point or {}), "point": dict(point or {})}
    columns = zip(*durations.values(), strict=True)
    return [
        run(n, *(step(d, name=s, index=i) for i, (s, d) in enumerate(timed, 1)), case=about)
        for n, column in enumerate(columns, 1)
        for timed in [zip(durations, column, strict=True)]
    ]


def times(*values: float) -> tuple[float, ...]:
    """Return six times around each value, one after the other."""
    return tuple(value * factor for value in values for factor in SIX)


def sides(*groups: Sequence[RunRecord], suspect: Suspect = Suspect.AUTO) -> tuple[PlotSide, ...]:
    found = [(f"folder{n}", run_set(group)) for n, group in enumerate(groups)]
    return tell_apart(found, suspect=suspect)


def charted(found: Sequence[PlotSide], kind: PlotKind | None = None, **request: Any) -> Chart:
    [chart] = make_charts(found, PlotRequest(kind, **request))
    return chart


def matrix(**values: Sequence[Json]) -> tuple[PlotSide, ...]:
    """Make a side for each point of a matrix, with the steps Load (1 s) and Ask (2 s)."""
    points: list[dict[str, Json]] = [{}]
    for name, several in values.items():
        points = [{**point, name: value} for point in points for value in several]
    return sides(*(records(point=point) for point in points))
