"""The turns of a suite on this host, one after another, each as a child of the suite's flow run."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, cast

from prefect import State
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from benchyard.case.testbeds import this_testbed
from benchyard.core.model import point_suffix
from benchyard.run.interrupts import graceful
from benchyard.run.request import Request
from benchyard.suite.course import Course, End, Taken
from benchyard.suite.places import Place
from benchyard.suite.plan import done_since
from benchyard.suite.request import SuiteRequest
from tasks.caller import current_caller
from tasks.flow_run import this_flow_run
from tasks.prefect_internals import forget_results, one_client

#: Executes one request as a flow run and returns its state, whatever that is.
Execute = Callable[[Request], State[Any]]


def conduct_here(execute_case: Callable[..., Any]) -> Callable[[SuiteRequest, Course], str]:
    """Return what executes a course on this host.

    Args:
        execute_case: The flow; tasks are below flows and cannot know it.
    """

    def conduct(wish: SuiteRequest, course: Course) -> str:
        # The suite's own heartbeat says that all is well; each child's would cost a second.
        with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
            return _all_turns(wish, course, lambda request: _execute(execute_case, request))

    return conduct


def _execute(execute_case: Callable[..., Any], request: Request) -> State[Any]:
    state = cast("State[Any]", execute_case(**asdict(request), return_state=True))
    forget_results()
    caller = current_caller()
    return state if caller is None else caller.told(state)


def _all_turns(wish: SuiteRequest, course: Course, execute: Execute) -> str:
    here = this_testbed()
    place = Place(here.name or here.host, here)
    asked: list[str] = []
    with graceful(lambda: asked.append("stopped by the user")), one_client():
        rest = False
        while not asked and (taken := course.take([place])) is not None:
            state = execute(_request(wish, course, taken, rest=rest))
            rest = True
            _note(course, taken, state)
            if state.is_cancelled():
                asked.append("stopped by the user")
    if not asked:
        course.give_up([place])
    return asked[0] if asked else ""


def _request(wish: SuiteRequest, course: Course, taken: Taken, *, rest: bool) -> Request:
    entry = course.entries[taken.turn.case]
    case = entry.case
    name = "" if case is None else f"{case.folder}{point_suffix(case.point)}"
    return wish.request(
        name,
        taken.turn.runs,
        again=entry.again,
        rest=rest,
        campaign=entry.campaign,
        suite=str(this_flow_run().get("id") or "") or None,
    )


def _note(course: Course, taken: Taken, state: State[Any]) -> None:
    results = course.entries[taken.turn.case].results
    seen = () if results is None else done_since(results, taken.turn.runs, taken.began_at)
    taken.flow_run = str(state.state_details.flow_run_id or "")
    if state.is_completed():
        course.end(taken, End.DONE)
    elif state.is_cancelled():
        course.end(taken, End.CANCELLED, state.message or "", seen)
    else:
        course.end(taken, End.FAILED, state.message or str(state.name), seen)
