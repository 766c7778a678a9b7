"""The search: a page of runs, and of what else was found, with ways to narrow it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import TypeAlias, cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from benchyard.catalogue.entry import Entry
from benchyard.catalogue.query import Page
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import day_and_time, plural
from benchyard.core.table import MOMENT, NUMBER, SECONDS, TEXT, Cell, Field
from benchyard.results.trust import HostQuality
from benchyard.web.explorer import Current, Explorer
from benchyard.web.pages.entries import address_of
from benchyard.web.rendering import document_of, json_answer, outcome_mark, render
from benchyard.web.searching import MOST_ROWS, Asked, Search
from benchyard.web.tables import DataTable, Ticks, table_of

router = APIRouter()

#: What the head of a column sorts by.
_ORDERS = {
    "case": "title",
    "started_s": "-started_s",
    "duration_s": "-duration_s",
    **{name: name for name in ("run", "outcome", "host", "host_quality")},
}
#: Fields that are offered to narrow the search.
_FACETS = ("outcome", "host", "host_quality", "tag", "case", "version", "commit", "format")
#: Values of each that are offered, the most frequent ones.
_OFFERED = 8


#: Head, links with what each is, how often it is there and whether it is chosen, and how many more.
_Facet: TypeAlias = tuple[str, Sequence[tuple[str, int, str, bool]], int]


def _title(entry: Entry) -> Cell:
    return Cell(entry.case, entry.title or entry.path, f"/case/{entry.results}")


def _began(entry: Entry) -> Cell:
    return Cell(entry.started_s, day_and_time(entry.started_s or entry.updated_s))


def _quality(entry: Entry) -> Cell:
    doubtful = entry.host_quality == HostQuality.SUSPECT
    return Cell(entry.host_quality or None, mark="doubtful" if doubtful else "")


def _state(entry: Entry) -> Cell:
    if entry.broken:
        return Cell(None, "cannot be read", href=address_of(entry), mark="bad")
    if entry.under_way:
        return Cell(None, "under way", mark="doubtful")
    if entry.outcome is None:
        return Cell(None, entry.format, mark="quiet")
    return Cell(str(entry.outcome), mark=outcome_mark(entry.outcome))


#: What a list tells of a run: its case, seven columns of its own, and what only programs read.
RUN_FIELDS: Sequence[Field] = (
    ("case", "Case", TEXT, _title),
    ("run", "Run", NUMBER, lambda one: Cell(one.run, href=address_of(one))),
    ("outcome", "Outcome", TEXT, _state),
    ("started_s", "Began (UTC)", MOMENT, _began),
    ("duration_s", "Took", SECONDS, lambda one: one.duration_s),
    ("host", "Host", TEXT, lambda one: one.host or None),
    ("host_quality", "Host quality", TEXT, _quality),
    ("commit", "Commit", TEXT, lambda one: Cell(one.commit or None, one.commit[:10] or None)),
    *((key, None, TEXT, attrgetter(key)) for key in ("title", "broken", "under_way", "path", "id")),
)


def runs_table(page: Page, search: Search) -> DataTable:
    """Return a page of the search as a table with links to sort by and to go on."""
    pages = [("First page", search.address())] if page.previous else []
    pages += [("Previous", search.address(after=[page.previous]))] if page.previous else []
    pages += [("Next", search.address(after=[page.next]))] if page.next else []
    table = table_of(
        *("runs", plural(page.total, "run"), RUN_FIELDS, page.entries, "/runs"),
        empty="Nothing was found.",
        pages=pages,
        ticks=Ticks.of_runs([entry.id for entry in page.entries]),
    )
    return search.sortable(table, _ORDERS)


def _facets(explorer: Explorer, search: Search) -> list[_Facet]:
    made: list[_Facet] = []
    found = explorer.catalogue.values_of(_FACETS, search.query)
    for field in _FACETS:
        counts = found[field]
        chosen = search.values(field)
        offered = [*chosen, *(value for value in counts if value and value not in chosen)]
        if len(offered) < 2 and not chosen:
            continue
        links = [
            (
                value[:10] if field == "commit" else value,
                counts.get(value, 0),
                search.toggled(field, value),
                value in chosen,
            )
            for value in offered[: _OFFERED + len(chosen)]
        ]
        made.append((field.replace("_", " ").capitalize(), links, len(offered) - len(links)))
    return made


@router.get("/runs.csv", summary="Runs as CSV")
def runs_csv(explorer: Current, search: Asked) -> Response:
    """Answer with the runs that are asked for, all of them unless a limit is given."""
    pages = _pages(explorer, search)
    # Read before anything is sent, so that a wrong order or place is refused.
    first = runs_table(next(pages), search).csv()
    others = (runs_table(page, search).csv(head=False) for page in pages)
    return StreamingResponse(
        (text.encode("utf-8", "backslashreplace") for text in chain([first], others)),
        media_type="text/csv; charset=utf-8",
    )


def _pages(explorer: Current, search: Search) -> Iterator[Page]:
    """Yield what is asked for; all of it, a page at a time, unless a page is asked for."""
    query = search.query if search.is_page else replace(search.query, limit=MOST_ROWS)
    yield (page := explorer.catalogue.page(query))
    while page.next and not search.is_page:
        yield (page := explorer.catalogue.page(replace(query, after=page.next)))


@router.get(
    "/runs.json",
    summary="Runs as JSON",
    responses=document_of("total", "next", "previous", "looking", "entries"),
)
def runs_json(explorer: Current, search: Asked) -> Response:
    """Answer with the runs that are asked for; ``next`` is the ``after`` of the page behind."""
    page = explorer.catalogue.page(search.query)
    entries: list[Json] = [entry_document(entry) for entry in page.entries]
    place: dict[str, Json] = {"total": page.total, "next": page.next, "previous": page.previous}
    return json_answer({**place, "looking": explorer.looks_first, "entries": entries})


def entry_document(entry: Entry) -> JsonObject:
    """Return an entry as a JSON object."""
    left_out = ("root", "steps", "identity")
    names = (name for name in Entry.__dataclass_fields__ if name not in left_out)
    # Mappings and tuples of the catalogue become objects and lists.
    plain = {name: _plain(getattr(entry, name)) for name in names}
    known = {"root": str(entry.root), "results": entry.results or None}
    return {**plain, **known, "href": address_of(entry)}


def _plain(value: object) -> Json:
    if isinstance(value, tuple):
        return list(cast("tuple[Json, ...]", value))
    return cast("Json", dict(cast("JsonObject", value)) if hasattr(value, "items") else value)


@router.get("/runs", include_in_schema=False)
def runs(request: Request, explorer: Current, search: Asked) -> Response:
    """Show the runs that are asked for."""
    page = explorer.catalogue.page(search.query)
    hidden = [pair for pair in search.given if pair[0] in {*_FACETS, "results", "param", "sort"}]
    narrowed = [
        (f"{name}: {value}", search.toggled(name, value))
        for name, value in search.given
        if name not in ("sort", "limit", "offset", "after")
    ]
    return render(
        request,
        "runs.html",
        title="Runs",
        table=runs_table(page, search),
        search=search,
        hidden=hidden,
        narrowed=narrowed,
        facets=_facets(explorer, search) if page.total else [],
    )
