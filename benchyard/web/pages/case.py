"""The page of a case, and its pictures: its history, its runs, the other points of its matrix."""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from benchyard.analysis.comparison.samples import DURATION
from benchyard.catalogue.entry import CaseEntry
from benchyard.core.errors import InputError
from benchyard.core.quantity import moment, plural, shorten
from benchyard.results.subject import about
from benchyard.results.trust import Suspect
from benchyard.show.drawing import Drawing
from benchyard.show.history.plot import CAPTION, history_drawing
from benchyard.show.history.report import told_levels
from benchyard.show.results_plot.chart import PlotKind
from benchyard.show.results_plot.choice import PlotRequest
from benchyard.web.case_results import CaseResults, read_case
from benchyard.web.cases import address, case_document, place_of, siblings_of, unusual
from benchyard.web.explorer import Current
from benchyard.web.pages.case_tables import (
    Metric,
    Shown,
    Step,
    Usual,
    failures_table,
    metrics_of,
    newest_history,
    points_table,
    runs_table,
    shown_case,
    steps_table,
)
from benchyard.web.pictures import (
    MOST_CASES,
    WIDTHS,
    Picture,
    Width,
    add_picture,
    draw_sides,
    limited,
)
from benchyard.web.rendering import json_answer, render
from benchyard.web.report.cases import repeating

router = APIRouter()

#: Rows of the history on the page.
_ROWS = 30


# -- pictures: what they show is read when somebody looks


def history_picture(
    explorer: Current, case_id: str, step: Step = "", metric: Metric = DURATION
) -> Picture:
    """Draw each step through time."""
    case = explorer.catalogue.case(case_id)

    def draw(width: Width) -> Drawing:
        found = shown_case(explorer, case_id, metric).histories(step)
        if not found:
            raise InputError(f"no run of {case.title} has a value of {metric}")
        return history_drawing(found, WIDTHS[width] * 100)

    what = "time" if metric == DURATION else metric
    return Picture(
        "history-picture",
        CAPTION,
        f"The {what} of {step or 'each step'} of {case.title} over time; the table has the values",
        address(case, "history"),
        draw,
        unusual(step=step, metric=metric),
    )


def runs_picture(
    explorer: Current, case_id: str, step: Step = "", metric: Metric = DURATION
) -> Picture:
    """Draw the single runs of each step."""
    case = explorer.catalogue.case(case_id)

    def draw(width: Width) -> Drawing:
        every = shown_case(explorer, case_id, metric).results.run_set
        some = limited(every)
        newest, all_runs = len(some.records), len(every.records)
        remark = f"The newest {newest:,} of {all_runs:,} runs." if newest < all_runs else ""
        wish = PlotRequest(PlotKind.STRIPS, (metric,), (step,) if step else ())
        return draw_sides([("", some)], wish, width, remark=remark)

    return Picture(
        "runs-picture",
        "The single runs of the newest subject, in their order.",
        f"Every run of {step or 'each step'} of {case.title}, with the medians",
        address(case, "runs"),
        draw,
        unusual(step=step, metric=metric),
    )


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
        found = [(one.path, read_case(one, *metrics_of(metric)).run_set) for one in some]
        wish = PlotRequest(None, (metric,), (step,) if step else (), x=x or None)
        sides = [(path, limited(one, len(found))) for path, one in found if one.records]
        return draw_sides(sides, wish, width)

    left = len(siblings) - MOST_CASES
    return Picture(
        "points-picture",
        "The points of the matrix: medians of the newest subjects.",
        f"The points of {case.case} over a parameter; the table has them too",
        address(case, "points"),
        draw,
        unusual(step=step, metric=metric, x=x),
        notes=[f"{plural(left, 'more point')} not drawn."] if left > 0 else [],
        instead="" if len(siblings) > 1 else "There is no other point of its matrix here.",
    )


add_picture(router, "/case/{case_id}/history", history_picture)
add_picture(router, "/case/{case_id}/runs", runs_picture)
add_picture(router, "/case/{case_id}/points", points_picture)


