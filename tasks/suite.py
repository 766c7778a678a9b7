"""A suite as one flow run: look, execute here or on testbeds, and sum up.

At the end: what became worse, its summary in a file and in the UI, and its state.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
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
from benchyard.core.errors import CaseFailedError
from benchyard.core.files import shown
from benchyard.core.wording import cell, some
from benchyard.host.testbed import hold_testbed
from benchyard.run.interrupts import reraise_interrupt, two_stage_ctrl_c
from benchyard.run.progress import Notice, current_listener, tell
from benchyard.run.request import Request
from benchyard.show.pages.result import suite_table
from benchyard.suite.course import SuiteCourse, limits_of
from benchyard.suite.driver import TurnEnd, execute_turns
from benchyard.suite.foreseeing import foresee
from benchyard.suite.plan import ChosenCase, SuitePlan, make_suite_plan
from benchyard.suite.request import SuiteRequest
from benchyard.suite.summary import (
    HEAD,
    Summary,
    summed,
    with_comparisons,
    with_testbeds_comparisons,
    write_summary,
)
from benchyard.suite.turn_records import Place
from tasks.caller import current_caller
from tasks.events import announce_regression
from tasks.flow_run import first_start, flow_run_id, this_flow_run, turn_end
from tasks.prefect_internals import UNCACHED

#: Executes the turns of a course; returns why it was stopped, or nothing.
Conduct = Callable[[SuiteRequest, SuiteCourse], str]


@task(name="plan-suite", **UNCACHED)
def plan_suite(request: SuiteRequest, began: datetime) -> SuitePlan:
    """Choose and order the runs.

    What only a look at all inputs can tell is looked at while nothing is measured on this host:
    reading gigabytes would disturb it.
    """
    registry = resources.find(Path(folder) for folder in request.resources)
    if request.pool:
        return make_suite_plan(request, registry, began)
    with hold_testbed("looking which cases have changed", wait=request.wait):
        return make_suite_plan(request, registry, began)


def conduct_suite(request: SuiteRequest, conduct: Conduct) -> State[Any]:
    """Do everything in order.

    Args:
        conduct: Executes the turns, here or elsewhere.

    Raises:
        InputError: If the request selects nothing, or cannot be meant.
        TestbedBusyError: If this host measures, it matters, and waiting is not wanted.
    """
    caller = current_caller()
    if caller is not None:
        caller.begin()
    request.check()
    if not request.pool:  # a testbed has folders of its own
        check_baseline(request.baseline)
    plan = plan_suite(request, first_start() or datetime.now(UTC))
    logger = get_run_logger()
    seed = "" if plan.seed is None else f", in random order with seed {plan.seed}"
    logger.info("%d runs of %d cases to execute%s", len(plan.runs), len(plan.entries), seed)
    for text in () if request.pool else foresee(plan, request):
        logger.warning("%s", text)
        tell(current_listener(), Notice(text))
    course = SuiteCourse(plan.entries, plan.turns, limits_of(request))
    stopped = "it was cancelled or killed"
    try:
        stopped = conduct(request, course)
    except Exception as error:
        reraise_interrupt(error)
        raise
    finally:
        summary = summed(course, seed=plan.seed, interrupted=bool(stopped))
        if request.baseline is not None and not stopped:
            summary = (
                compare_testbeds(summary, plan.entries, request.baseline)
                if request.pool
                else compare_suite(summary, plan.entries, request.baseline, request)
            )
        file = summarize_suite(summary, request)
        tell_the_end(summary, file)
    return suite_state(summary, stopped)


def conduct_here(execute_case: Callable[..., Any]) -> Callable[[SuiteRequest, SuiteCourse], str]:
    """Return what executes a course on this host, and says why it was stopped.

    Args:
        execute_case: The flow; tasks are below flows and cannot know it.
    """

    def execute(child: Request) -> TurnEnd:
        state = cast("State[Any]", execute_case(**asdict(child), return_state=True))
        caller = current_caller()
        return turn_end(state if caller is None else caller.told(state))

    def conduct(request: SuiteRequest, course: SuiteCourse) -> str:
        here, stop = this_testbed(), Event()
        place = Place(here.name or here.host, here)
        base = request.request_of_case(suite=flow_run_id())
        # The suite's own heartbeat says that all is well; each child's would cost a second.
        quiet = temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})
        with quiet, two_stage_ctrl_c(stop.set):
            stopped = execute_turns(course, place, base, execute, stop)
        return "stopped by the user" if stopped else ""

    return conduct


#: The artifact's key: the UI keeps its history.
KEY = "suite"
#: More rows are no table for people; the file has all.
_MOST_ROWS = 1000
_NAMED = 5


@task(name="compare-suite", **UNCACHED)
def compare_suite(
    summary: Summary, entries: Sequence[ChosenCase], baseline: str, request: SuiteRequest
) -> Summary:
    """Compare what was done with the baseline, and tell of each regression as an event."""
    compared = with_comparisons(
        summary, entries, Baseline(baseline, request.comparison_rule), this_flow_run()
    )
    _tell(compared, entries, baseline)
    return compared


@task(name="compare-testbeds", **UNCACHED)
def compare_testbeds(summary: Summary, entries: Sequence[ChosenCase], baseline: str) -> Summary:
    """Judge together what testbeds compared, and tell of each regression as an event."""
    compared = with_testbeds_comparisons(summary)
    _tell(compared, entries, baseline)
    return compared


def _tell(compared: Summary, entries: Sequence[ChosenCase], baseline: str) -> None:
    logger = get_run_logger()
    for line, entry in zip(compared.lines, entries, strict=True):
        if entry.results is None or not line.compared:
            continue
        logger.info("%s against %s: %s", line.title, baseline, line.compared)
        for found in line.regressions:
            logger.warning("regression: %s", found.text)
            announce_regression(found, entry.results, baseline)


@task(name="summarize-suite", **UNCACHED)
def summarize_suite(summary: Summary, request: SuiteRequest) -> str:
    """Keep the summary in a file, show it in the UI, and return where the file is.

    A full disk, or a server that is away, is told and ends no suite.
    """
    flow_run = this_flow_run()
    try:
        file = shown(write_summary(summary, request, str(flow_run.get("id", "suite")), flow_run))
    except OSError as error:
        get_run_logger().warning("the suite's summary could not be written: %s", error)
        file = "nowhere, it could not be written"
    try:
        _show(summary, file)
    except Exception as error:  # noqa: BLE001 - what is shown is in the file
        get_run_logger().warning("the suite's summary could not be shown: %s", error)
    return file


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
    """Return the state that tells the truth: Failed as soon as anything did not work.

    Args:
        stopped: Why somebody stopped it; empty if nobody did.
    """
    sentence = summary.sentence()
    if summary.interrupted:
        return Cancelled(message=f"{stopped or 'stopped by the user'}; {sentence}")
    bad = summary.bad
    if not bad:
        return Completed(message=f"{sentence}{_worst(summary)}")
    named = some([line.title for line in bad], _NAMED)
    message = f"{sentence}; not as wanted: {named}; a retry goes on there"
    return Failed(message=message, data=CaseFailedError(message))


def _worst(summary: Summary) -> str:
    worse = [line for line in summary.lines if line.regressions]
    return f": {worse[0].title}: {worse[0].regressions[0].text}" if worse else ""


def tell_the_end(summary: Summary, file: str) -> None:
    """Write the summary to the flow run's log."""
    logger = get_run_logger()
    for line in summary.bad:
        logger.warning("%s: %s", line.title, line.why or "failed")
    logger.info("%s; all of it: %s", summary.sentence(), file)
