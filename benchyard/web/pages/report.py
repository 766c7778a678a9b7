"""Reports: a case, or a comparison, as one file to keep."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from benchyard.analysis.comparison.pairing import Against
from benchyard.analysis.comparison.rows import Rule
from benchyard.analysis.comparison.run_numbers import parse_runs
from benchyard.analysis.comparison.run_sets import Selection, read_run_sets
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.sides import Side
from benchyard.core.amounts import parse_percent
from benchyard.core.errors import InputError
from benchyard.core.model import slug
from benchyard.web.explorer import Current, Explorer
from benchyard.web.report.document import Report, report_of
from benchyard.web.report.wish import Wish

router = APIRouter()

#: A report has its style sheet inside, and no script; nothing of it may reach out.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"


@router.get("/case/{case_id}/report.html", response_class=Response)
def case_report(explorer: Current, case_id: str) -> Response:
    """Return a report of a case."""
    return _sent(report_of([_side(explorer, case_id)]))


@router.get("/compare/report.html", response_class=Response)
def comparison_report(
    explorer: Current,
    side: Annotated[list[str], Query()],
    metric: Annotated[list[str], Query()] = [DURATION],  # noqa: B006 - FastAPI never changes it
    step: Annotated[list[str], Query()] = [],  # noqa: B006
    against: Against = Against.REFERENCE,
    threshold: str = "1%",
    level: str = "1%",
    include_suspect: bool = False,  # noqa: FBT001, FBT002 - a parameter of the address
) -> Response:
    """Return a report of a comparison: each side the id of a case, ``ID@RUNS`` or ``ID:STEP``."""
    if not side:
        raise InputError("no side is given; write ?side=ID&side=ID, with the ids of cases")
    shares = parse_percent(threshold), parse_percent(level)
    rule = Rule(tuple(metric), *shares, include_suspect, other_work=True, steps=tuple(step))
    sides = [_side(explorer, text) for text in side]
    return _sent(report_of(sides, Wish(compare=True, against=against, rule=rule)))


def _side(explorer: Explorer, text: str) -> Side:
    """Read the side that a text means: ``ID``, ``ID@1-5``, ``ID:STEP``."""
    place, _, step = text.partition(":")
    case_id, _, runs = place.partition("@")
    case = explorer.catalogue.case(case_id)
    found = read_run_sets(Selection(case.results, parse_runs(runs) if runs else None))
    name = case.title + (f"@{runs}" if runs else "") + (f":{step}" if step else "")
    return Side(name, text, found, step or None)


def _sent(report: Report) -> Response:
    name = f"{slug(report.title) or 'results'}-report.html"
    headers = {
        "Content-Security-Policy": _POLICY,
        "Content-Disposition": f'inline; filename="{name}"',
    }
    return Response(report.html, media_type="text/html; charset=utf-8", headers=headers)
