"""One case: its history, steps, runs, the other points of its matrix, what failed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.verdicts import choose_metrics
from benchyard.catalogue.entry import CaseEntry
from benchyard.catalogue.query import EntryQuery as Asked
from benchyard.core.errors import InputError
from benchyard.core.quantity import moment, plural
from benchyard.results.subject import about
from benchyard.results.trust import Suspect
from benchyard.show.drawing import Drawing
from benchyard.show.history.steps import StepHistory, histories
from benchyard.show.history.steps_plot import history_drawing
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.choice import PlotRequest
from benchyard.show.steps_table import CPU, MEMORY
from benchyard.web.case_links import address, query_of, unusual
from benchyard.web.case_neighbours import campaign_pages, place_of, siblings_of
from benchyard.web.case_results import CaseResults, read_case
from benchyard.web.case_tables import (
    advice,
    case_document,
    failures_table,
    history_table,
    points_table,
    steps_table,
)
from benchyard.web.explorer import Current, Explorer
from benchyard.web.pages.runs import CASE_RUNS, case_runs_table
from benchyard.web.pictures import WIDTHS, Picture, Width, add_picture
from benchyard.web.plots import MOST_CASES, draw_sides, limited
from benchyard.web.rendering import json_answer, render
from benchyard.web.report.cases import repeating
from benchyard.web.tables import DataTable, add_table

router = APIRouter()

Metric = Annotated[str, Query(description="Name of a metric, such as `duration_s`.")]
Step = Annotated[str, Query(description="Id of a step; without it all are meant.")]
Offset = Annotated[int, Query(ge=0, le=10**9)]
#: Rows of the history on the case's page, and sentences about damaged files.
_ROWS, _PROBLEMS = 30, 20


def _read(explorer: Explorer, case_id: str, metric: str) -> tuple[CaseEntry, CaseResults]:
    case = explorer.catalogue.case(case_id)
    found = read_case(case, *_beside(metric))
    choose_metrics(found.known_metrics, [metric])  # refuses what none of them is
    return case, found


def _beside(metric: str) -> tuple[str, ...]:
    """Return what is read beside the duration; by default what the page shows of each step."""
    return (CPU, *MEMORY) if metric == DURATION else (metric,)


# -- steps


def steps(explorer: Current, case_id: str, metric: Metric = DURATION) -> DataTable:
    """Return the medians of each step; the metric may be a glob."""
    case, found = _read(explorer, case_id, metric)
    return _steps(case, found, metric)


def _steps(case: CaseEntry, found: CaseResults, metric: str) -> DataTable:
    names = sorted(choose_metrics(found.known_metrics, [metric]))
    return replace(steps_table(case, found.summary, names), query=query_of(metric=metric))


# -- history


def history(
    explorer: Current, case_id: str, step: Step = "", metric: Metric = DURATION
) -> DataTable:
    """Return the medians of each step, campaign by campaign and host by host."""
    case, found = _read(explorer, case_id, metric)
    pages = campaign_pages(explorer.catalogue, case)
    query = query_of(step=step, metric=metric)
    return history_table(case, _histories(found, step, metric), pages, query)


def _histories(found: CaseResults, step: str, metric: str) -> list[StepHistory]:
    # A glob means many metrics, of which a history shows one.
    [name, *others] = sorted(choose_metrics(found.known_metrics, [metric]))
    if others:
        raise InputError(f"{metric} means {len(others) + 1} metrics, and a history shows one")
    every = histories(found.campaigns, name)
    chosen = [one for one in every if step in ("", one.id)]
    if step and every and not chosen:
        raise InputError(f"no step of the case is {step!r}, or it has no value of {metric}")
    return chosen


def history_picture(
    explorer: Current, case_id: str, step: Step = "", metric: Metric = DURATION
) -> Picture:
    """Draw each step through time."""
    case = explorer.catalogue.case(case_id)

    def draw(width: Width) -> Drawing:
        found = _histories(_read(explorer, case_id, metric)[1], step, metric)
        if not found:
            raise InputError(f"no run of {case.title} has a value of {metric}")
        return history_drawing(found, WIDTHS[width] * 100)

    query = unusual(step=step, metric=metric)
    what = "time" if metric == DURATION else metric
    alt = f"The {what} of {step or 'each step'} of {case.title} over time; the table has the values"
    caption = (
        "Points: medians of the runs of one subject; bars: their 95 % intervals; dots: runs, "
        "rings: suspect ones; violet: what was measured changed."
    )
    return Picture("history-picture", caption, alt, f"{address(case)}/history", draw, query)


# -- runs


def runs(explorer: Current, case_id: str, offset: Offset = 0) -> DataTable:
    """Return the runs of the case, the newest first."""
    case, found = _read(explorer, case_id, DURATION)
    return _runs(explorer, case, found, offset)


def _runs(explorer: Explorer, case: CaseEntry, found: CaseResults, offset: int) -> DataTable:
    page = explorer.catalogue.page(Asked(results=(case.id,), offset=offset, limit=CASE_RUNS))
    return case_runs_table(case, page, offset, found.suspect)


def runs_picture(
    explorer: Current, case_id: str, step: Step = "", metric: Metric = DURATION
) -> Picture:
    """Draw the single runs of each step."""
    case = explorer.catalogue.case(case_id)

    def draw(width: Width) -> Drawing:
        every = _read(explorer, case_id, metric)[1].run_set
        some = limited(every)
        newest, all_runs = len(some.records), len(every.records)
        remark = f"The newest {newest:,} of {all_runs:,} runs." if newest < all_runs else ""
        wish = PlotRequest(PlotKind.STRIPS, metric, (step,) if step else ())
        return draw_sides([("", some)], wish, width, remark=remark)

    alt = f"Every run of {step or 'each step'} of {case.title}, with the medians"
    caption = "The single runs of the newest subject, in their order."
    query = unusual(step=step, metric=metric)
    return Picture("runs-picture", caption, alt, f"{address(case)}/runs", draw, query)


# -- points of the matrix


def points(explorer: Current, case_id: str) -> DataTable:
    """Return the points of the case's matrix."""
    case = explorer.catalogue.case(case_id)
    return points_table(case, siblings_of(explorer.catalogue, case))


