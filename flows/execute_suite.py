"""The flow ``execute-suite``: many cases, each a child flow run of ``execute-case``.

    plan-suite → turns (runs of one case in one go) → compare-suite (with a baseline)
        → confirm-changes (with a budget of false alarms) → summarize-suite

Turns are executed in this process, one after another, or on the testbeds of a work pool.
"""

from datetime import UTC, datetime
from typing import Any

from prefect import State

from benchyard.run.interrupts import reraise_interrupt
from benchyard.suite.course import SuiteCourse, limits_of
from benchyard.suite.request import SuiteRequest
from benchyard.suite.summary import summed
from flows.confirm_changes import confirm_changes
from flows.execute_case import execute_case
from tasks.alarms import confirm_after
from tasks.flow_run import first_start
from tasks.parameters import parameters_of
from tasks.schedules import deployed_flow
from tasks.suite import (
    compare_suite,
    execute_here,
    plan_suite,
    request_of_flow_run,
    suite_state,
    summarize_suite,
)
from tasks.suite_testbeds import close_children
from tasks.suite_there import execute_on_testbeds


@deployed_flow("execute-suite", close_children)
@parameters_of(SuiteRequest)
def execute_suite(cases: tuple[str, ...] = (), **options: Any) -> State[Any]:
    """Execute the runs of many cases that are not done, or not done lately."""
    request = request_of_flow_run(SuiteRequest(cases, **options))
    plan = plan_suite(request, first_start() or datetime.now(UTC))
    course = SuiteCourse(plan.entries, plan.turns, limits_of(request))
    stopped = "it was cancelled or killed"  # unless the turns return
    try:
        if request.pool:
            stopped = execute_on_testbeds(request, course)
        else:
            stopped = execute_here(request, course, execute_case)
    except Exception as error:
        reraise_interrupt(error)
        raise
    finally:
        summary = summed(course, seed=plan.seed, interrupted=bool(stopped))
        if request.baseline is not None and not stopped:
            summary = compare_suite(summary, plan.entries, request)
        if request.false_per_month is not None and not stopped:
            summary = confirm_after(summary, request, course.queues, confirm_changes)
        summarize_suite(summary, request)
    return suite_state(summary, stopped)
