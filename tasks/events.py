"""What a flow run tells: events of Prefect's, and a report to its suite.

Events are for automations, and for the feed of the UI. All of a run are made from its record, once
that is written: none while anything is measured, not even beside a step that failed while another
was under way. Prefect sends them from a thread of its own; a server that is away, or refuses one,
changes nothing about a run.
"""

import logging
import socket
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from prefect import Flow, State
from prefect.client.schemas.objects import FlowRun
from prefect.events import emit_event

from benchyard.analysis.comparison.gate import Regression
from benchyard.core.model import Json, JsonObject, Outcome, slug
from benchyard.core.quantity import plural, shorten
from benchyard.results.folders import Results
from benchyard.results.reasons import why_failed
from benchyard.results.record import ErrorRecord, RunRecord, StepRecord
from benchyard.suite.turn_records import CaseReport
from tasks.artifacts import Showcase
from tasks.flow_run import flow_run_id

logger = logging.getLogger(__name__)

RUN_COMPLETED = "benchyard.run.completed"
CASE_FAILED = "benchyard.case.failed"
STEP_RETRIED = "benchyard.step.retried"
STEP_TOLERATED = "benchyard.step.tolerated"
REGRESSION_FOUND = "benchyard.regression.found"
ALARM_RAISED = "benchyard.alarm.raised"
SERVER_BACK = "benchyard.server.back"
#: By it a flow run says itself that it sends no heartbeat any more. The events of its states may
#: wait at the server for others that never come, and may overtake heartbeats that are still on
#: their way. This one follows no other, and takes the way of the heartbeats.
FLOW_RUN_ENDED = "benchyard.flow-run.ended"
_REPORT = "benchyard.report"

#: An event of more than 1.5 MB is refused by the server (PREFECT_SERVER_EVENTS_MAXIMUM_SIZE_BYTES).
_MOST_STEPS = 500
_MOST_ATTEMPTS = 20
_LONGEST_MESSAGE = 1_000


def announce_run(record: RunRecord, folder: Path) -> None:
    """Tell how a run went: that it is completed, and each step that was retried or tolerated.

    Args:
        folder: Of the run.
    """
    title = _title(record)
    where: JsonObject = {
        "case": title,
        "run": record.run,
        "flow_run": dict(record.flow_run),
        "results": str(folder),
    }
    if record.outcome is Outcome.COMPLETED:
        _emit(RUN_COMPLETED, title, where | _run(record))
    for step in record.steps:
        attempts, text = plural(len(step.attempts), "attempt"), f"step {step.index} {step.name}"
        if len(step.attempts) > 1:
            retried = f"{text}: {step.outcome.value} after {attempts}"
            _emit(STEP_RETRIED, title, where | _step(step) | {"text": retried})
        if step.outcome is Outcome.TOLERATED:
            tolerated = f"{text}: failed in {attempts}, and may"
            _emit(STEP_TOLERATED, title, where | _step(step) | {"text": tolerated})


def announce_failure(case: str, reason: str, about: JsonObject | None = None) -> None:
    """Tell that a case failed.

    Args:
        case: Title, or what was asked for where it could not be loaded.
        reason: A sentence without secrets.
        about: What more there is to say.
    """
    text = f"{case} failed: {_short(reason)}"
    payload: JsonObject = {"case": case, "text": text, "reason": _short(reason)}
    _emit(CASE_FAILED, case, payload | (about or {}))


