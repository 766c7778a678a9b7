"""What is in one trace or profile: tables, a flame graph, a timeline."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from markupsafe import Markup

from benchyard.show.drawing import Drawing
from benchyard.show.traces import report
from benchyard.show.traces.flame import flame_drawing
from benchyard.show.traces.timeline import timeline_drawing
from benchyard.traces.model import BYTES
from benchyard.web.paging import AskedPart, Part
from benchyard.web.pictures import Picture, Width, add_picture
from benchyard.web.rendering import render
from benchyard.web.tables import DataTable, add_table
from benchyard.web.trace_figures import TraceSource

#: Pixels across of a flame graph.
FLAME_WIDTHS: Mapping[Width, int] = {"page": 1200, "narrow": 640}
#: Boxes of a timeline.
_MOST_BOXES = 6_000


def names_table(source: TraceSource, part: Part) -> DataTable:
    """Return how long each name took, the longest self time first."""
    found = source.figures()
    table = report.names_table(found.unit, part.among(found.rows), found.self_sum)
    if found.names > len(found.rows):
        more = f"Only the heaviest {len(found.rows):,} of {found.names:,} names are listed."
        table = replace(table, notes=[*table.notes, more])
    return part.told(DataTable.of(table, f"{source.href}/names"), len(found.rows))


def tracks_table(source: TraceSource, part: Part) -> DataTable:
    """Return how busy each track was, the busiest first."""
    found = source.figures()
    table = report.tracks_table(part.among(found.tracks), found.span_ns, found.unit)
    return part.told(DataTable.of(table, f"{source.href}/tracks"), len(found.tracks))


def counters_table(source: TraceSource, part: Part) -> DataTable:
    """Return the range of each counter."""
    found = source.figures().counters
    table = report.counters_table(part.among(found))
    return part.told(DataTable.of(table, f"{source.href}/counters"), len(found))


def tables_of(source: TraceSource) -> list[DataTable]:
    """Return the first rows of all tables that have any."""
    made = (names_table(source, Part()), tracks_table(source, Part(limit=20)))
    counters = counters_table(source, Part(limit=50))
    return [*made, counters] if counters.rows else [*made]


# -- pictures


def flame_of(source: TraceSource) -> Picture:
    """Return the flame graph."""
    return Picture(
        "flame",
        "Flame graph: how long each path of names took",
        "How long each path of names took, as nested bars; the table of the heaviest names has "
        "the figures.",
        f"{source.href}/flame",
        lambda width: drawn_flame(source, width),
    )


def drawn_flame(source: TraceSource, width: Width = "page") -> Drawing:
    """Draw the flame graph."""
    found, across = source.figures(), FLAME_WIDTHS[width]
    title, left_out = source.title, found.left_out
    return flame_drawing(
        found.totals_s, title, width=across, left_out=left_out, unit=found.unit.name
    )


def timeline_of(source: TraceSource) -> Picture:
    """Return the timeline."""

    def draw(_width: Width) -> Drawing:
        source.figures()  # refuses what is too long
        return timeline_drawing(source.trace().as_time(), source.title, most=_MOST_BOXES)

    return Picture(
        "timeline",
        "Timeline: what ran when, on which track",
        "What ran when, a row for each track; the table of tracks says how busy each was.",
        f"{source.href}/timeline",
        draw,
    )


def add_trace_views(router: APIRouter, path: str, source: Callable[..., TraceSource]) -> None:
    """Serve tables and pictures of a trace below its page, and the flame graph as a page.

    Args:
        path: Of the page.
        source: Finds the trace, with the arguments of an endpoint of FastAPI; raises ``InputError``
            if it is none.
    """
    made = Depends(source)

    for name, table in (
        ("names", names_table),
        ("tracks", tracks_table),
        ("counters", counters_table),
    ):
        add_table(router, f"{path}/{name}", _of_part(table, made))
    for name, picture in (("flame", flame_of), ("timeline", timeline_of)):
        add_picture(router, f"{path}/{name}", _of_source(picture, made))

    @router.get(f"{path}/flame", include_in_schema=False)
    def flame(request: Request, shown: Any = made) -> Response:
        """Show a flame graph whose frames say what they are."""
        # All its texts are escaped where it is drawn.
        svg = Markup(drawn_flame(shown).svg())  # noqa: S704
        crumbs = [(shown.title, shown.href)]
        values: dict[str, Any] = {"flame": svg, "table": names_table(shown, Part(limit=30))}
        return render(request, "flame.html", title="Flame graph", crumbs=crumbs, **values)

    _ = flame


def _of_part(
    table: Callable[[TraceSource, Part], DataTable], made: Any
) -> Callable[..., DataTable]:
    def endpoint(part: AskedPart, shown: Any = made) -> DataTable:
        return table(shown, part)

    return endpoint


def _of_source(picture: Callable[[TraceSource], Picture], made: Any) -> Callable[..., Picture]:
    def endpoint(shown: Any = made) -> Picture:
        return picture(shown)

    return endpoint


def page_of(source: TraceSource) -> dict[str, Any]:
    """Return what fills the page of a trace, ``entry.html``."""
    found = source.figures()
    pictures = [flame_of(source)] if found.slices else []
    drawn = found.unit.name != BYTES.name and (found.tracks or found.counters)
    links = [("Flame graph with a text for each frame", f"{source.href}/flame")]
    return {
        "cards_shown": [
            ("Span", report.in_unit(found.span_ns, found.unit)),
            ("Slices", f"{found.slices:,}"),
            ("Names", f"{found.names:,}"),
            ("Tracks", f"{len(found.tracks):,}"),
        ],
        "pictures": [*pictures, timeline_of(source)] if drawn else [],
        "tables": tables_of(source),
        "remarks": [str(loss) for loss in found.losses],
        "links": links if pictures else [],
    }
