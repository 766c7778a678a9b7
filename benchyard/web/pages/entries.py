"""Results of other programs: the list of them, and each by itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from benchyard.catalogue.entry import RUNS, Entry
from benchyard.catalogue.formats import OTHERS
from benchyard.catalogue.formats.measurements import BenchmarkFile, Measurements, facts
from benchyard.catalogue.formats.mindspore import MINDSPORE, MindsporeSummary
from benchyard.catalogue.formats.tools import TestResultsFile
from benchyard.catalogue.formats.trace_file import ScannerJob, TraceFile
from benchyard.catalogue.mindspore.summaries import Training
from benchyard.catalogue.query import EntryQuery as Wanted
from benchyard.core.errors import BenchyardError, NotFoundError
from benchyard.core.model import Json
from benchyard.core.quantity import day_and_time, plural
from benchyard.core.table import LONG, MOMENT, TEXT, Cell, Field
from benchyard.traces.scanner.profile import Profile
from benchyard.web.explorer import Current, Explorer
from benchyard.web.other_tables import (
    job_facts,
    job_tables,
    measurements_table,
    results_table,
    scalar_values_table,
    scalars_table,
    training_facts,
    values_table,
)
from benchyard.web.rendering import json_answer, render
from benchyard.web.tables import AskedPart, DataTable, Part, add_table, table_of
from benchyard.web.traces import TraceSource, add_trace_views, page_of

router = APIRouter()

_FORMATS = {one.name: one for one in (*OTHERS, *MINDSPORE)}
#: Formats with pages of their own.
_PAGES = {**dict.fromkeys(RUNS, "run"), "mindspore-explain": "explain"}
#: Names of counts are plurals.
_SINGULAR = {"entries": "entry"}
#: What the list knows of an entry, beside its counts.
_TOLD = "id", "format", "path", "title", "broken", "started_s", "updated_s", "host", "commit"
#: What an entry's page may have.
_PARTS = "tables", "pictures", "cards_shown", "remarks", "links"
Text = Annotated[str, Query(max_length=500)]
_Loading: TypeAlias = BenchmarkFile | TestResultsFile | MindsporeSummary


def address_of(entry: Entry) -> str:
    """Return the address of an entry's page."""
    return f"/{_PAGES.get(entry.format, 'entry')}/{entry.id}"


def tool_of(format_name: str) -> str:
    """Return what people call a format."""
    known = _FORMATS.get(format_name)
    return known.tool if known else format_name


# -- the list


def entries_table(
    explorer: Current,
    part: AskedPart,
    format: Text = "",  # noqa: A002 - as Entry calls it
    q: Text = "",
    *,
    broken: bool = False,
) -> DataTable:
    """Return what is not a run, the newest first."""
    asked = {"format": format, "q": q, "broken": "1" if broken else ""}
    query = {name: value for name, value in asked.items() if value}
    formats = (format,) if format else tuple(formats_found(explorer))
    wanted = Wanted(
        text=q,
        formats=formats,
        broken=True if broken else None,
        offset=part.offset,
        limit=part.limit,
    )
    # No format at all would ask for every entry, runs too.
    page = explorer.catalogue.page(wanted) if formats else None
    total = page.total if page else 0
    title, found = f"{plural(total, 'result')} of other programs", page.entries if page else ()
    empty = "There is nothing that fits."
    table = table_of("entries", title, _FIELDS, found, "/entries", empty=empty)
    return part.told(table, total, query)


def formats_found(explorer: Explorer) -> dict[str, int]:
    """Return the formats of what is not a run, with the number of their entries."""
    found = explorer.catalogue.values("format")
    return {name: count for name, count in found.items() if name not in RUNS}


def _contents(entry: Entry) -> Cell:
    said = f"broken: {entry.broken}" if entry.broken else _counted(entry) or "-"
    return Cell({**entry.counts}, said, mark="bad" if entry.broken else "")


def _counted(entry: Entry) -> str:
    return ", ".join(
        f"1 {_SINGULAR.get(what, what.removesuffix('s'))}" if count == 1 else f"{count:,} {what}"
        for what, count in ((name.replace("_", " "), n) for name, n in entry.counts.items())
        if count
    )


_FIELDS: Sequence[Field] = (
    ("title", "Title", LONG, lambda one: Cell(one.title or one.path, href=address_of(one))),
    ("format", "Format", TEXT, lambda one: Cell(one.format, tool_of(one.format))),
    ("contents", "Contents", LONG, _contents),
    ("started_s", "Began (UTC)", MOMENT, lambda one: one.started_s),
    ("updated_s", "Changed (UTC)", MOMENT, lambda one: one.updated_s),
    ("host", "Host", TEXT, lambda one: Cell(one.host, one.host or "-")),
    ("commit", "Commit", TEXT, lambda one: Cell(one.commit, one.commit[:12] or "-")),
    ("path", "Path", LONG, lambda one: one.path),
    ("broken", "Broken", TEXT, lambda one: Cell(one.broken, "yes" if one.broken else "-")),
    ("id", "Id", TEXT, lambda one: Cell(one.id, mark="quiet")),
)


