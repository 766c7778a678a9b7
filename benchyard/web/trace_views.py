"""What is in one trace or profile: tables, a flame graph, a timeline."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, cast

from fastapi import APIRouter, Depends, Request, Response
from markupsafe import Markup

from benchyard.analysis.comparison.wording import figure
from benchyard.catalogue.formats.trace_file import bounded_trace, signature_of
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.core.wording import duration
from benchyard.show.traces import report
from benchyard.statistics.figures import percent
from benchyard.traces.difference import Names
from benchyard.traces.model import Trace
from benchyard.traces.statistics import TraceStatistics, statistics_of
from benchyard.web.paging import AskedPart, Part
from benchyard.web.pictures import Kind, Picture, Width, add_picture
from benchyard.web.rendering import render
from benchyard.web.tables import Cell, Column, DataTable, add_table

_NS_PER_S = 1e9
#: Pixels across of a flame graph.
FLAME_WIDTHS: Mapping[Width, int] = {"page": 1200, "narrow": 640}
#: Names that all paths of a flame graph may have together; beyond, its texts alone fill the memory.
_MOST_NAMES = 4_000_000
#: Traces whose figures are kept.
_KEPT = 4
_ONE_AT_A_TIME = Lock()
_DURATIONS = ("total", "self", "median", "p90", "p99", "min", "max")
_NAMES = (
    Column("name", "Name", wide=True),
    Column("count", "Count", figure=True),
    Column("total_ns", "Total", figure=True),
    Column("self_ns", "Self", figure=True),
    Column("self_share", "Self %", figure=True),
    *(Column(f"{name}_ns", name.capitalize(), figure=True) for name in _DURATIONS[2:]),
)
_TRACKS = (
    Column("process", "Process"),
    Column("track", "Track"),
    Column("slices", "Slices", figure=True),
    Column("busy_ns", "Busy", figure=True),
    Column("busy_share", "Busy %", figure=True),
    Column("idle_ns", "Idle", figure=True),
)
_COUNTERS = (
    Column("process", "Process"),
    Column("counter", "Counter"),
    Column("unit", "Unit"),
    Column("min", "Min", figure=True),
    Column("mean", "Mean", figure=True),
    Column("max", "Max", figure=True),
    Column("last", "Last", figure=True),
)


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

    def trace(self) -> Trace:
        """Read it.

        Raises:
            InputError: If it cannot be read, or is too long.
        """
        return bounded_trace(self.place)

    def statistics(self) -> TraceStatistics:
        """Return it in figures, which are kept until the file changes.

        Raises:
            InputError: If it cannot be read, or is too long.
        """
        with _ONE_AT_A_TIME:
            return _statistics(self.place, signature_of(self.place))


@lru_cache(_KEPT)
def _statistics(place: Path, _signature: object) -> TraceStatistics:
    return statistics_of(bounded_trace(place))


def names_table(source: TraceSource, part: Part) -> DataTable:
    """Return how long each name took, the longest self time first."""
    rows = report.rows_of(source.statistics(), by_path=False)
    table = DataTable(
        "names",
        "Heaviest names",
        _NAMES,
        [],
        f"{source.href}/names",
        "It has no slices.",
        ("Self time is the time of a slice without the slices inside it.",),
    )
    whole = sum(_number(row["self_ns"]) for row in rows) or 1.0
    return part.of(table, [_name(row, whole) for row in rows])


def _name(row: Mapping[str, Json], whole: float) -> Sequence[Cell]:
    times = [_time(row[f"{name}_ns"]) for name in _DURATIONS]
    share = _number(row["self_ns"]) / whole
    return (
        Cell(report.joined(tuple(map(str, cast("list[Json]", row["names"]))))),
        Cell(row["count"], f"{row['count']:,}"),
        *times[:2],
        Cell(share, percent(share)),
        *times[2:],
    )


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) else 0.0


def _time(nanoseconds: Json) -> Cell:
    return Cell(nanoseconds, duration(_number(nanoseconds) / _NS_PER_S))


def tracks_table(source: TraceSource, part: Part) -> DataTable:
    """Return how busy each track was, the busiest first."""
    found = source.statistics()
    whole = (found.span[1] - found.span[0]) or 1
    rows = [
        (
            Cell(one.track.process),
            Cell(one.track.thread),
            Cell(one.slices, f"{one.slices:,}"),
            _time(one.busy),
            Cell(one.busy / whole, percent(one.busy / whole)),
            _time(one.idle),
        )
        for one in sorted(found.tracks, key=lambda one: -one.busy)
    ]
    table = DataTable("tracks", "Tracks", _TRACKS, [], f"{source.href}/tracks")
    return part.of(table, rows)


def counters_table(source: TraceSource, part: Part) -> DataTable:
    """Return the range of each counter."""
    rows = [
        (
            Cell(one.process),
            Cell(one.name),
            Cell(one.unit, one.unit or "-"),
            *(
                Cell(value, figure(value, one.unit))
                for value in (one.least, one.mean, one.most, one.last)
            ),
        )
        for one in source.statistics().counters
    ]
    table = DataTable("counters", "Counters", _COUNTERS, [], f"{source.href}/counters")
    return part.of(table, rows)


def tables_of(source: TraceSource) -> list[DataTable]:
    """Return the first rows of all tables that have any."""
    made = (names_table(source, Part()), tracks_table(source, Part(limit=20)))
    counters = counters_table(source, Part(limit=50))
    return [*made, counters] if counters.rows else [*made]


# -- pictures


def flame_of(source: TraceSource) -> Picture:
    """Return the flame graph."""

    def draw(kind: Kind, width: Width) -> bytes:
        return drawn_flame(source, kind, width)

    return Picture(
        "flame",
        "Flame graph: how long each path of names took",
        "How long each path of names took, as nested bars; the table of the heaviest names has "
        "the figures.",
        f"{source.href}/flame",
        draw,
        for_dark=False,
    )


def drawn_flame(source: TraceSource, kind: Kind, width: Width = "page") -> bytes:
    """Return the flame graph as a file's content.

    Raises:
        InputError: If its stacks are too deep.
    """
    from benchyard.show.traces.flame import DEEPEST, flame_picture  # noqa: PLC0415 - with matplotlib

    found = source.statistics()
    deeper = max(_depths(found), default=0) > DEEPEST
    title = source.title + (f" (its first {DEEPEST} levels)" if deeper else "")
    return flame_picture(path_totals(found), kind, title, width=FLAME_WIDTHS[width])


def path_totals(found: TraceStatistics) -> dict[Names, float]:
    """Return how long each path took that a flame graph has room for, in seconds.

    Raises:
        InputError: If there are so many names on them that they fill the memory.
    """
    from benchyard.show.traces.flame import DEEPEST  # noqa: PLC0415 - with matplotlib

    refuse_deep(found, DEEPEST)
    depth = _depths(found)
    totals = zip(found.by_path.which.tolist(), found.by_path.total.tolist(), strict=True)
    return {
        found.path(number): total / _NS_PER_S
        for number, total in totals
        if depth[number] <= DEEPEST
    }


def refuse_deep(found: TraceStatistics, deepest: int | None = None) -> None:
    """Refuse a trace whose paths have so many names that they fill the memory.

    Args:
        deepest: Only paths of at most so many names count.

    Raises:
        InputError: If they have.
    """
    names = sum(depth for depth in _depths(found) if deepest is None or depth <= deepest)
    if names > _MOST_NAMES:
        raise InputError(
            f"its {len(found.paths):,} paths have {names:,} names, more than the "
            f"{_MOST_NAMES:,} that are read here; benchyard profile reads them"
        )


def _depths(found: TraceStatistics) -> list[int]:
    depths: list[int] = []
    for path in found.paths:
        depths.append(1 + (depths[path.parent] if path.parent >= 0 else 0))
    return depths


def timeline_of(source: TraceSource) -> Picture:
    """Return the timeline."""

    def draw(kind: Kind, _width: Width) -> bytes:
        from benchyard.show.traces.timeline import timeline_picture  # noqa: PLC0415 - matplotlib

        return timeline_picture(source.trace(), kind, source.title)

    return Picture(
        "timeline",
        "Timeline: what ran when, on which track",
        "What ran when, a row for each track; the table of tracks says how busy each was.",
        f"{source.href}/timeline",
        draw,
        for_dark=False,
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
        svg = Markup(drawn_flame(shown, "svg").decode())  # noqa: S704
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
    found = source.statistics()
    first, last = found.span
    pictures = [flame_of(source)] if len(found.by_name) else []
    return {
        "cards_shown": [
            ("Span", duration((last - first) / _NS_PER_S)),
            ("Slices", f"{int(found.by_name.count.sum()):,}"),
            ("Names", f"{len(found.by_name):,}"),
            ("Tracks", f"{len(found.tracks):,}"),
        ],
        "pictures": [*pictures, timeline_of(source)] if found.tracks or found.counters else [],
        "tables": tables_of(source),
        "remarks": [str(loss) for loss in found.losses],
        "links": [("Flame graph with a text for each frame", f"{source.href}/flame")]
        if pictures
        else [],
    }
