"""Sides against a reference, as ``benchyard compare`` has it."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi import Request as HttpRequest
from fastapi.responses import RedirectResponse

from benchyard.analysis.comparison.document import comparison_csv, document, markdown
from benchyard.analysis.comparison.request import Against
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.analysis.comparison.tables import RowOrder
from benchyard.analysis.comparison.wording import lacks_suspect
from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.entry import CaseEntry, identified
from benchyard.catalogue.query import EntryQuery
from benchyard.core.errors import InputError
from benchyard.core.table import LONG, MOMENT, NUMBER, TEXT, Cell, Field
from benchyard.show.drawing import Drawing
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.choice import PlotRequest
from benchyard.web.cases import address, name_of
from benchyard.web.comparing import (
    Compared,
    command_of,
    compared,
    exact_sides,
    reversed_words,
    sides_table,
)
from benchyard.web.explorer import Current
from benchyard.web.pictures import Picture, Width, add_picture, draw_sides
from benchyard.web.rendering import csv_answer, json_answer, render
from benchyard.web.report.comparisons import ComparisonPart
from benchyard.web.sides import AddressedComparison, AskedFor, by_time, choose
from benchyard.web.tables import DataTable, Ticks, table_of

router = APIRouter()

#: Cases that are offered to be chosen from.
_OFFERED = 50
#: Sides that have a colour each in a picture.
_MOST_DRAWN = 24


Made = Annotated[Compared, Depends(compared)]

# -- as documents


@router.get("/compare.json", summary="A comparison, the document of benchyard compare --json")
def as_json(made: Made) -> Response:
    """Return the document of ``benchyard compare --json``."""
    return json_answer(document(made.answer.comparison, made.answer.names))


@router.get("/compare.csv", summary="A comparison as CSV, a line for each step, metric and side")
def as_csv(made: Made) -> Response:
    """Return what ``benchyard compare --csv`` prints."""
    return csv_answer(comparison_csv(made.answer.comparison))


@router.get("/compare.md", summary="A comparison as Markdown, for a pull request")
def as_markdown(made: Made) -> Response:
    """Return what ``benchyard compare --markdown`` prints."""
    text = markdown(made.answer.comparison, *made.answer.names)
    content = text.encode("utf-8", "backslashreplace")
    return Response(content, media_type="text/markdown; charset=utf-8")


# -- as pictures


#: Kind to what a picture shows, and to what somebody should know who does not see it.
_PICTURES = {
    PlotKind.RATIO: (
        "Each step relative to the baseline, with 95 % intervals",
        "Ratios of the medians of each step",
    ),
    PlotKind.POINTS: (
        "Every run, with medians and 95 % intervals",
        "A point for each run of each side, by step",
    ),
}


def _picture(kind: PlotKind, explorer: Current, asked: AskedFor) -> Picture:
    def draw(width: Width) -> Drawing:
        shown, rule = compared(explorer, asked), asked.request.rule
        pairs = ((row.baseline.id, row.candidate.id) for row in shown.answer.comparison.rows)
        steps = tuple(dict.fromkeys(chain.from_iterable(pairs)))
        # Several steps of a set of runs may be sides.
        sets: dict[object, tuple[str, RunSet]] = {}
        for name, runs in shown.run_sets:
            sets.setdefault((runs.folder, runs.numbers), (shown.label(name), runs))
        wish = PlotRequest(kind, (rule.main_metric,), steps)
        return draw_sides([*sets.values()], wish, width, suspect=rule.suspect)

    query = {"side": asked.side, **asked.values}
    return Picture(kind.value, *_PICTURES[kind], f"/compare/{kind.value}", draw, query)


for _kind in _PICTURES:
    add_picture(router, f"/compare/{_kind.value}", partial(_picture, _kind))


# -- as a page


@router.get("/compare", include_in_schema=False)
def page(request: HttpRequest, explorer: Current, asked: AskedFor, q: str = "") -> Response:
    """Show a comparison, or what may be compared."""
    common: dict[str, Any] = {
        "title": "Compare",
        "asked": asked,
        "against": Against,
        "orders": RowOrder,
        "q": q,
    }
    if not asked.side:
        offered = _offered(explorer.catalogue, q)
        return render(request, "compare_choice.html", **common, table=offered, problem="")
    try:
        shown = compared(explorer, asked)
    except InputError as error:
        others = _others(explorer.catalogue, asked)
        told = {"problem": str(error), "table": others}
        # A link from a case leads here also where there is no campaign before.
        status = 200 if others is not None and not asked.values else 422
        return render(request, "compare_choice.html", status, **common, **told)
    lasting = asked.called({one.given: one.text for one in shown.chosen})
    if lasting != asked or "ticked" in request.query_params:
        return RedirectResponse(f"/compare{lasting.query()}", 303)
    comparison = shown.answer.comparison
    part = ComparisonPart(comparison, shown.label, shown.hrefs.get)
    drawn = len(shown.run_sets) <= _MOST_DRAWN
    return render(
        request,
        "compare.html",
        **common,
        heading=_heading(shown),
        part=part,
        table=DataTable.of(part.table),
        sides=sides_table(shown),
        remarks=[*part.remarks, *(("steps", text) for mark, text in part.findings if not mark)],
        lacks_suspect=lacks_suspect(comparison),
        has_values=any(row.baseline.values or row.candidate.values for row in comparison.rows),
        command=command_of(shown, asked),
        reversed=list(reversed_words(shown)),
        swapped=asked.swapped if len(shown.chosen) == 2 else None,
        exact=asked.with_sides(exact_sides(explorer.catalogue, shown, asked.request.reference)),
        pictures=[_picture(kind, explorer, asked) for kind in _PICTURES] if drawn else [],
        most_drawn=_MOST_DRAWN,
    )


def _heading(shown: Compared) -> str:
    names = list(dict.fromkeys(name for name, _ in shown.run_sets))
    if len(names) == 2:
        return f"{shown.label(names[1])} against {shown.label(names[0])}"
    return f"{len(names) - 1} sides against {shown.label(names[0])}"


# -- to choose from


def _choice(
    name: str, title: str, cases: Sequence[CaseEntry], href: Callable[[CaseEntry], str], **more: Any
) -> DataTable:
    fields: Sequence[Field] = (
        ("side", "Case", TEXT, lambda case: Cell(case.id, name_of(case), href(case))),
        ("runs", "Runs", NUMBER, lambda case: case.runs),
        ("newest_s", "Newest (UTC)", MOMENT, lambda case: case.newest_s),
        ("hosts", "Hosts", TEXT, lambda case: ", ".join(case.hosts)),
        ("path", "Where", LONG, lambda case: case.path),
    )
    return table_of(name, title, fields, cases, **more)


def _offered(catalogue: Catalogue, text: str) -> DataTable:
    query = EntryQuery(text=text)
    more = catalogue.count_cases(query) - _OFFERED
    notes = [f"{more:,} more; search for them."] if more > 0 else []
    found = catalogue.cases(query, limit=_OFFERED)
    notes.append(
        "The one measured first is the reference. One alone is compared with its campaign before."
    )
    ticks, empty = Ticks([case.id for case in found]), "There is no such case."
    return _choice("choice", "Cases", found, address, empty=empty, notes=notes, ticks=ticks)


def _others(catalogue: Catalogue, asked: AddressedComparison) -> DataTable | None:
    """Return the cases of the same name as the one side that was chosen: campaigns, points."""
    try:
        [one] = choose(catalogue, asked.side)
        own = catalogue.case(identified(one.selection.folder))
    except (InputError, ValueError):
        return None
    if one.step:
        return None

    def together(case: CaseEntry) -> str:
        """Return the address of both; what was measured first is the baseline."""
        ids = [one.id for one in by_time((own, case))]
        return f"/compare{asked.model_copy(update={'side': ids}).query()}"

    cases = catalogue.cases(EntryQuery(cases=(own.case,)), limit=_OFFERED + 1)
    found = [case for case in cases if case.id != own.id][:_OFFERED]
    notes = ["Of sides that are both named, other work is compared too, and said."]
    return _choice("others", "Compare it with", found, together, notes=notes)
