"""Any picture of results: the same choices as ``benchyard plot``, by the address."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from benchyard.show.drawing import Drawing
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.choice import PlotRequest
from benchyard.web.case_results import known_metrics, read_case, reader
from benchyard.web.explorer import Current
from benchyard.web.pictures import Picture, Width, add_picture, draw_sides
from benchyard.web.rendering import render
from benchyard.web.sides import Chosen, choose

router = APIRouter()

_SCALES = {"log": True, "linear": False}
_CHOICES = ("kind", "metric", "steps", "x", "series", "reference", "scale", "suspect")
_USUAL = ("", DURATION, Suspect.AUTO)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an address asks to be drawn, as it was written."""

    kind: Annotated[PlotKind | Literal[""], Query(description="What it looks like.")] = ""
    metric: Annotated[str, Query(description="What is drawn.")] = DURATION
    steps: Annotated[list[str] | None, Query(description="Ids, names or globs.")] = None
    x: Annotated[str, Query(description="Parameter of the matrix along the axis.")] = ""
    series: Annotated[str, Query(description="Parameter whose values have a colour each.")] = ""
    reference: Annotated[str, Query(description="What ratios are to.")] = ""
    scale: Annotated[str, Query(pattern="^(log|linear)?$", description="Of the axes.")] = ""
    suspect: Annotated[Suspect, Query(description="What becomes of suspect executions.")] = (
        Suspect.AUTO
    )

    @property
    def wish(self) -> PlotRequest:
        """What is drawn."""
        return PlotRequest(
            self.kind or None,
            self.metric,
            self._names,
            self.x or None,
            self.series or None,
            self.reference or None,
            _SCALES.get(self.scale),
        )

    @property
    def query(self) -> dict[str, Any]:
        """The same as parameters of an address, without what is usual."""
        told: dict[str, Any] = {name: getattr(self, name) for name in _CHOICES}
        told["steps"] = ",".join(self._names)
        return {name: str(text) for name, text in told.items() if text not in _USUAL}

    @property
    def _names(self) -> tuple[str, ...]:
        every = (name.strip() for text in self.steps or () for name in text.split(","))
        return tuple(filter(None, every))


_Sides = Annotated[list[str] | None, Query(description="`CASE`, `CASE@1-5` or `RUN,RUN`: ids.")]


def plot(
    explorer: Current,
    asked: Annotated[_Asked, Depends()],
    side: _Sides = None,
) -> Picture:
    """Draw chosen results."""
    chosen, wish = choose(explorer.catalogue, side or ()), asked.wish

    def draw(width: Width) -> Drawing:
        read = partial(_run_sets, explorer.catalogue, metric=wish.metric)
        found = [(one.path, run_set) for one in chosen for run_set in read(one)]
        _refuse_unknown(found, wish.metric)
        return draw_sides(found, wish, width, suspect=asked.suspect)

    titles = shorten(", ".join(dict.fromkeys(one.title for one in chosen)), 200)
    query = {"side": [one.text for one in chosen], **asked.query}
    caption, alt = f"Results of {titles}.", f"{wish.metric} of {titles}, as {wish.kind or 'plot'}"
    instead = "" if chosen else "Choose cases or runs: their ids stand in their addresses."
    return Picture("plot", caption if chosen else "", alt, "/plot", draw, query, instead=instead)


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
