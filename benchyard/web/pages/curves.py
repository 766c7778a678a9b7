"""The curves of a run: data for the script, and a picture."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from benchyard.core.errors import InputError, RecordError
from benchyard.core.places import home
from benchyard.results.record import interval_of
from benchyard.results.samples import SampledSource
from benchyard.show.curves.panels import Curves, steps_alone, with_samples
from benchyard.show.curves.plot import draw
from benchyard.show.curves.sources import GrowingCurves, sources_of
from benchyard.show.curves.thinning import ThinLine, Thinned, short, thinned
from benchyard.web.explorer import keep_fresh
from benchyard.web.pictures import WIDTHS, Picture, add_picture
from benchyard.web.rendering import json_answer
from benchyard.web.runs import Shown, ShownRun

#: Points of a picture, and of what the script asks for unless it says otherwise.
PICTURE_POINTS = 480
#: More bars than pixels tell nothing.
_MOST_BARS = 2000
_LATEST = 1e9

Moment = Annotated[float | None, Query(ge=0, le=_LATEST, allow_inf_nan=False)]
Points = Annotated[int, Query(ge=2, le=4000)]


class ShownCurves:
    """The curves of a run, or of one that goes on so far.

    Raises:
        RecordError: If its samples cannot be read, or there are none.
    """

    def __init__(self, shown: ShownRun) -> None:
        self._shown = shown
        record = shown.record
        self._sources = _growing(shown) if shown.under_way else _sources(shown)
        self._steps = steps_alone(record) if record else Curves("", 0.0, (), (), (), 0)
        last = max((float(s.at_s[-1]) for s in self._sources if len(s.at_s)), default=0.0)
        self.length_s = max(last, self._steps.length_s)
        if not (last > 0 and self.length_s <= _LATEST):
            raise RecordError(f"{shown.entry.place}: there are no samples that make curves")

    def between(self, from_s: float | None, to_s: float | None, points: int) -> dict[str, Any]:
        """Return the curves between two moments, the whole run if they are left out.

        Raises:
            InputError: If the second does not come after the first.
        """
        start, end = from_s or 0.0, self.length_s if to_s is None else to_s
        if not start < end:
            raise InputError(f"from={start:g}&to={end:g}: 'to' must be later than 'from'")
        thin = thinned(self._sources, start, end, points)
        return {
            "title": self._shown.title,
            **document_of(thin, self.length_s, start, end),
            "steps": [asdict(one) for one in self._steps.bars[:_MOST_BARS]],
            "phases": [asdict(one) for one in self._steps.phases[:_MOST_BARS]],
        }

    def picture(self) -> Curves:
        """Return what the picture shows: means of rates, and the most memory."""
        steps = replace(self._steps, title=self._shown.title, length_s=self.length_s)
        return with_samples(steps, self._sources, PICTURE_POINTS)


def _sources(shown: ShownRun) -> list[SampledSource]:
    return sources_of(shown.entry.place, interval_of(shown.record), home() / "catalogue" / "curves")


def _growing(shown: ShownRun) -> list[SampledSource]:
    curves = GrowingCurves(shown.folder.raw, shown.entry.started_s)
    try:
        curves.look()
        return curves.sources()
    except OSError as error:
        raise RecordError(f"{shown.folder.raw}: not readable: {error}") from error
    finally:
        curves.close()


def document_of(thin: Thinned, length_s: float, from_s: float, to_s: float) -> dict[str, Any]:
    """Return the curves of a run, or of one that goes on: the panels that have lines."""
    panels = [
        {
            "name": panel.name,
            "unit": panel.unit,
            "lines": [_thin_line(line, exact=thin.exact) for line in panel.lines],
        }
        for panel in thin.panels
        if panel.lines
    ]
    return {
        "length_s": length_s,
        "from_s": from_s,
        "to_s": to_s,
        "exact": thin.exact,
        "samples": thin.samples,
        "at_s": thin.at_s.round(6).tolist(),
        "panels": panels,
    }


def _thin_line(line: ThinLine, *, exact: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"name": line.name, "of_host": line.of_host, "mean": short(line.mean)}
    return told if exact else {**told, "least": short(line.least), "most": short(line.most)}


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
        lambda width: draw(ShownCurves(shown).picture(), int(WIDTHS[width] * 100)),
        at,
    )


def _size(file: Path) -> int:
    """Return the bytes of a file; 0 if it is not there yet, or no more."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


add_picture(router, "/run/{run_id}/curves", picture)
