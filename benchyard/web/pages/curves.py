"""The curves of a run: data for the script, and a picture."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from benchyard.show.curves.plot import draw
from benchyard.web.answers import keep_fresh
from benchyard.web.curves import Moment, Points, RunCurves
from benchyard.web.rendering import json_answer
from benchyard.web.runs import Shown, ShownRun

router = APIRouter()


@router.get("/run/{run_id}/curves.json")
def curves(
    request: Request,
    shown: Shown,
    from_s: Annotated[Moment, Query(alias="from")] = None,
    to_s: Annotated[Moment, Query(alias="to")] = None,
    points: Points = 1000,
) -> Response:
    """Return the curves of a run between two moments (s), thinned to so many points."""
    _refresh(request, shown)
    return json_answer(RunCurves(shown).between(from_s, to_s, points))


@router.get("/run/{run_id}/curves.svg")
def picture(request: Request, shown: Shown) -> Response:
    """Draw the curves of a run."""
    _refresh(request, shown)
    headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Response(draw(RunCurves(shown).picture()), 200, headers, "image/svg+xml")


def _refresh(request: Request, shown: ShownRun) -> None:
    if shown.under_way:
        keep_fresh(request)
