"""The tasks of a suite, and its turns on this host; their order is in ``flows.execute_suite``.

A turn is a child flow run of ``execute-case``: runs of one case, executed in one go.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any, cast

from prefect import State, get_run_logger, task
from prefect.artifacts import create_table_artifact
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.states import Cancelled, Completed, Failed

import resources
from benchyard.analysis.regressions import Baseline, check_baseline
from benchyard.case.testbeds import this_testbed
from benchyard.core.errors import BenchyardError, CaseFailedError
from benchyard.core.files import shown
from benchyard.core.wording import cell, some
from benchyard.host.testbed import hold_testbed
from benchyard.run.control import control_request, is_controlled
from benchyard.run.interrupts import two_stage_ctrl_c
from benchyard.run.progress import Notice, current_listener, tell
from benchyard.run.request import ExecutionOptions, Request
from benchyard.show.pages.result import suite_table
from benchyard.suite.alarms import AlarmRequest
from benchyard.suite.course import SuiteCourse
from benchyard.suite.driver import TurnEnd, execute_turns
from benchyard.suite.foreseeing import foresee
from benchyard.suite.plan import ChosenCase, SuitePlan, make_suite_plan
from benchyard.suite.request import SuiteRequest
from benchyard.suite.summary import (
    HEAD,
    Summary,
    with_comparisons,
    with_testbeds_comparisons,
    write_summary,
)
from benchyard.suite.turn_records import Place
from tasks.caller import current_caller
from tasks.events import announce_regression
from tasks.flow_run import (
    baseline_of_flow_run,
    campaign_of_flow_run,
    flow_run_id,
    this_flow_run,
    turn_end,
)
from tasks.trust import refuse_request_beyond_reach

#: Key of the artifact, whose history the UI keeps.
KEY = "suite"
#: The artifact has no more rows; the suite's file has all.
_MOST_ROWS = 1000
#: The final state's message names no more cases.
_MOST_NAMED = 5


def request_of_flow_run(requested: SuiteRequest) -> SuiteRequest:
    """Return the request, with what a schedule adds: new campaigns, compared with the last ones.

    Raises:
        InputError: If the request contradicts itself, or names what is not there or not allowed.
    """
    request = replace(
        requested,
        campaign=campaign_of_flow_run(requested.campaign, filtered=requested.is_filtered),
        baseline=baseline_of_flow_run(requested.baseline),
    )
    refuse_request_beyond_reach(request)
    request.check()
    if not request.pool:  # a testbed has folders of its own
        check_baseline(request.baseline)
    return request


@task(name="plan-suite", task_run_name="plan-suite", persist_result=False)
def plan_suite(request: SuiteRequest, began: datetime) -> SuitePlan:
    """Choose and order the runs.

    Which cases have changed is known only after all inputs are read, gigabytes at times. That
    would disturb a measurement, so it holds this host's lock.

    Raises:
        InputError: If the request selects nothing.
        TestbedBusyError: If something is measured on this host, and the request is not to wait.
    """
    registry = resources.find(Path(folder) for folder in request.resources)
    if request.pool:
        plan, warnings = make_suite_plan(request, registry, began), []
    else:
        with hold_testbed("looking which cases have changed", wait=request.wait):
            plan = make_suite_plan(request, registry, began)
        warnings = foresee(plan, request)
    logger = get_run_logger()
    seed = "" if plan.seed is None else f", in random order with seed {plan.seed}"
    logger.info("%d runs of %d cases to execute%s", len(plan.runs), len(plan.entries), seed)
    for text in warnings:
        logger.warning("%s", text)
        tell(current_listener(), Notice(text))
    return plan


def execute_here(
    request: SuiteRequest, course: SuiteCourse, execute_case: Callable[..., Any]
) -> str:
    """Execute the turns of a suite on this host; return why it was stopped, empty if it was not.

    Args:
        execute_case: The flow, which this module may not import: ``flows`` imports ``tasks``.
    """

    def execute(child: Request) -> TurnEnd:
        return turn_end(ended(execute_case, child))

    here, stop = this_testbed(), Event()
    place = Place(here.name or here.host, here)
    base = request.request_of_case(suite=flow_run_id())
    # The suite sends a heartbeat; one of each child's own would cost a second at its end.
    with (
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
        two_stage_ctrl_c(stop.set),
    ):
        if course.left and not request.no_control:
            execute_control(request, flow_run_id(), execute_case)
        stopped = execute_turns(course, place, base, execute, stop)
    return "stopped by the user" if stopped else ""


def ended(flow: Callable[..., Any], request: Request | AlarmRequest) -> State[Any]:
    """Execute a request by a child flow run, and return its state; the command is told of it."""
    state = cast("State[Any]", flow(**asdict(request), return_state=True))
    caller = current_caller()
    return state if caller is None else caller.told(state)


def execute_control(
    options: ExecutionOptions, suite: str | None, execute_case: Callable[..., Any]
) -> None:
    """Execute the control case of this host, once in a suite; say it if that fails.

    Args:
        options: Of the suite, or of one of its cases.
        suite: Id of the suite's flow run.
        execute_case: The flow, as above.
    """
    try:
        if suite and is_controlled(suite):
            return
        request = control_request(suite, wait=options.wait)
        why = turn_end(ended(execute_case, request)).why
    except (OSError, BenchyardError) as error:
        why = str(error)
    if why:
        text = f"the control case failed, and the suite goes on without it: {why}"
        get_run_logger().warning("%s", text)
        tell(current_listener(), Notice(text))


@task(name="compare-suite", task_run_name="compare-suite", persist_result=False)
def compare_suite(
    summary: Summary, entries: Sequence[ChosenCase], request: SuiteRequest
) -> Summary:
    """Compare all cases with the baseline, and emit an event for each regression.

    Testbeds have compared their cases already: here their p-values are corrected for all together.
    """
    baseline = Baseline(request.baseline or "", request.comparison_rule)
    compared = (
        with_testbeds_comparisons(summary)
        if request.pool
        else with_comparisons(summary, entries, baseline, this_flow_run())
    )
    logger = get_run_logger()
    for line, entry in zip(compared.lines, entries, strict=True):
        if entry.results is None or not line.compared:
            continue
        logger.info("%s against %s: %s", line.title, baseline.text, line.compared)
        for regression in line.regressions:
            logger.warning("regression: %s", regression.text)
            announce_regression(regression, entry.results, baseline.text)
    return compared


@task(name="summarize-suite", task_run_name="summarize-suite", persist_result=False)
def summarize_suite(summary: Summary, request: SuiteRequest) -> None:
    """Write the summary to a file, an artifact and the log.

    A full disk, or a server that is away, becomes a warning and fails no suite.
    """
    flow_run, logger = this_flow_run(), get_run_logger()
    try:
        file = shown(write_summary(summary, request, str(flow_run.get("id", "suite")), flow_run))
    except OSError as error:
        logger.warning("the suite's summary could not be written: %s", error)
        file = "nowhere, it could not be written"
    try:
        _show(summary, file)
    except Exception as error:  # noqa: BLE001 - what is shown is in the file
        logger.warning("the suite's summary could not be shown: %s", error)
    for line in summary.bad:
        logger.warning("%s: %s", line.title, line.why or "failed")
    logger.info("%s; all of it: %s", summary.sentence(), file)


def _show(summary: Summary, file: str) -> None:
    rows: list[dict[str, str]] = [dict(zip(HEAD, row, strict=True)) for row in summary.rows()]
    more = len(rows) - _MOST_ROWS
    left_out = f" The first {_MOST_ROWS:,} of {len(rows):,} cases." if more > 0 else ""
    create_table_artifact(
        table=cast("list[dict[str, Any]]", suite_table(rows[:_MOST_ROWS])),
        key=KEY,
        description=f"{cell(summary.sentence())}.{left_out} All of it: {cell(file)}",
    )


def suite_state(summary: Summary, stopped: str) -> State[Any]:
    """Return the final state: Cancelled if stopped, Failed if any case is bad, else Completed.

    Args:
        stopped: Why somebody stopped it; empty if nobody did.
    """
    sentence = summary.sentence()
    if stopped:
        return Cancelled(message=f"{stopped}; {sentence}")
    if summary.bad:
        named = some([line.title for line in summary.bad], _MOST_NAMED)
        message = f"{sentence}; not as wanted: {named}; a retry goes on there"
        return Failed(message=message, data=CaseFailedError(message))
    worse = [line for line in summary.lines if line.regressions]
    worst = f": {worse[0].title}: {worse[0].regressions[0].text}" if worse else ""
    return Completed(message=f"{sentence}{worst}")