def announce_crash(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Tell of a flow run whose process died; a hook of Prefect's, called in another process.

    Prefect passes the arguments by these names.
    """
    del flow
    about: JsonObject = {"flow_run": {"id": str(flow_run.id), "name": flow_run.name}}
    announce_failure(flow_run.name, state.message or "its process died", about)


def announce_regression(found: Regression, results: Path, baseline: str) -> None:
    """Tell that a case is worse than its baseline."""
    about: JsonObject = {"results": str(results), "baseline": baseline}
    _emit(REGRESSION_FOUND, found.case, found.to_json() | about)


def announce_alarm(case: str, told: JsonObject) -> None:
    """Tell that a case became slower, within the budget of false alarms."""
    _emit(ALARM_RAISED, case, told)


def announce_return(seconds: float) -> None:
    """Tell that the server was away; it is what makes Prefect send the events it still holds."""
    text = f"the Prefect server did not answer for {seconds:.0f} s"
    _emit(SERVER_BACK, "", {"seconds": seconds, "text": text}, kind="server")


def announce_end(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Tell that a deployment's flow run has ended; others send no heartbeat.

    A hook of Prefect's, which passes the arguments by these names.
    """
    del flow
    if flow_run.deployment_id is None:
        return
    emit_event(
        FLOW_RUN_ENDED,
        resource={
            "prefect.resource.id": f"prefect.flow-run.{flow_run.id}",
            "prefect.resource.name": flow_run.name,
        },
        related=[tag_resource(tag) for tag in sorted(flow_run.tags)],
        payload={"state": state.name, "text": f"{flow_run.name} has ended: {state.name}"},
    )


def tag_resource(tag: str) -> dict[str, str]:
    """Return a tag as Prefect relates it to an event."""
    return {"prefect.resource.id": f"prefect.tag.{tag}", "prefect.resource.role": "tag"}


def tell_suite(report: CaseReport) -> None:
    """Keep a report as a label of the flow run under way; a server that is away is no failure."""
    flow_run = flow_run_id()
    if flow_run:
        labels, of_it = {_REPORT: report.to_text()}, {"id": flow_run}
        Showcase().ask("PATCH", "/flow_runs/{id}/labels", path_params=of_it, json=labels)


def report_in(flow_run: FlowRun) -> CaseReport | None:
    """Return what a flow run reported to its suite; None if it said nothing."""
    return CaseReport.from_text(flow_run.labels.get(_REPORT))


def failure_of(records: Iterable[RunRecord], results: Path) -> JsonObject:
    """Return what the event of a failed case says of its failed runs."""
    runs: list[Json] = [_failed(record, results) for record in records]
    return {"results": str(results), "runs_failed": runs}


def _failed(record: RunRecord, results: Path) -> JsonObject:
    broken = [s for s in record.steps if s.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)]
    error = record.error or next((s.attempts[-1].error for s in broken if s.attempts), None)
    return {
        "run": record.run,
        "outcome": record.outcome.value,
        "why": why_failed(record),
        "steps": [_step(step) for step in broken[:_MOST_ATTEMPTS]],
        "error": _error(error) if error else None,
        "log": str(Results(results).run(record.run).log),
    }


# -- what the payloads say


def _run(record: RunRecord) -> JsonObject:
    steps: list[Json] = [_timed(step) for step in record.steps[:_MOST_STEPS]]
    warnings: list[Json] = [_short(text) for text in record.warnings[:_MOST_ATTEMPTS]]
    return {
        "duration_s": record.duration_s,
        "steps": steps,
        "warnings": warnings,
        "text": f"{_title(record)} run {record.run} is completed",
    }


def _timed(step: StepRecord) -> JsonObject:
    durations = step.durations_s
    return {
        "index": step.index,
        "name": step.name,
        "outcome": step.outcome.value,
        "attempts": len(step.attempts),
        "median_s": median(durations) if durations else None,
    }


def _step(step: StepRecord) -> JsonObject:
    errors: list[Json] = [
        {"attempt": one.number, "started_at": one.started_at, **_error(one.error)}
        for one in step.attempts
        if one.error is not None
    ]
    return {**_timed(step), "step": step.id, "errors": errors[-_MOST_ATTEMPTS:]}


def _error(error: ErrorRecord) -> dict[str, Json]:
    return {"type": error.type, "message": _short(error.message)}


def _title(record: RunRecord) -> str:
    return str(record.case.get("title"))


def _short(text: str) -> str:
    return shorten(text, _LONGEST_MESSAGE)


def _emit(event: str, name: str, payload: JsonObject, kind: str = "case") -> None:
    """Hand an event to Prefect's thread; it adds the flow run, its deployment and their tags."""
    identity = f"benchyard.{kind}.{slug(name)}" if name else f"benchyard.{kind}"
    resource = {"prefect.resource.id": identity, "prefect.resource.name": name or kind}
    try:
        emit_event(event, resource=resource, payload={"host": socket.gethostname(), **payload})
    except Exception:
        logger.warning("Prefect took no event %s of %s", event, name, exc_info=True)
