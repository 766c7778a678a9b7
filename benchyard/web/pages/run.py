"""The page of a run, its tables and its files."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote as quoted

from fastapi import APIRouter, Request, Response

from benchyard.analysis.failure_tables import retry_command
from benchyard.core.model import Json, Outcome
from benchyard.core.quantity import day_and_time, duration
from benchyard.results.attempts import RunAttempt, read_tries
from benchyard.results.folders import LOG_FILE, PROFILE, RUN_FILES, run_number
from benchyard.results.reasons import why_failed
from benchyard.results.record import RunRecord
from benchyard.results.subject import about
from benchyard.web.explorer import Current, Explorer, keep_fresh
from benchyard.web.pages.curves import picture
from benchyard.web.pages.live import UNDER_WAY, live_steps_table
from benchyard.web.pages.profiles import run_profiles_table
from benchyard.web.rendering import json_answer, render
from benchyard.web.run_tables import TABLES, file_address, tables_on_page
from benchyard.web.runs import Shown, ShownRun, log_tail, send_file, send_log
from benchyard.web.tables import add_table
from benchyard.web.timeline import timeline

router = APIRouter()

#: Rows of a table that its run's page shows.
_MOST_ROWS = 100
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
    return render(
        request,
        "run.html",
        title=shown.title,
        shown=shown,
        word=_word(shown),
        links=[*_links(shown)],
        facts=facts(explorer, shown),
        live_steps=live_steps_table(shown.entry.place) if shown.under_way else None,
        tables=tables_on_page(shown, _MOST_ROWS),
        has_curves=shown.under_way or shown.folder.metrics.is_file(),
        curves=picture(shown),
        profiles=run_profiles_table(shown.entry) if _may_have_profiles(shown) else None,
        tries=_tries(shown),
        tail=tail,
        bytes_before=before,
        files=[(name, file_address(shown, name)) for name in _files(shown)],
        **_judgement(shown),
    )


def _word(shown: ShownRun) -> str:
    if shown.record is not None:
        return shown.record.outcome.value
    return UNDER_WAY if shown.under_way else "unfinished"


def _links(shown: ShownRun) -> Iterator[tuple[str, str]]:
    yield "Case", f"/case/{shown.entry.results}"
    if shown.record is not None:
        yield "Record", f"/run/{shown.entry.id}.json"


def _judgement(shown: ShownRun) -> dict[str, Any]:
    """Return what the page says of a record, each thing in words."""
    record = shown.record
    if record is None:
        none: Any = {"timeline": None, "failure": "", "many_attempts": False}
        return none | dict.fromkeys(("suspicions", "changed", "warnings"), ())
    failed = record.outcome not in (Outcome.COMPLETED, Outcome.TOLERATED)
    return {
        "timeline": timeline(record),
        "failure": why_failed(record) if failed else "",
        "many_attempts": any(len(step.attempts) > 1 for step in record.steps),
        "suspicions": suspicions(record),
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


def _files(shown: ShownRun) -> list[str]:
    return [name for name in RUN_FILES if (shown.entry.place / name).is_file()]


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
Fact = tuple[str, str, str | None]
#: Most suspect steps that the head names.
_MOST_SUSPECT = 10


def facts(explorer: Explorer, shown: ShownRun) -> list[Fact]:
    """Return what the head tells, without what is not known."""
    return [fact for fact in (*_when_and_where(shown), *_of_what(explorer, shown)) if fact[1]]


def _when_and_where(shown: ShownRun) -> Iterator[Fact]:
    entry, record = shown.entry, shown.record
    host = str(record.environment.get("host") or "") if record else entry.host
    length = record.duration_s if record else entry.duration_s
    yield "Began (UTC)", day_and_time(entry.started_s) if entry.started_s else "", None
    yield "Took", duration(length) if length else "", None
    yield "Host", host, f"/testbed/{_quoted(host)}"
    yield "Host quality", entry.host_quality, None
    yield "Folder", entry.path, None


def _of_what(explorer: Explorer, shown: ShownRun) -> Iterator[Fact]:
    record = shown.record
    if record is None:
        return
    yield "Commit", _commit(record), None
    yield "Versions", ", ".join(_versions(record)), None
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


def _versions(record: RunRecord) -> Iterator[str]:
    for name, told in record.resources.items():
        version = told.get("version") if isinstance(told, dict) else None
        if version:
            yield f"{name} {version}"


def _tags(tags: Json) -> str:
    return ", ".join(map(str, tags)) if isinstance(tags, list) else ""


def _flow_run(explorer: Explorer, identity: Json) -> str | None:
    if not (explorer.prefect_ui and identity):
        return None
    return f"{explorer.prefect_ui.rstrip('/')}/runs/flow-run/{_quoted(str(identity))}"


def _quoted(text: str) -> str:
    # What is no Unicode is in the catalogue as escapes.
    return quoted(text, safe="", errors="backslashreplace")


def suspicions(record: RunRecord) -> list[str]:
    """Return which steps are suspect, and why."""
    said = [
        f"{step.index} {step.name}: {'; '.join(step.suspect)}"
        for step in record.steps
        if step.suspect
    ]
    more = [f"and {len(said) - _MOST_SUSPECT} more steps"] if len(said) > _MOST_SUSPECT else []
    return said[:_MOST_SUSPECT] + more
