"""Profiles that the steps of a run left, and in what two sets of profiles differ."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response

from benchyard.catalogue.entry import RUN, Entry
from benchyard.catalogue.formats import TRACES
from benchyard.catalogue.formats.trace_file import bounded_trace, signature_of
from benchyard.catalogue.query import EntryQuery as Wanted
from benchyard.core.errors import InputError, NotFoundError
from benchyard.core.files import inside
from benchyard.core.table import LONG, Cell, Field, Kind
from benchyard.results.folders import RunFolder
from benchyard.show.drawing import Drawing
from benchyard.show.traces import report
from benchyard.show.traces.flame import flame_drawing
from benchyard.statistics.comparison import Verdict
from benchyard.traces.difference import (
    NamedDifference,
    Profiled,
    differences,
    mean_totals,
    profiled,
)
from benchyard.traces.model import Trace
from benchyard.traces.sources import LeftProfile, left_profiles, trace_with_profiles
from benchyard.web.explorer import Current, Explorer
from benchyard.web.pages.entries import address_of, trace_source
from benchyard.web.pictures import Picture, Width, add_picture
from benchyard.web.rendering import render
from benchyard.web.tables import AskedPart, DataTable, add_table, table_of
from benchyard.web.traces import FLAME_WIDTHS, TraceSource, add_trace_views, page_of

router = APIRouter()


def run_profiles_table(entry: Entry) -> DataTable:
    """Return the profiles that the steps of a run left, each with a link to its page.

    For the page of the run, too; without a row it is better left out.
    """
    href = f"/run/{entry.id}/profiles"
    fields: Sequence[Field] = (
        ("step", "Step", LONG, lambda one: Cell(one[1].step, href=f"{href}/{one[0]}")),
        ("file", "File", LONG, lambda one: one[1].file.relative_to(entry.place).as_posix()),
        ("start_s", "Began at (s)", Kind("{:.3f}".format, right=True), lambda one: one[1].start_s),
    )
    title, empty = "Profiles that steps left", "No step of this run left a profile."
    return table_of("profiles", title, fields, enumerate(_profiles(entry), 1), href, empty=empty)


def _profiles(entry: Entry) -> Sequence[LeftProfile]:
    if entry.format != RUN:
        return []
    found = left_profiles(entry.place)
    return [one for one in found if inside(entry.place, str(one.file))]


def table(explorer: Current, run_id: str) -> DataTable:
    """Return the profiles of a run."""
    return run_profiles_table(explorer.catalogue.entry(run_id))


def source(explorer: Current, run_id: str, number: int) -> TraceSource:
    """Return one of the profiles of a run, counted from 1.

    Raises:
        NotFoundError: If there are not so many.
    """
    entry = explorer.catalogue.entry(run_id)
    found = _profiles(entry)
    if not 1 <= number <= len(found):
        raise NotFoundError(
            f"{entry.path} has {len(found):,} profiles, and none is number {number}"
        )
    one = found[number - 1]
    return TraceSource(f"{one.step}: {one.file.name}", f"/run/{run_id}/profiles/{number}", one.file)


add_table(router, "/run/{run_id}/profiles", table)
add_trace_views(router, "/run/{run_id}/profiles/{number}", source)


@router.get("/run/{run_id}/profiles/{number}", include_in_schema=False)
def page(request: Request, explorer: Current, run_id: str, number: int) -> Response:
    """Show a profile that a step left."""
    shown = source(explorer, run_id, number)
    entry = explorer.catalogue.entry(run_id)
    about = [("Run", f"{entry.title}, run {entry.run}"), ("File", shown.place.name)]
    crumbs = [(f"Run {entry.run}", f"/run/{run_id}")]
    values: dict[str, Any] = {"broken": "", "about": about, **page_of(shown)}
    return render(request, "entry.html", title=shown.title, crumbs=crumbs, **values)


#: Most traces on a side, and names of both sides together: each name is compared.
_MOST, _MOST_COMPARED = 50, 20_000
#: Traces whose sums are kept.
_KEPT = 8
#: While a trace is read it takes as much memory as it likes.
_ONE_AT_A_TIME = Lock()
#: Others that a form offers.
_OFFERED = 200
Ids = Annotated[list[str], Query(max_length=_MOST)]
By = Literal["", "name", "path"]


class Sides:
    """Two sets of traces, as an address names them.

    Args:
        a: Ids of the baseline's entries.
        b: Ids of the candidate's.
        by: What is compared; empty takes paths for runs, names for files of others.

    Raises:
        NotFoundError: If there is no such entry.
    """

    def __init__(self, explorer: Current, a: Ids = [], b: Ids = [], by: By = "") -> None:  # noqa: B006
        self.baseline, self.candidate = (
            [explorer.catalogue.entry(one) for one in side] for side in (a, b)
        )
        self.by_path = by == "path" or (not by and any(one.format == RUN for one in self.baseline))
        self.query = {"a": a, "b": b, "by": by}

    @property
    def are_both_there(self) -> bool:
        """Whether there is anything to compare."""
        return bool(self.baseline and self.candidate)

    def compared(self, *, by_path: bool) -> tuple[list[NamedDifference], list[Profiled]]:
        """Return what differs, and the candidate's sums.

        Raises:
            InputError: If a trace cannot be read, or there are too many names.
        """
        if not self.are_both_there:
            raise InputError("a difference needs both sides: ?a=ID&b=ID, each perhaps repeated")
        with _ONE_AT_A_TIME:
            sides = [
                [_summed(entry, by_path=by_path) for entry in side]
                for side in (self.baseline, self.candidate)
            ]
        names = {name for side in sides for one in side for name in one.total_s}
        if len(names) > _MOST_COMPARED:
            raise InputError(
                f"there are {len(names):,} names, more than the {_MOST_COMPARED:,} that are "
                "compared here; benchyard profile --candidate compares them"
            )
        return differences(*sides), sides[1]


AskedSides = Annotated[Sides, Depends(Sides)]


def _summed(entry: Entry, *, by_path: bool) -> Profiled:
    if entry.format == RUN:
        place, read = entry.place, trace_with_profiles
        return _read(place, read, by_path, signature_of(RunFolder(place).record))
    source = trace_source(entry)
    if by_path:
        source.figures().refuse_deep()
    return _read(source.place, bounded_trace, by_path, signature_of(source.place))


@lru_cache(2 * _KEPT)
def _read(
    place: Path,
    read: Callable[[Path], Trace],
    by_path: bool,  # noqa: FBT001
    _signature: object,
) -> Profiled:
    return profiled(read(place), by_path=by_path)


def difference_table(sides: AskedSides, part: AskedPart) -> DataTable:
    """Return what differs, the surest first."""
    found, _ = sides.compared(by_path=sides.by_path)
    table = replace(
        report.differences_table(part.of(found)),
        title="Differences by path" if sides.by_path else "Differences by name",
        empty="Neither side has a slice.",
        notes=_notes(found),
    )
    listed = DataTable.of(table, "/profiles/difference")
    return part.told(listed, len(found), sides.query)


def _notes(found: Sequence[NamedDifference]) -> list[str]:
    notes = [f"{report.differences_summary(found)}."] if found else []
    if any(one.judgement.verdict is Verdict.CANNOT_TELL for one in found):
        notes.append(
            "Cannot tell: so few traces cannot show any difference among so many names; "
            "give several repetitions of each side."
        )
    return notes


def flame(sides: AskedSides) -> Picture:
    """Return the candidate's flame graph, coloured by what differs."""

    def draw(width: Width) -> Drawing:
        found, candidate = sides.compared(by_path=True)
        title = f"{_titles(sides.candidate)} against {_titles(sides.baseline)}"
        totals = mean_totals(candidate)
        return flame_drawing(totals, title, found, FLAME_WIDTHS[width], unit=candidate[0].unit)

    return Picture(
        "flame",
        "Flame graph of the candidate: red is slower, blue faster, grey not shown to differ",
        "How long each path took in the candidate; the table of differences has the figures.",
        "/profiles/difference/flame",
        draw,
        sides.query,
    )