@router.get("/entries", include_in_schema=False)
def entries(
    request: Request,
    explorer: Current,
    table: Annotated[DataTable, Depends(entries_table)],
    *,
    broken: bool = False,
) -> Response:
    """Show what is not a run."""
    counts = formats_found(explorer)
    choices = [(name, f"{tool_of(name)} ({count:,})") for name, count in sorted(counts.items())]
    texts = {name: request.query_params.get(name, "") for name in ("format", "q")}
    asked: dict[str, Any] = {**texts, "broken": broken}
    title = "Results of other programs"
    return render(request, "entries.html", title=title, table=table, choices=choices, asked=asked)


add_table(router, "/entries", entries_table)


# -- tables and pictures of one


def _of_kind(
    kind: type[_Loading], otherwise: str, table: Callable[[Any, str, Part], DataTable]
) -> Callable[..., DataTable]:
    """Return what makes a table of an entry whose format is of a kind, and says if it is not."""

    def endpoint(explorer: Current, entry_id: str, part: AskedPart) -> DataTable:
        entry = explorer.catalogue.entry(entry_id)
        known = _FORMATS.get(entry.format)
        if not isinstance(known, kind):
            raise NotFoundError(f"{entry.path} {otherwise}")
        return table(known.load(entry), f"/entry/{entry_id}", part)

    return endpoint


def _source(explorer: Current, entry_id: str) -> TraceSource:
    return trace_source(explorer.catalogue.entry(entry_id))


def trace_source(entry: Entry) -> TraceSource:
    """Return the trace that an entry is.

    Raises:
        NotFoundError: If it is none.
    """
    if not isinstance(_FORMATS.get(entry.format), TraceFile | ScannerJob):
        raise NotFoundError(f"{entry.path} is no trace or profile")
    return TraceSource(entry.title, f"/entry/{entry.id}", entry.place)


#: Name of a table, kind of the formats that have it, what is said of others, what makes it, and how
#: many rows the page shows.
_TABLES: tuple[tuple[str, type[_Loading], str, Callable[[Any, str, Part], DataTable], int], ...] = (
    ("measurements", BenchmarkFile, "holds no measurements", measurements_table, 100),
    ("values", BenchmarkFile, "holds no measurements", values_table, 20),
    ("results", TestResultsFile, "is no TestResults document", results_table, 100),
    ("scalars", MindsporeSummary, "is no training", scalars_table, 100),
    ("scalar-values", MindsporeSummary, "is no training", scalar_values_table, 20),
)
for _name, _kind, _otherwise, _table, _ in _TABLES:
    add_table(router, f"/entry/{{entry_id}}/{_name}", _of_kind(_kind, _otherwise, _table))
add_trace_views(router, "/entry/{entry_id}", _source)


# -- the page of one


@router.get("/entry/{entry_id}.json", summary="What the list knows of an entry")
def entry_json(explorer: Current, entry_id: str) -> Response:
    """Tell what the catalogue knows of an entry."""
    entry = explorer.catalogue.entry(entry_id)
    document: dict[str, Json] = {name: getattr(entry, name) for name in _TOLD}
    return json_answer({**document, "counts": {**entry.counts}})


@router.get("/entry/{entry_id}", include_in_schema=False)
def entry_page(request: Request, explorer: Current, entry_id: str) -> Response:
    """Show an entry with all that is in it."""
    entry = explorer.catalogue.entry(entry_id)
    if address_of(entry) != f"/entry/{entry_id}":
        return RedirectResponse(address_of(entry))
    broken = entry.broken
    values: dict[str, Any] = {}
    try:
        values = {} if broken else _content(entry)
    except BenchyardError as error:
        broken = str(error)
    told = {**_facts(entry), **values.pop("about", {})}
    about = [(name[:1].upper() + name[1:], text) for name, text in told.items()]
    page: dict[str, Any] = dict.fromkeys(_PARTS, ())
    crumbs = [("Other results", "/entries")]
    return render(
        request,
        "entry.html",
        title=entry.title or entry.path,
        crumbs=crumbs,
        broken=broken,
        about=about,
        **{**page, **values},
    )


def _facts(entry: Entry) -> dict[str, str]:
    return facts(
        format=tool_of(entry.format),
        file=entry.path,
        began=day_and_time(entry.started_s) if entry.started_s is not None else "",
        changed=day_and_time(entry.updated_s),
        host=entry.host,
        commit=entry.commit,
        contents=_counted(entry),
    )


def _content(entry: Entry) -> dict[str, Any]:
    """Return what fills the page of an entry.

    Raises:
        BenchyardError: If it cannot be read.
    """
    known = _FORMATS.get(entry.format)
    if isinstance(known, TraceFile):
        return _trace(trace_source(entry))
    content = known.load(entry) if known else None
    if isinstance(content, Profile):
        shown = {**_trace(trace_source(entry)), "remarks": content.problems}
        tables = [*job_tables(content), *shown["tables"]]
        return {**shown, "about": job_facts(content), "tables": tables}
    tables = [
        table(content, f"/entry/{entry.id}", Part(0, rows))
        for _, kind, _, table, rows in _TABLES
        if isinstance(known, kind)
    ]
    about: Mapping[str, str] = {}
    if isinstance(content, Training):
        about = training_facts(content)
    elif isinstance(content, Measurements):
        about = content.about
    return {"about": about, "tables": tables}


def _trace(source: TraceSource) -> dict[str, Any]:
    shown = page_of(source)
    href = f"/profiles/difference?a={quote(source.href.rpartition('/')[2])}"
    return {**shown, "links": [*shown["links"], ("Compare with another one", href)]}