# -- the page


@router.get("/case/{case_id}.json")
def as_json(shown: Usual) -> Response:
    """Return what is known of a case, and what its newest subject's runs say together."""
    found = shown.results
    newest = found.newest
    return json_answer(
        {
            **case_document(shown.entry),
            "description": _description(found),
            "campaigns": [one.folder.name for one in found.campaigns[1:]],
            "subject": dict(found.campaigns[0].subject or {}),
            "commit": list(newest.commit) if newest and newest.commit else None,
            "left_out": [*found.left_out],
            "summary": found.summary,
            "changes": [
                {"step": series.step, "host": series.hosts[0], **move.to_json()}
                for series in shown.histories("")
                for move in series.levels.moves
            ],
        }
    )


@router.get("/case/{case_id}", include_in_schema=False)
def page(
    request: Request, explorer: Current, case_id: str, shown: Shown, step: Step = ""
) -> Response:
    """Show a case."""
    case, found, metric = shown.entry, shown.results, shown.metric
    steps = found.summary["steps"]
    pictures = (history_picture, runs_picture, points_picture)
    points = points_table(explorer, case_id)
    history = newest_history(shown, step, _ROWS)
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
        taken_in=_taken_in(shown),
        has_report=bool(found.run_set.records) and not found.is_krowns,
        notes=[*found.left_out, *found.summary["warnings"]],
        advice=_advice(steps),
        step=step,
        metric=metric,
        named_steps=[(one["id"], one["name"]) for one in steps if one["measured"]],
        metrics=found.known_metrics,
        steps=steps_table(shown),
        history=history,
        points=points if len(points.rows) > 1 else None,
        runs=runs_table(shown),
        pictures=[
            draw(explorer, case_id, step, metric) if history.rows else None for draw in pictures
        ],
        failures=failures_table(shown),
        levels=told_levels(shown.histories(step)),
    )


def _description(found: CaseResults) -> str:
    return str(found.newest.case.get("description") or "") if found.newest else ""


def _figures(case: CaseEntry, found: CaseResults) -> list[Sequence[Any]]:
    newest = found.newest
    failed = f"{case.failed:,} not completed" if case.failed else ""
    earlier = len(found.campaigns) - 1
    return [
        ("Runs", f"{case.runs:,}", failed, address(case, "runs")),
        ("Newest run", moment(case.newest_s), newest.outcome.value if newest else ""),
        ("Testbeds", f"{len(case.hosts):,}", ", ".join(case.hosts[:4]), "/testbeds"),
        ("Earlier campaigns", f"{earlier:,}", "", address(case, "history")),
    ]


def _facts(case: CaseEntry, found: CaseResults) -> list[tuple[str, str | None]]:
    subject = found.campaigns[0].subject
    point = ", ".join(f"{name}={value}" for name, value in case.point.items())
    repeat = None
    here = found.newest and not found.newest.case.get("imported")
    if found.run_set.everything and here and not found.is_krowns:
        repeat = f"{repeating(found.run_set)}, where the case is"
    return [
        ("Measured", about(subject) if subject else None),
        ("Point", point or None),
        ("Results", str(case.results)),
        ("Measure again", repeat),
    ]


def _taken_in(shown: Usual) -> str:
    """Return the address of a picture with what is suspect; empty if nothing is."""
    if not any(shown.results.suspect.values()):
        return ""
    siblings = siblings_of(shown.catalogue, shown.entry)[:MOST_CASES] or [shown.entry]
    sides = [("side", one.id) for one in siblings]
    return f"/plot?{urlencode([*sides, ('suspect', Suspect.INCLUDE.value)])}"


def _advice(steps: Sequence[dict[str, Any]]) -> list[str]:
    """Return what to do for better numbers, each with the steps that it is about."""
    found: dict[str, list[str]] = {}
    for step in steps:
        for text in step.get("advice") or ():
            found.setdefault(text, []).append(step["name"])
    return [f"{shorten(', '.join(names), 80)}: {text}" for text, names in found.items()]
