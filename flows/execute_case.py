"""The flow ``execute-case``: the runs of a case that are not done, task after task.

    for each run: (cooldown →) initialize → start-collector → the case's graph of steps
        → stop → stop-collector → keep-outputs → record → checkpoint
    then: summarize → upload → archive

The tasks are in ``tasks.case``; inside a flow run they are Prefect's, otherwise plain calls
(``tasks.lazy``). A flow run goes on at the first run without a checkpoint, so a retry of it does.
How a flow run begins and ends (parameters, hooks, final state) is in ``tasks.finish``.
"""

from collections.abc import Sequence
from graphlib import TopologicalSorter
from queue import SimpleQueue
from typing import Any

from benchyard.core.model import Outcome
from benchyard.run.engine import CaseCourse, Executed, Publication
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.run.session import Session
from tasks.case import (
    archive,
    checkpoint,
    cooldown,
    initialize,
    keep_outputs,
    record,
    start_collector,
    step,
    stop,
    stop_collector,
    summarize,
    upload,
)
from tasks.lazy import TaskRun, flow
from tasks.parameters import parameters_of


def _options() -> dict[str, Any]:
    from tasks.finish import flow_options  # noqa: PLC0415 - imports Prefect

    return flow_options


@flow(name="execute-case", options=_options)
@parameters_of(Request)
def execute_case(case: str, **options: Any) -> Any:
    """Execute the runs of a case that are not done."""
    from tasks.finish import execute_in_flow_run  # noqa: PLC0415 - imports Prefect

    request = Request(case, **options)
    if request.control:
        from tasks.suite import execute_control  # noqa: PLC0415 - imports Prefect

        execute_control(request, request.suite, execute_case)
    return execute_in_flow_run(request, execute)


def execute(setting: RunContext, request: Request) -> Executed:
    """Execute the runs of a case: by tasks inside a flow run, otherwise by plain calls."""
    course, last = CaseCourse(setting, request), list[TaskRun]()
    with course.alone():
        for session in course:
            if course.rest:
                last = [cooldown(session, course.rest, wait_for=last)]
                if course.stopping:
                    break
            last = _execute_run(session, last, wait_for_user=request.wait_for_user)
        last = [summarize(setting, wait_for=last)]
    publication = Publication(setting)  # the host may be measured on meanwhile
    if publication.runs:
        last = [upload(publication, wait_for=last)]
        archive(publication, wait_for=last)
    return course.executed()


def _execute_run(
    session: Session, last: Sequence[TaskRun], *, wait_for_user: bool
) -> list[TaskRun]:
    """Execute one run; return the task runs that the next task waits for."""
    with session.abandoned_if_broken():
        session.prepare()
        with session.failed_if_broken():
            last = [initialize(session, wait_for=last)]
            last = [start_collector(session, wait_for=last)]
            last = _execute_steps(session, last, wait_for_user=wait_for_user)
        last = [stop(session, wait_for=last)]
        last = [stop_collector(session, wait_for=last)]
        last = [keep_outputs(session, wait_for=last)]
        last = [record(session, wait_for=last)]
        if session.written.outcome is Outcome.COMPLETED:
            last = [checkpoint(session, wait_for=last)]
    return last


def _execute_steps(
    session: Session, started: list[TaskRun], *, wait_for_user: bool
) -> list[TaskRun]:
    """Execute the graph of steps; return the task runs of those that no other step needs.

    Each is a task run with Prefect's retries, begun once the steps that it needs have ended: a task
    run that waits would be prepared beside a step that is measured. Steps that go on side by side
    are submitted; one alone is called, since Prefect makes a client for each thread (20 ms). A step
    that needs a failed one ends as Skipped; the tasks after the steps are executed all the same.
    """
    runs: dict[str, TaskRun] = {}
    ended = SimpleQueue[str]()
    steps = {planned.id: planned for planned in session.steps.planned()}
    graph = TopologicalSorter({planned.id: planned.needs for planned in steps.values()})
    graph.prepare()
    under_way = 0
    while graph.is_active():
        ready = [steps[i] for i in graph.get_ready()]
        under_way += len(ready)
        for planned in ready:
            if wait_for_user:
                planned.ask_user()
            retried = step.with_retries(planned.retries, planned.goes_on)
            execute_step = retried.attempt if under_way == 1 else retried.submit
            upstream = [runs[i] for i in planned.needs] or started
            runs[planned.id] = execute_step(planned, wait_for=upstream)
            runs[planned.id].add_done_callback(lambda _, ended_id=planned.id: ended.put(ended_id))
        graph.done(ended.get())
        under_way -= 1
    needed = {i for planned in steps.values() for i in planned.needs}
    return [run for i, run in runs.items() if i not in needed] or started
