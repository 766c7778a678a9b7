"""What is in one trace or profile: figures, tables, a flame graph, a timeline."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from markupsafe import Markup

from benchyard.catalogue.formats.trace_file import bounded_trace, signature_of
from benchyard.core.errors import InputError
from benchyard.show.drawing import Drawing
from benchyard.show.traces import report
from benchyard.show.traces.flame import DEEPEST, NARROWEST, flame_drawing
from benchyard.show.traces.timeline import timeline_drawing
from benchyard.traces.difference import Names
from benchyard.traces.model import BYTES, Trace
from benchyard.traces.statistics import TraceStatistics, statistics_of
from benchyard.web.pictures import Picture, Width, add_picture
from benchyard.web.rendering import render
from benchyard.web.tables import AskedPart, DataTable, Part, add_table

#: Names that all paths may have together; beyond, their texts alone fill the memory.
_MOST_NAMES = 4_000_000
#: Slices that are counted.
_MOST_SLICES = 1_000_000
#: Rows of a table that are kept.
_MOST_ROWS = 10_000
#: Traces whose figures are kept.
_KEPT = 4
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, slots=True)
class TraceSource:
    """A trace or profile that a page shows.

    Args:
        title: What people call it.
        href: Address of its page, without suffix.
        place: Its file, or the folder of a Scanner job.
    """

    title: str
    href: str
    place: Path

    def figures(self) -> "TraceFigures":
        """Return it in figures, which are kept until the file changes.

        Raises:
            InputError: If it cannot be read, or is too long.
        """
        with _ONE_AT_A_TIME:
            found = _figures(self.place, signature_of(self.place))
        if isinstance(found, InputError):
            raise found
        return found


class TraceFigures:
    """What pages show of a trace; little, however long it is.

    Attributes:
        span_ns: From the first thing to the end of the last.
        slices: How many.
        names: How many names these have.
        rows: Of the heaviest names, as ``report.rows_of`` makes them.
        self_sum: Self time of all names, as the rows say it.
        tracks: The busiest first.
        counters: In the order of the trace.
        losses: What is missing here and was in the source.
        totals_s: Of each path that a flame graph has room for, in seconds.
        left_out: How many paths it has no room for.
        unit: Of durations.
    """

    def __init__(self, trace: Trace) -> None:
        found = statistics_of(trace)
        self.span_ns = found.span[1] - found.span[0]
        self.slices, self.names = int(found.by_name.count.sum()), len(found.by_name)
        self.rows = report.rows_of(found, by_path=False, most=_MOST_ROWS)
        self.self_sum = report.self_sum(found)
        self.tracks = sorted(found.tracks, key=lambda one: -one.busy)[:_MOST_ROWS]
        self.counters = found.counters[:_MOST_ROWS]
        self.losses, self.unit = found.losses, found.unit
        depths = _depths(found)
        self._names_on_paths = sum(depths)
        self.totals_s = _totals(found, depths)
        self.left_out = len(found.by_path) - len(self.totals_s)

    def refuse_deep(self) -> None:
        """Refuse to tell paths apart that have so many names that they fill the memory.

        Raises:
            InputError: If they have.
        """
        if self._names_on_paths > _MOST_NAMES:
            raise InputError(
                f"its paths have {self._names_on_paths:,} names, more than the {_MOST_NAMES:,} "
                "that are read here; benchyard profile reads them"
            )


@lru_cache(_KEPT)
def _figures(place: Path, _signature: object) -> TraceFigures | InputError:
    trace = bounded_trace(place)
    if len(trace.slices) > _MOST_SLICES:
        # Remembered, since it takes long to find out.
        return InputError(
            f"it has {len(trace.slices):,} slices, more than the {_MOST_SLICES:,} that are counted "
            "here; benchyard profile counts them"
        )
    return TraceFigures(trace)


def _depths(found: TraceStatistics) -> list[int]:
    depths: list[int] = []
    for path in found.paths:
        depths.append(1 + (depths[path.parent] if path.parent >= 0 else 0))
    return depths


def _totals(found: TraceStatistics, depths: Sequence[int]) -> dict[Names, float]:
    """Return how long each path took that a flame graph has room for, in seconds."""
    paths: list[tuple[int, int]] = [
        *zip(found.by_path.which.tolist(), found.by_path.total.tolist(), strict=True)
    ]
    whole = sum(total for number, total in paths if depths[number] == 1)
    room = _MOST_NAMES
    totals: dict[Names, float] = {}
    for number, total in sorted(paths, key=lambda one: -one[1]):
        if total < NARROWEST * whole or room < 0:
            break
        if depths[number] <= DEEPEST:
            totals[found.path(number)] = total / found.unit.scale
            room -= depths[number]
    return totals


#: Pixels across of a flame graph.
FLAME_WIDTHS: Mapping[Width, int] = {"page": 1200, "narrow": 640}
#: Boxes of a timeline.
_MOST_BOXES = 6_000


def names_table(source: TraceSource, part: Part) -> DataTable:
    """Return how long each name took, the longest self time first."""
    found = source.figures()
    table = report.names_table(found.unit, part.of(found.rows), found.self_sum)
    if found.names > len(found.rows):
        more = f"Only the heaviest {len(found.rows):,} of {found.names:,} names are listed."
        table = replace(table, notes=[*table.notes, more])
    return part.told(DataTable.of(table, f"{source.href}/names"), len(found.rows))


def tracks_table(source: TraceSource, part: Part) -> DataTable:
    """Return how busy each track was, the busiest first."""
    found = source.figures()
    table = report.tracks_table(part.of(found.tracks), found.span_ns, found.unit)
    return part.told(DataTable.of(table, f"{source.href}/tracks"), len(found.tracks))


def counters_table(source: TraceSource, part: Part) -> DataTable:
    """Return the range of each counter."""
    found = source.figures().counters
    table = report.counters_table(part.of(found))
    return part.told(DataTable.of(table, f"{source.href}/counters"), len(found))


_TABLES = {"names": names_table, "tracks": tracks_table, "counters": counters_table}


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
        return timeline_drawing(
            bounded_trace(source.place).as_time(), source.title, most=_MOST_BOXES
        )

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

    for name, table in _TABLES.items():
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
    others = ", ".join(found.unit.others)
    return {
        "cards_shown": [
            ("Span", report.in_unit(found.span_ns, found.unit)),
            ("Slices", f"{found.slices:,}"),
            ("Names", f"{found.names:,}"),
            ("Tracks", f"{len(found.tracks):,}"),
            *([("Only in benchyard profile --type", others)] if others else []),
        ],
        "pictures": [*pictures, timeline_of(source)] if drawn else [],
        "tables": tables_of(source),
        "remarks": [str(loss) for loss in found.losses],
        "links": links if pictures else [],
    }
