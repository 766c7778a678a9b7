"""Which flow run this is: its name in the UI, and its identity for the record."""

from datetime import datetime
from pathlib import Path
from typing import Any, cast

import prefect.runtime.flow_run
from prefect.context import FlowRunContext

from benchyard.analysis.regressions import PREVIOUS
from benchyard.case.selection import likely_title
from benchyard.core.model import Json
from benchyard.run.beginning import Campaigning


def name_of_flow_run() -> str:
    """Return the name of the flow run about to start: the title of its case."""
    parameters = cast("dict[str, Any]", cast("Any", prefect.runtime.flow_run).parameters)
    return likely_title(Path(str(parameters.get("root", "."))), str(parameters["case"]))


def is_first_attempt() -> bool:
    """Tell whether this flow run is tried for the first time; a retry goes on, force or not."""
    return int(str(this_flow_run().get("attempt", 1))) <= 1


def campaign_of_flow_run(wished: str, *, filtered: bool = False) -> str:
    """Return which campaign the runs of this flow run belong to.

    What a schedule starts begins one, whoever set the schedule up.

    Args:
        filtered: Whether only cases that changed, or are stale, are wanted: these begin one anyway.
    """
    if is_scheduled() and wished == Campaigning.AUTO and not filtered:
        return Campaigning.NEW.value
    return wished


def baseline_of_flow_run(wished: str | None) -> str | None:
    """Return what this flow run compares with: by a schedule, with the campaign before."""
    return PREVIOUS if wished is None and is_scheduled() else wished


def is_scheduled() -> bool:
    """Tell whether a schedule started this flow run."""
    context = FlowRunContext.get()
    flow_run = context.flow_run if context is not None else None
    return flow_run is not None and bool(flow_run.auto_scheduled)


def first_start() -> datetime | None:
    """Return when this flow run was started for the first time: a retry goes on."""
    context = FlowRunContext.get()
    return context.flow_run.start_time if context and context.flow_run else None


def this_flow_run() -> dict[str, Json]:
    """Return id, name and attempt of the flow run under way; empty outside of one."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return {}
    run = context.flow_run
    return {"id": str(run.id), "name": run.name, "attempt": run.run_count}


def forget_results() -> None:
    """Let go of what Prefect remembers of each task run so far: nothing here depends on it."""
    context = FlowRunContext.get()
    if context is not None:
        context.run_results.clear()
        context.task_run_assets.clear()