def _titles(side: Sequence[Entry]) -> str:
    more = f" and {len(side) - 1:,} more" if len(side) > 1 else ""
    return f"{side[0].title or side[0].path}{more}" if side else ""


@router.get("/profiles/difference", include_in_schema=False)
def difference(request: Request, explorer: Current, sides: AskedSides, part: AskedPart) -> Response:
    """Show in what two sets of traces differ, or ask for the second one."""
    shown = sides.are_both_there
    chosen = [
        (text, [(one.title or one.path, address_of(one)) for one in side])
        for text, side in (("Baseline", sides.baseline), ("Candidate", sides.candidate))
    ]
    other = {**sides.query, "by": "name" if sides.by_path else "path"}
    return render(
        request,
        "difference.html",
        title="Difference of profiles",
        crumbs=[("Other results", "/entries")],
        chosen=chosen,
        asked=sides.query,
        other=(other["by"], f"/profiles/difference?{urlencode(other, doseq=True)}"),
        table=difference_table(sides, part) if shown else None,
        flame=flame(sides) if shown else None,
        offered=[] if shown else _offered(explorer),
    )


def _offered(explorer: Explorer) -> list[tuple[str, str]]:
    wanted = Wanted(formats=tuple(one.name for one in TRACES), broken=False, limit=_OFFERED)
    return [
        (one.id, f"{one.title} ({one.path})") for one in explorer.catalogue.page(wanted).entries
    ]


add_table(router, "/profiles/difference", difference_table)
add_picture(router, "/profiles/difference/flame", flame)