def points_picture(
    explorer: Current,
    case_id: str,
    step: Step = "",
    metric: Metric = DURATION,
    x: Annotated[str, Query(description="Parameter along the axis.")] = "",
) -> Picture:
    """Draw the points of the matrix as lines over a parameter that is a number."""
    case = explorer.catalogue.case(case_id)
    siblings = siblings_of(explorer.catalogue, case)

    def draw(width: Width) -> Drawing:
        some = siblings[:MOST_CASES]
        found = [(one.path, read_case(one, *_beside(metric)).run_set) for one in some]
        wish = PlotRequest(None, metric, (step,) if step else (), x=x or None)
        sides = [(path, limited(one, len(found))) for path, one in found if one.records]
        return draw_sides(sides, wish, width)

    left = len(siblings) - MOST_CASES
    return Picture(
        "points-picture",
        "The points of the matrix: medians of the newest subjects.",
        f"The points of {case.case} over a parameter; the table has them too",
        f"{address(case)}/points",
        draw,
        unusual(step=step, metric=metric, x=x),
        notes=[f"{plural(left, 'more point')} not drawn."] if left > 0 else [],
        instead="" if len(siblings) > 1 else "There is no other point of its matrix here.",
    )


# -- failures


def failures(explorer: Current, case_id: str) -> DataTable:
    """Return the steps that failed or were retried, over all campaigns."""
    return _failures(*_read(explorer, case_id, DURATION))


def _failures(case: CaseEntry, found: CaseResults) -> DataTable:
    steps, problems = found.fragile
    return failures_table(case, steps, [f"Left out: {one}" for one in problems[:_PROBLEMS]])


add_table(router, "/case/{case_id}/steps", steps)
add_table(router, "/case/{case_id}/history", history)
add_table(router, "/case/{case_id}/runs", runs)
add_table(router, "/case/{case_id}/points", points)
add_table(router, "/case/{case_id}/failures", failures)
add_picture(router, "/case/{case_id}/history", history_picture)
add_picture(router, "/case/{case_id}/runs", runs_picture)
add_picture(router, "/case/{case_id}/points", points_picture)


