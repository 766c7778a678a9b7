"""The curves of a run: data for the script, and a picture."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from benchyard.core.errors import InputError, RecordError
from benchyard.show.curves.plot import draw
from benchyard.show.drawing import Drawing
from benchyard.web.curves import Moment, Points, ShownCurves
from benchyard.web.explorer import keep_fresh
from benchyard.web.pictures import WIDTHS, Picture, Width, add_picture
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
    if shown.under_way:
        keep_fresh(request)
    return json_answer(ShownCurves(shown).between(from_s, to_s, points))


def picture(shown: Shown) -> Picture:
    """Return the picture of the curves of a run, and of one that goes on so far."""
    # What is drawn is kept for its address.
    at = {"size": _size(shown.folder.raw)} if shown.under_way else {}
    return Picture(
        "curves-picture",
        "Curves of the host and of the resources",
        "CPU, memory, disk and network over time, with the steps; the JSON form has the data.",
        f"/run/{shown.entry.id}/curves",
        lambda width: _drawn(shown, width),
        at,
    )


def _size(file: Path) -> int:
    """Return the bytes of a file; 0 if it is not there yet, or no more."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _drawn(shown: ShownRun, width: Width) -> Drawing:
    try:
        return draw(ShownCurves(shown).picture(), int(WIDTHS[width] * 100))
    except RecordError as error:
        raise InputError(str(error)) from error


add_picture(router, "/run/{run_id}/curves", picture)
