"""Any picture of results: the same choices as ``benchyard plot``, by the address."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AfterValidator, BaseModel, Field

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


def _names(texts: Sequence[str]) -> list[str]:
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


class _Asked(BaseModel):
    """What an address asks to be drawn, as it was written."""

    side: list[str] = Field([], description="`CASE`, `CASE@1-5` or `RUN,RUN`: ids.")
    kind: PlotKind | Literal[""] = Field("", description="What it looks like.")
    metric: str = Field(DURATION, description="What is drawn.")
    steps: Annotated[list[str], AfterValidator(_names)] = Field([], description="Names or globs.")
    x: str = Field("", description="Parameter of the matrix along the axis.")
    series: str = Field("", description="Parameter whose values have a colour each.")
    reference: str = Field("", description="What ratios are to.")
    scale: str = Field("", pattern="^(log|linear)?$", description="Of the axes.")
    suspect: Suspect = Field(Suspect.AUTO, description="What becomes of suspect executions.")

    @property
    def wish(self) -> PlotRequest:
        """What is drawn."""
        return PlotRequest(
            self.kind or None,
            (self.metric,),
            tuple(self.steps),
            self.x or None,
            self.series or None,
            self.reference or None,
            _SCALES.get(self.scale),
        )


def plot(explorer: Current, asked: Annotated[_Asked, Query()]) -> Picture:
    """Draw chosen results."""
    chosen, wish = choose(explorer.catalogue, asked.side), asked.wish

    def draw(width: Width) -> Drawing:
        read = partial(_run_sets, explorer.catalogue, metric=asked.metric)
        found = [(one.path, run_set) for one in chosen for run_set in read(one)]
        _refuse_unknown(found, asked.metric)
        return draw_sides(found, wish, width, suspect=asked.suspect)

    titles = shorten(", ".join(dict.fromkeys(one.title for one in chosen)), 200)
    options = asked.model_dump(mode="json", exclude={"side"}, exclude_defaults=True)
    query = {"side": [one.text for one in chosen], **options}
    caption, alt = f"Results of {titles}.", f"{asked.metric} of {titles}, as {wish.kind or 'plot'}"
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
        wish={**dict.fromkeys(_Asked.model_fields, ""), **shown.query},
        kinds=[kind.value for kind in PlotKind],
        scales=list(_SCALES),
        suspects=[rule.value for rule in Suspect],
    )
