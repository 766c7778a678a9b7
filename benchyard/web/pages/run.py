"""The page of a run, its tables and its files."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote as quoted

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from benchyard.analysis.failure_tables import retry_command
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import day_and_time, duration, shorten
from benchyard.results.attempts import RunAttempt, read_tries
from benchyard.results.folders import LOG_FILE, PROFILE, RUN_FILES, run_number
from benchyard.results.reasons import why_failed
from benchyard.results.record import RunRecord, StepRecord
from benchyard.results.subject import about, told_versions
from benchyard.show.axes import Axis, seconds
from benchyard.show.drawing import Box, Drawing, Line, Text
from benchyard.show.themes import PAGE
from benchyard.statistics import median
from benchyard.web.explorer import Current, Explorer, keep_fresh
from benchyard.web.pages.curves import picture
from benchyard.web.pages.live import UNDER_WAY, live_steps_table
from benchyard.web.pages.profiles import run_profiles_table
from benchyard.web.rendering import json_answer, render
from benchyard.web.run_tables import TABLES, file_address, on_page
from benchyard.web.runs import Shown, ShownRun, log_tail, send_file, send_log
from benchyard.web.tables import add_table

router = APIRouter()

#: Rows of a table that its run's page shows.
_TABLE_ROWS = 100
#: Newest tries that it tells of.
_MOST_TRIES = 20


for _name, _table in TABLES.items():
    add_table(router, f"/run/{{run_id}}/{_name}", _table)


@router.get("/run/{run_id}/file/{path:path}", include_in_schema=False)
def file(shown: Shown, path: str) -> Response:
    """Send a file of the run."""
    return send_file(shown.entry.place, path)


@router.get("/run/{run_id}/log", include_in_schema=False)
def log(shown: Shown) -> Response:
    """Send the whole log as plain text."""
    return send_log(shown.entry.place, LOG_FILE)


@router.get("/run/{run_id}.json")
def record(shown: Shown) -> Response:
    """Return the record of a run; of one without the reason."""
    if shown.record is not None:
        return json_answer(shown.record.to_json())
    return json_answer({"record": None, "under_way": shown.under_way, "reason": shown.reason})


@router.get("/run/{run_id}", include_in_schema=False)
def page(request: Request, explorer: Current, shown: Shown) -> Response:
    """Show a run; of one that goes on what is known so far."""
    if shown.under_way:
        keep_fresh(request)
    tail, before = log_tail(shown.entry.place, LOG_FILE)
    there = [name for name in RUN_FILES if (shown.entry.place / name).is_file()]
    record_link = [("Record", f"/run/{shown.entry.id}.json")] if shown.record else []
    return render(
        request,
        "run.html",
        title=shown.title,
        shown=shown,
        word=_word(shown),
        links=[("Case", f"/case/{shown.entry.results}"), *record_link],
        facts=_run_facts(explorer, shown),
        live_steps=live_steps_table(shown.entry.place) if shown.under_way else None,
        tables={name: on_page(table(shown), _TABLE_ROWS) for name, table in TABLES.items()},
        has_curves=shown.under_way or shown.folder.metrics.is_file(),
        curves=picture(shown),
        profiles=run_profiles_table(shown.entry) if _may_have_profiles(shown) else None,
        tries=_tries(shown),
        tail=tail,
        bytes_before=before,
        files=[(name, file_address(shown, name)) for name in there],
        **_judgement(shown),
    )


def _word(shown: ShownRun) -> str:
    if shown.record is not None:
        return shown.record.outcome.value
    return UNDER_WAY if shown.under_way else "unfinished"


def _judgement(shown: ShownRun) -> dict[str, Any]:
    """Return what the page says of a record, each thing in words."""
    record = shown.record
    if record is None:
        untold = "timeline", "rows_left_out", "failure", "many_attempts"
        return dict.fromkeys((*untold, "suspicions", "changed", "warnings"), ())
    svg, left_out = _timeline(record)
    failed = record.outcome not in (Outcome.COMPLETED, Outcome.TOLERATED)
    return {
        "timeline": Markup(svg),  # noqa: S704 - all its texts are escaped
        "rows_left_out": left_out,
        "failure": why_failed(record) if failed else "",
        "many_attempts": any(len(step.attempts) > 1 for step in record.steps),
        "suspicions": _suspicions(record),
        "changed": record.changed_inputs,
        "warnings": [*_other_warnings(record), *shown.notes],
    }


def _may_have_profiles(shown: ShownRun) -> bool:
    """Tell by the names of the outputs alone: to look for profiles takes a while."""
    outputs = shown.record.outputs if shown.record else ()
    return any(PROFILE in str(one.get("path")) for one in outputs)


def _other_warnings(record: RunRecord) -> list[str]:
    """Return the warnings without those that tell why a step is suspect: that is told before."""
    told = [reason for step in record.steps for reason in step.suspect]
    return [text for text in record.warnings if not any(reason in text for reason in told)]


def _tries(shown: ShownRun) -> list[str]:
    """Tell of each try of the run, if there was more than the one that its record tells of."""
    folder = shown.entry.place
    number = run_number(folder.name)
    found = read_tries(folder.parent, number)[0] if number else []
    if shown.record is not None and len(found) < 2:
        return []
    return [_try(one) for one in found[-_MOST_TRIES:]]


def _try(one: RunAttempt) -> str:
    ended = one.outcome.value if one.outcome else "under way" if one.under_way else "no end"
    took = f" after {duration(one.duration_s)}" if one.duration_s else ""
    why = f": {one.error.message}" if one.error else ""
    return f"{one.started_at} on {one.host}: {ended}{took}{why}"


#: A term, what is said of it, and where that leads.
_Fact = tuple[str, str, str | None]
#: Most suspect steps that the head names.
_MOST_SUSPECT = 10


def _run_facts(explorer: Explorer, shown: ShownRun) -> list[_Fact]:
    """Return what the head tells, without what is not known."""
    return [fact for fact in (*_when_and_where(shown), *_of_what(explorer, shown)) if fact[1]]


def _when_and_where(shown: ShownRun) -> Iterator[_Fact]:
    entry, record = shown.entry, shown.record
    host = str(record.environment.get("host") or "") if record else entry.host
    length = record.duration_s if record else entry.duration_s
    yield "Began (UTC)", day_and_time(entry.started_s) if entry.started_s else "", None
    yield "Took", duration(length) if length else "", None
    yield "Host", host, f"/testbed/{_quoted(host)}"
    yield "Host quality", entry.host_quality, None
    yield "Folder", entry.path, None


def _of_what(explorer: Explorer, shown: ShownRun) -> Iterator[_Fact]:
    record = shown.record
    if record is None:
        return
    yield "Commit", _commit(record), None
    yield "Versions", ", ".join(map(" ".join, told_versions(dict(record.resources)))), None
    yield "Measured", about(record.subject) if record.subject else "", None
    yield "Tags", _tags(record.case.get("tags")), None
    name, identity = record.flow_run.get("name"), record.flow_run.get("id")
    if name or identity:
        yield "Flow run", str(name or identity), _flow_run(explorer, identity)
    if record.outcome not in (Outcome.COMPLETED, Outcome.TOLERATED):
        yield "Go on with", retry_command(record.flow_run), None
    if record.tries:
        yield "Tried before", str(len(record.tries)), None
    yield "Benchyard", record.benchyard_version, None


def _commit(record: RunRecord) -> str:
    found = record.commit
    if found is None:
        return ""
    return found[0] + (", with changes that were not committed" if found[1] else "")


def _tags(tags: Json) -> str:
    return ", ".join(map(str, tags)) if isinstance(tags, list) else ""


def _flow_run(explorer: Explorer, identity: Json) -> str | None:
    if not (explorer.prefect_ui and identity):
        return None
    return f"{explorer.prefect_ui.rstrip('/')}/runs/flow-run/{_quoted(str(identity))}"


def _quoted(text: str) -> str:
    # What is no Unicode is in the catalogue as escapes.
    return quoted(text, safe="", errors="backslashreplace")


def _suspicions(record: RunRecord) -> list[str]:
    """Return which steps are suspect, and why."""
    said = [
        f"{step.index} {step.name}: {'; '.join(step.suspect)}"
        for step in record.steps
        if step.suspect
    ]
    more = [f"and {len(said) - _MOST_SUSPECT} more steps"] if len(said) > _MOST_SUSPECT else []
    return said[:_MOST_SUSPECT] + more


# -- the timeline

#: More rows are no picture any more; the tables have all of them.
MOST_ROWS = 200
#: Pixels: of the picture, of a row with its label, from its top to the bars, of a bar, of the axis.
_WIDTH, _ROW, _LABEL, _BAR, _AXIS = 820, 34, 18, 11, 22
_LONGEST_LABEL = 90
#: Marks of the axis, and where one has no room for its text any more.
_MARKS, _LAST_MARK = 5, 0.95 * _WIDTH
_QUIET = "#8a8f98"
_COLOURS = {
    "phase": "#b9bec5",
    "attempt": "#d9dce0",
    "warmup": "#9ccbe8",
    "completed": "#0072b2",
    "tolerated": "#b86e00",
    "failed": "#c0162c",
    "timed_out": "#c0162c",
}


class _Span(NamedTuple):
    """A bar: when, what colours it, and what is told where a pointer rests on it."""

    start_s: float
    length_s: float
    kind: str
    title: str


def _timeline(record: RunRecord) -> tuple[str, int]:
    """Draw the phases of each resource, and each step with its attempts and their repetitions.

    Returns:
        The text of an SVG, empty without any row, and how many rows it has no room for.
    """
    resources = dict.fromkeys(one.resource for one in record.phases)
    rows = [(name, _phases(record, name)) for name in resources][:MOST_ROWS]
    rows += [(_label(one), [*_attempts(one)]) for one in record.steps[: MOST_ROWS - len(rows)]]
    ends = [span.start_s + span.length_s for _, spans in rows for span in spans]
    length = max([record.duration_s, *ends]) or 1.0
    drawing = Drawing(_WIDTH, _AXIS + _ROW * len(rows))
    across = Axis(0.0, length, 0.0, _WIDTH)
    for at in across.ticks(_MARKS):
        x = across(at)
        drawing.shapes.append(Line([(x, 18), (x, drawing.height)], _COLOURS["attempt"], 0.6))
        drawing.shapes += [Text(x + 3, 12, seconds(at))] if x < _LAST_MARK else []
    for place, (label, spans) in enumerate(rows):
        y = _AXIS + _ROW * place
        drawing.shapes.append(Text(0, y + 13, shorten(label, _LONGEST_LABEL), 12))
        drawing.shapes += _bars(spans, y + _LABEL, _WIDTH / length)
    return drawing.svg(PAGE) * bool(rows), len(resources) + len(record.steps) - len(rows)


def _label(step: StepRecord) -> str:
    took = step.durations_s
    times = f", {len(took)} times" if len(took) > 1 else ""
    length = f", {duration(median(took))}{times}" if took else ""
    tries = f", {len(step.attempts)} attempts" if len(step.attempts) > 1 else ""
    return f"{step.index} {step.name}: {step.outcome.value.replace('_', ' ')}{length}{tries}"


def _phases(record: RunRecord, resource: str) -> list[_Span]:
    return [
        _Span(
            *(one.start_s, one.duration_s, "failed" if one.error else "phase"),
            f"{one.phase} {resource}: {one.outcome.value}, {duration(one.duration_s)}",
        )
        for one in record.phases
        if one.resource == resource
    ]


def _attempts(step: StepRecord) -> Iterator[_Span]:
    """Yield the attempts, and upon each of them its repetitions."""
    for attempt in step.attempts:
        length = attempt.end_s - attempt.start_s
        name = f"attempt {attempt.number}: {attempt.outcome.value}, {duration(length)}"
        yield _Span(attempt.start_s, length, "attempt", name)
        for number, one in enumerate(attempt.repetitions, 1):
            kind = "warmup" if one.kind == "warmup" else one.outcome.value
            told = f"{one.kind} {number}: {one.outcome.value}, {duration(one.duration_s)}"
            yield _Span(one.start_s, one.duration_s, kind, told)


def _bars(spans: Iterable[_Span], y: float, per_second: float) -> Iterator[Box]:
    """Draw bars; of those that begin in the same pixel the longest."""
    for _, alike in groupby(spans, lambda span: (span.kind, int(span.start_s * per_second))):
        one = max(alike, key=lambda span: span.length_s)
        x, width = one.start_s * per_second, max(one.length_s * per_second, 1)
        yield Box(x, y, width, _BAR, _COLOURS.get(one.kind, _QUIET), one.title)
