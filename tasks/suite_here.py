"""The turns of a suite on this host, each as a child of the suite's flow run."""

from collections.abc import Callable
from dataclasses import asdict
from threading import Event
from typing import Any, cast

from prefect import State
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchyard.case.testbeds import this_testbed
from benchyard.run.interrupts import two_stage_ctrl_c
from benchyard.run.request import Request
from benchyard.suite.course import SuiteCourse
from benchyard.suite.driver import TurnEnd, execute_turns
from benchyard.suite.request import SuiteRequest
from benchyard.suite.turn_records import Place
from tasks.caller import current_caller
from tasks.flow_run import flow_run_id, turn_end
from tasks.prefect_internals import forget_results, one_client


def conduct_here(execute_case: Callable[..., Any]) -> Callable[[SuiteRequest, SuiteCourse], str]:
    """Return what executes a course on this host, and says why it was stopped.

    Args:
        execute_case: The flow; tasks are below flows and cannot know it.
    """

    def execute(child: Request) -> TurnEnd:
        state = cast("State[Any]", execute_case(**asdict(child), return_state=True))
        forget_results()
        caller = current_caller()
        return turn_end(state if caller is None else caller.told(state))

    def conduct(request: SuiteRequest, course: SuiteCourse) -> str:
        here, stop = this_testbed(), Event()
        place = Place(here.name or here.host, here)
        base = request.request_of_case(suite=flow_run_id())
        # The suite's own heartbeat says that all is well; each child's would cost a second.
        quiet = temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})
        with quiet, two_stage_ctrl_c(stop.set), one_client():
            stopped = execute_turns(course, place, base, execute, stop)
        return "stopped by the user" if stopped else ""

    return conduct
