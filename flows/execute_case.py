"""The flow that executes a case: one flow run, flat tasks, resumable from its checkpoints."""

from collections.abc import Sequence
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
from tasks.lazy import TaskRun, flow, wait
from tasks.parameters import parameters_of

#: Steps that were submitted and have not ended: each has a thread that waits for what it needs.
_MOST_WAITING = 64


def _options() -> dict[str, Any]:
    from tasks.finish import options_of_flow  # noqa: PLC0415 - imports Prefect

    return options_of_flow


@flow(name="execute-case", hooks=_options)
@parameters_of(Request)
def execute_case(case: str, **options: Any) -> Any:
    """Execute the runs of a case that are not done."""
    from tasks.finish import flow_run_of  # noqa: PLC0415 - imports Prefect

    return flow_run_of(Request(case, **options), execute)


def execute(setting: RunContext, request: Request) -> Executed:
    """Execute the runs of a case that are not done: as a flow run, or by plain calls."""
    course, last = CaseCourse(setting, request), list[TaskRun]()
    with course.alone():
        for session in course:
            if course.rest:
                last = [cooldown(session, course.rest, wait_for=last)]
                if course.stopping:
                    break
            last = _one_run(session, last, ask=request.wait_for_user)
        last = [summarize(setting, wait_for=last)]
    publication = Publication(setting)  # the host may be measured on meanwhile
    if publication.runs:
        last = [upload(publication, wait_for=last)]
        archive(publication, wait_for=last)
    return course.executed()


def _one_run(session: Session, last: Sequence[TaskRun], *, ask: bool) -> list[TaskRun]:
    with session.abandoned_if_broken():
        session.prepare()
        with session.failed_if_broken():
            last = [initialize(session, wait_for=last)]
            last = [start_collector(session, wait_for=last)]
            last = _steps(session, last, ask=ask)
        last = [stop(session, wait_for=last)]
        last = [stop_collector(session, wait_for=last)]
        last = [keep_outputs(session, wait_for=last)]
        last = [record(session, wait_for=last)]
        if session.written.outcome is Outcome.COMPLETED:
            last = [checkpoint(session, wait_for=last)]
    return last


def _steps(session: Session, begun: list[TaskRun], *, ask: bool) -> list[TaskRun]:
    """Execute the graph of steps; return the task runs that no other step waits for."""
    runs: dict[str, TaskRun] = {}
    submitted: list[TaskRun] = []
    for one in session.steps.in_order():
        wait(submitted[-_MOST_WAITING : -_MOST_WAITING + 1])
        needs = [runs[i] for i in one.needs] or begun
        if ask:
            wait(needs)
            one.ask_user()
        runs[one.id] = step.repeated(one.retries, one.goes_on).submit(one, wait_for=needs)
        submitted.append(runs[one.id])
    wait(submitted)
    return [runs[i] for i in session.steps.last()] or begun
