"""The flow run under way: its name in the UI, its identity for the record, and how it ends."""

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import prefect.runtime.flow_run
from prefect import State
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from prefect.states import Cancelled, Completed, Failed

from benchyard.analysis.regressions import PREVIOUS
from benchyard.case.loading import likely_title
from benchyard.core.errors import CaseFailedError
from benchyard.core.model import Json
from benchyard.core.wording import named_runs, printable
from benchyard.results.reasons import failed_alike, why_failed
from benchyard.results.record import RunRecord
from benchyard.run.engine import Executed
from benchyard.run.request import Campaigning
from benchyard.suite.course import End
from benchyard.suite.driver import TurnEnd
from tasks.names import FLOW_RUN

#: So many different reasons a message tells.
_MOST_REASONS = 3


def name_of_flow_run() -> str:
    """Return the name of the flow run about to start: the title of its case."""
    parameters = cast("dict[str, Any]", cast("Any", prefect.runtime.flow_run).parameters)
    return likely_title(Path(str(parameters.get("root", "."))), str(parameters["case"]))


def is_first_attempt() -> bool:
    """Tell whether this flow run is tried for the first time; a retry goes on, force or not."""
    flow_run = _flow_run()
    return flow_run is None or flow_run.run_count <= 1


def campaign_of_flow_run(asked: str, *, filtered: bool = False) -> str:
    """Return which campaign the runs of this flow run belong to.

    What a schedule starts begins one, whoever set the schedule up.

    Args:
        filtered: Whether only cases that changed, or are stale, are wanted: these begin one anyway.
    """
    if is_scheduled() and asked == Campaigning.AUTO and not filtered:
        return Campaigning.NEW.value
    return asked


def baseline_of_flow_run(asked: str | None) -> str | None:
    """Return what this flow run compares with: by a schedule, with the campaign before."""
    return PREVIOUS if asked is None and is_scheduled() else asked


def is_scheduled() -> bool:
    """Tell whether a schedule started this flow run."""
    flow_run = _flow_run()
    return flow_run is not None and bool(flow_run.auto_scheduled)


def first_start() -> datetime | None:
    """Return when this flow run was started for the first time: a retry goes on."""
    flow_run = _flow_run()
    return flow_run.start_time if flow_run else None


def this_flow_run() -> dict[str, Json]:
    """Return id, name and attempt of the flow run under way; empty outside of one.

    In a lab also ``retry``: the id of what its worker executes, which is the suite of a turn.
    """
    run, at_lab = _flow_run(), os.environ.get(FLOW_RUN)
    if run is None:
        return {}
    known: dict[str, Json] = {"id": str(run.id), "name": run.name, "attempt": run.run_count}
    return {**known, "retry": at_lab} if at_lab else known


def flow_run_id() -> str | None:
    """Return the id of the flow run under way; None outside of one."""
    flow_run = _flow_run()
    return str(flow_run.id) if flow_run else None


def _flow_run() -> FlowRun | None:
    context = FlowRunContext.get()
    return context.flow_run if context else None


def final_state(executed: Executed, title: str) -> State[Any]:
    """Return Completed, Failed or Cancelled, with a sentence that says what failed and why.

    Args:
        title: Of the case.
    """
    done = f"{len(executed.done)} run{'s' * (len(executed.done) != 1)} done"
    if executed.interrupted:
        return Cancelled(message=f"stopped by the user; {done}")
    if executed.failed:
        message = f"{title} {_reasons(executed.failed)}; {done}; a retry goes on there"
        return Failed(message=message, data=CaseFailedError(message))
    return Completed(message=done)


def _reasons(failed: Iterable[RunRecord]) -> str:
    """Return each reason once, behind the runs that failed of it."""
    told = [
        f"{named_runs([one.run for one in alike])}: {printable(why_failed(alike[0]))}"
        for alike in failed_alike(failed)
    ]
    more = len(told) - _MOST_REASONS
    return "; ".join([*told[:_MOST_REASONS], *([f"{more} more reasons"] if more > 0 else [])])


def turn_end(state: State[Any]) -> TurnEnd:
    """Return how a turn ended whose flow run has this final state."""
    flow_run = str(state.state_details.flow_run_id or "")
    if state.is_completed():
        return TurnEnd(End.DONE, flow_run=flow_run)
    if state.is_cancelled():
        return TurnEnd(End.CANCELLED, state.message or "", flow_run)
    return TurnEnd(End.FAILED, state.message or str(state.name), flow_run)
