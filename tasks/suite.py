"""A suite as one flow run: look, execute here or on testbeds, and sum up."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import State, get_run_logger, task

import resources
from benchyard.analysis.regressions import check_baseline
from benchyard.host.testbed import hold_testbed
from benchyard.run.interrupts import reraise_interrupt
from benchyard.run.progress import Notice, current_listener, tell
from benchyard.suite.course import SuiteCourse, limits_of
from benchyard.suite.foreseeing import foresee
from benchyard.suite.plan import SuitePlan, make_suite_plan
from benchyard.suite.request import SuiteRequest
from benchyard.suite.summary import summed
from tasks.caller import current_caller
from tasks.flow_run import first_start
from tasks.policy import UNCACHED
from tasks.suite_ending import (
    compare_suite,
    compare_testbeds,
    suite_state,
    summarize_suite,
    tell_the_end,
)

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
