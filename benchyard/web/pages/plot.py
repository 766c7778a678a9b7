"""Any picture of results: the same choices as ``benchyard plot``, by the address."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from benchyard.analysis.comparison.run_sets import RunSet, read_run_sets
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import choose_metrics
from benchyard.catalogue.catalogue import Catalogue
from benchyard.core.errors import InputError
from benchyard.core.quantity import shorten
from benchyard.results.trust import Suspect
from benchyard.show.results_plot.chart import Kind as PlotKind
from benchyard.show.results_plot.choice import Wish
from benchyard.web.case_results import known_metrics, read_case, reader
from benchyard.web.explorer import Current
from benchyard.web.pictures import Kind, Picture, Width, add_picture
from benchyard.web.plots import draw_sides
from benchyard.web.rendering import render
from benchyard.web.sides import Chosen, choose

router = APIRouter()

_SCALES = {"log": True, "linear": False}
_CHOICES = ("kind", "metric", "steps", "x", "series", "reference", "scale", "suspect")


def _wish(
    kind: Annotated[PlotKind | Literal[""], Query(description="What it looks like.")] = "",
    metric: Annotated[str, Query(description="What is drawn.")] = DURATION,
    steps: Annotated[list[str] | None, Query(description="Ids, names or globs.")] = None,
    x: Annotated[str, Query(description="Parameter of the matrix along the axis.")] = "",
    series: Annotated[str, Query(description="Parameter whose values have a colour each.")] = "",
    reference: Annotated[str, Query(description="What ratios are to.")] = "",
    scale: Annotated[str, Query(pattern="^(log|linear)?$", description="Of the axes.")] = "",
) -> Wish:
    every = (name.strip() for text in steps or () for name in text.split(","))
    return Wish(
        kind or None,
        metric,
        tuple(name for name in every if name),
        x or None,
        series or None,
        reference or None,
        _SCALES.get(scale),
    )


_Sides = Annotated[list[str] | None, Query(description="`CASE`, `CASE@1-5` or `RUN,RUN`: ids.")]
_Wished = Annotated[Wish, Depends(_wish)]
_Suspect = Annotated[Suspect, Query(description="What becomes of suspect executions.")]


def plot(
    explorer: Current,
    wish: _Wished,
    side: _Sides = None,
    suspect: _Suspect = Suspect.AUTO,
) -> Picture:
    """Draw chosen results."""
    chosen = choose(explorer.catalogue, side or ())

    def draw(kind: Kind, width: Width) -> bytes:
        read = partial(_run_sets, explorer.catalogue, metric=wish.metric)
        found = [(one.path, run_set) for one in chosen for run_set in read(one)]
        _refuse_unknown(found, wish.metric)
        return draw_sides(found, wish, kind, width, suspect=suspect)

    titles = shorten(", ".join(dict.fromkeys(one.title for one in chosen)), 200)
    query = {"side": [one.text for one in chosen], **_query(wish, suspect)}
    caption, alt = f"Results of {titles}.", f"{wish.metric} of {titles}, as {wish.kind or 'plot'}"
    instead = "" if chosen else "Choose cases or runs: their ids stand in their addresses."
    return Picture("plot", caption if chosen else "", alt, "/plot", draw, query, instead=instead)


def _query(wish: Wish, suspect: Suspect) -> dict[str, Any]:
    scales = {value: name for name, value in _SCALES.items()}
    given = {
        "kind": wish.kind and wish.kind.value,
        "metric": wish.metric if wish.metric != DURATION else None,
        "steps": ",".join(wish.steps),
        "x": wish.x,
        "series": wish.series,
        "reference": wish.reference,
        "scale": None if wish.log is None else scales[wish.log],
        "suspect": suspect.value if suspect is not Suspect.AUTO else None,
    }
    return {name: text for name, text in given.items() if text}


def _run_sets(catalogue: Catalogue, chosen: Chosen, metric: str) -> list[RunSet]:
    if chosen.step is not None:
        raise InputError(f"{chosen.text}: write the step as steps={chosen.step}")
    if chosen.selection.runs is None:
        return [read_case(catalogue.case(chosen.text), metric).run_set]
    return list(read_run_sets(chosen.selection, reader(metric)).values())


def _refuse_unknown(found: Sequence[tuple[str, RunSet]], metric: str) -> None:
    """Refuse a metric that no case knows, and tell which there are."""
    if metric == DURATION:
        return
    there = [run_set for _, run_set in found if run_set.everything]
    newest = [(run_set.folder, run_set.everything[-1]) for run_set in there]
    known = [name for folder, record in newest for name in known_metrics(folder, record)]
    choose_metrics(known, [metric])


add_picture(router, "/plot", plot)


@router.get("/plot", include_in_schema=False)
def page(request: Request, shown: Annotated[Picture, Depends(plot)]) -> Response:
    """Show a picture and its choices."""
    return render(
        request,
        "plot.html",
        title="Plot",
        shown=shown,
        sides=shown.query["side"],
        wish={**dict.fromkeys(_CHOICES, ""), **shown.query},
        kinds=[kind.value for kind in PlotKind],
        scales=list(_SCALES),
        suspects=[rule.value for rule in Suspect],
    )