# -- the page


@router.get("/case/{case_id}.json")
def as_json(explorer: Current, case_id: str) -> Response:
    """Return what is known of a case, and what its newest subject's runs say together."""
    case, found = _read(explorer, case_id, DURATION)
    newest = found.newest
    return json_answer(
        {
            **case_document(case),
            "description": _description(found),
            "campaigns": [one.folder.name for one in found.campaigns[1:]],
            "subject": dict(found.campaigns[0].subject or {}),
            "commit": list(newest.commit) if newest and newest.commit else None,
            "left_out": [*found.left_out],
            "summary": found.summary,
        }
    )


@router.get("/case/{case_id}", include_in_schema=False)
def page(
    request: Request, explorer: Current, case_id: str, step: Step = "", metric: Metric = DURATION
) -> Response:
    """Show a case."""
    case, found = _read(explorer, case_id, metric)
    summary = found.summary
    siblings = siblings_of(explorer.catalogue, case)
    chosen = (explorer, case_id, step, metric)
    query = query_of(step=step, metric=metric)
    pages = campaign_pages(explorer.catalogue, case)
    told = _histories(found, step, metric)
    return render(
        request,
        "case.html",
        **place_of(explorer.catalogue, case),
        case=case,
        description=_description(found),
        figures=_figures(case, found),
        facts=_facts(case, found),
        badges_of=[(tag, "", None) for tag in case.tags],
        has_before=len(found.campaigns) > 1,
        has_runs=bool(found.run_set.records),
        taken_in=_taken_in(case, found, siblings),
        has_report=bool(found.run_set.records) and not found.is_krowns,
        notes=found.left_out,
        warnings=summary["warnings"],
        advice=advice(summary),
        step=step,
        metric=metric,
        named_steps=_named(summary),
        metrics=found.known_metrics,
        steps=_steps(case, found, metric),
        history_picture=history_picture(*chosen) if told else None,
        history=history_table(case, told, pages, query, _ROWS),
        points=points_table(case, siblings) if len(siblings) > 1 else None,
        points_picture=points_picture(*chosen) if told else None,
        runs=_runs(explorer, case, found, 0),
        runs_picture=runs_picture(*chosen) if told else None,
        failures=_failures(case, found),
    )


def _description(found: CaseResults) -> str:
    return str(found.newest.case.get("description") or "") if found.newest else ""


def _named(summary: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["id"], step["name"]) for step in summary["steps"] if step["measured"]]


def _figures(case: CaseEntry, found: CaseResults) -> list[Sequence[Any]]:
    newest = found.newest
    failed = f"{case.failed:,} not completed" if case.failed else ""
    earlier = len(found.campaigns) - 1
    return [
        ("Runs", f"{case.runs:,}", failed, f"{address(case)}/runs"),
        ("Newest run", moment(case.newest_s), newest.outcome.value if newest else ""),
        ("Testbeds", f"{len(case.hosts):,}", ", ".join(case.hosts[:4]), "/testbeds"),
        ("Earlier campaigns", f"{earlier:,}", "", f"{address(case)}/history"),
    ]


def _facts(case: CaseEntry, found: CaseResults) -> list[tuple[str, str | None]]:
    subject = found.campaigns[0].subject
    point = ", ".join(f"{name}={value}" for name, value in case.point.items())
    return [
        ("Measured", about(subject) if subject else None),
        ("Point", point or None),
        ("Results", str(case.results)),
        ("Measure again", _repeating(found)),
    ]


def _repeating(found: CaseResults) -> str | None:
    if found.is_krowns or not found.run_set.everything:
        return None
    return f"{repeating(found.run_set)}, where the case is"


def _taken_in(case: CaseEntry, found: CaseResults, siblings: Sequence[CaseEntry]) -> str:
    """Return the address of a picture with what is suspect; empty if nothing is."""
    if not any(found.suspect.values()):
        return ""
    sides = [("side", one.id) for one in siblings[:MOST_CASES] or [case]]
    return f"/plot?{urlencode([*sides, ('suspect', Suspect.INCLUDE.value)])}"
