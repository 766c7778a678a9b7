"""Pictures of a page, which are also served alone: as SVG and PNG at the same address."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from textwrap import wrap
from typing import Any, Literal
from urllib.parse import urlencode

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi import APIRouter, Depends, Response

from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.core.errors import InputError, RecordError
from benchyard.core.wording import printable
from benchyard.results.trust import Suspect
from benchyard.show.drawing import Drawing, Text
from benchyard.show.results_plot.cells import tell_apart
from benchyard.show.results_plot.choice import PlotRequest, make_charts
from benchyard.show.results_plot.figure import Size, chart_drawing
from benchyard.show.themes import DARK, LIGHT

Kind = Literal["svg", "png"]
Theme = Literal["light", "dark"]
Width = Literal["page", "narrow"]

#: Inches across; narrow is for a telephone.
WIDTHS: Mapping[Width, float] = {"page": 8.2, "narrow": 4.0}
_TYPES: Mapping[Kind, str] = {"svg": "image/svg+xml", "png": "image/png"}
#: An SVG is a document, and has styles inside.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture.

    Args:
        name: Its id in the page.
        caption: What it shows.
        alt: What somebody should know who does not see it.
        href: Its own address, without suffix and query.
        draw: Draws it; for one caller at a time, and only if somebody looks. Its ``InputError`` or
            ``RecordError`` is shown in the picture's place.
        query: What chooses what is drawn.
        notes: Sentences below it.
        instead: What is said where there is nothing to draw; empty draws.
    """

    name: str
    caption: str
    alt: str
    href: str
    draw: Callable[[Width], Drawing]
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: Sequence[str] = ()
    instead: str = ""

    def address(self, kind: Kind, theme: Theme = "light", width: Width = "page") -> str:
        """Return where it is served in one form; what is usual is left out."""
        form = {"theme": theme, "width": width}
        usual = {"theme": "light", "width": "page"}
        wanted = {name: value for name, value in form.items() if value != usual[name]}
        query = urlencode({**self.query, **wanted}, doseq=True)
        return f"{self.href}.{kind}" + (f"?{query}" if query else "")


def add_picture(router: APIRouter, path: str, picture: Callable[..., Picture]) -> None:
    """Serve a picture at ``path.svg`` and ``path.png``.

    Args:
        picture: Makes it, with the arguments of an endpoint of FastAPI; it must cost little.
    """

    def of_kind(kind: Kind) -> Callable[..., Any]:
        async def answer(
            theme: Theme = "light",
            width: Width = "page",
            shown: Picture = Depends(picture),  # noqa: B008 - FastAPI's way
        ) -> Response:
            draw = partial(_draw, shown, kind, theme, width)
            status, content = await to_thread.run_sync(draw, limiter=_one_at_a_time())
            headers = {"Content-Security-Policy": _POLICY}
            return Response(content, status, headers, media_type=_TYPES[kind])

        return answer

    name = path.strip("/").replace("/", " ")
    # Before whatever takes the path itself: a parameter at its end would take in the suffixes.
    for kind in _TYPES:
        told = f"{name} as a picture ({kind.upper()})"
        router.add_api_route(f"{path}.{kind}", of_kind(kind), methods=["GET"], summary=told)


#: Drawing takes a tenth of a second or more. Whoever waits for a picture waits without a thread:
#: the pages need these.
_LIMITER: RunVar[CapacityLimiter] = RunVar("drawing")


def _one_at_a_time() -> CapacityLimiter:
    found = _LIMITER.get(None)
    if found is None:
        found = CapacityLimiter(1)
        _LIMITER.set(found)
    return found


def _draw(shown: Picture, kind: Kind, theme: Theme, width: Width) -> tuple[int, bytes]:
    try:
        status, drawing = 200, shown.draw(width)
    except (InputError, RecordError) as error:
        status, drawing = 422, _sentence(str(error), width)
    return status, drawing.picture(kind, DARK if theme == "dark" else LIGHT)


def _sentence(text: str, width: Width) -> Drawing:
    """Draw a sentence: where a picture is expected, nothing else is shown."""
    lines = wrap(printable(text), int(WIDTHS[width] * 13))
    shapes = [Text(8, 20 + 18 * place, line, 12) for place, line in enumerate(lines)]
    return Drawing(WIDTHS[width] * 100, 18 * len(lines) + 16, [*shapes])


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
    charts = make_charts(tell_apart(found, suspect=suspect), wish)
    if remark:
        charts = [replace(chart, caption=(*chart.caption, remark)) for chart in charts]
    return chart_drawing(charts, Size(WIDTHS[width], titled=len(found) > 1))
