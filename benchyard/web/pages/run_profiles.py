"""Profiles that the steps of a run left."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from benchyard.catalogue.entry import RUN, Entry
from benchyard.core.errors import NotFoundError, RecordError
from benchyard.core.files import inside
from benchyard.core.table import LONG, NUMBER, Cell, Column
from benchyard.traces.left_profiles import LeftProfile, left_profiles
from benchyard.web.explorer import Current
from benchyard.web.rendering import render
from benchyard.web.tables import DataTable, add_table
from benchyard.web.trace_figures import TraceSource
from benchyard.web.trace_views import add_trace_views, page_of

router = APIRouter()

_COLUMNS = (
    Column("step", "Step", LONG),
    Column("file", "File", LONG),
    Column("start_s", "Began at (s)", NUMBER),
)


def run_profiles_table(entry: Entry) -> DataTable:
    """Return the profiles that the steps of a run left, each with a link to its page.

    For the page of the run, too; without a row it is better left out.
    """
    href = f"/run/{entry.id}/profiles"
    rows = [
        (
            Cell(one.step, href=f"{href}/{place}"),
            one.file.relative_to(entry.place).as_posix(),
            Cell(one.start_s, f"{one.start_s:.3f}"),
        )
        for place, one in enumerate(_profiles(entry), 1)
    ]
    empty = "No step of this run left a profile."
    return DataTable("profiles", "Profiles that steps left", _COLUMNS, rows, href, empty=empty)


def _profiles(entry: Entry) -> Sequence[LeftProfile]:
    if entry.format != RUN:
        return []
    try:
        found = [*left_profiles(entry.place)]
    except RecordError:  # the run's page tells of it
        return []
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
