"""Reports: a case, or a comparison, as one file to keep."""

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from benchyard.analysis.comparison.run_sets import RunSelection, read_run_sets
from benchyard.core.errors import InputError
from benchyard.core.model import slug
from benchyard.web.comparing import command_of, compared
from benchyard.web.explorer import Current
from benchyard.web.report.comparisons import ReportRequest
from benchyard.web.report.document import Report, report_of
from benchyard.web.sides import AskedFor, choose

router = APIRouter()

#: A report has its style sheet inside, and no script; nothing of it may reach out.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)

#: More runs take seconds, and seldom fit into a report.
_MOST_RUNS = 400


@router.get(
    "/case/{case_id}/report.html",
    response_class=HTMLResponse,
    summary="A report of a case, as benchyard report makes it",
)
def case_report(explorer: Current, case_id: str) -> Response:
    """Return a case as one file that opens offline and is read back."""
    case = explorer.catalogue.case(case_id)
    _refuse_many(case.runs)
    found = read_run_sets(RunSelection(case.results))
    return _sent(report_of([*found.items()]))


@router.get(
    "/compare/report.html",
    response_class=HTMLResponse,
    summary="A report of a comparison, as benchyard report --compare makes it",
)
def comparison_report(explorer: Current, asked: AskedFor) -> Response:
    """Return a comparison as one file that opens offline and is read back."""
    _refuse_many(sum(one.count for one in choose(explorer.catalogue, asked.side)))
    shown = compared(explorer, asked)
    command = command_of(shown, asked)
    wish = ReportRequest(asked.request.rule, shown.answer, shown.labels, command=command)
    return _sent(report_of(request=wish))


def _refuse_many(runs: int) -> None:
    if runs > _MOST_RUNS:
        raise InputError(
            f"a report of {runs:,} runs is made by benchyard report alone; here {_MOST_RUNS} at "
            "most are reported"
        )


def _sent(report: Report) -> Response:
    name = f"{slug(report.title) or 'results'}-report.html"
    headers = {
        "Content-Security-Policy": _POLICY,
        "Content-Disposition": f'inline; filename="{name}"',
    }
    return HTMLResponse(report.html.encode("utf-8", "backslashreplace"), headers=headers)
