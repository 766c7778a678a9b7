"""A flow run of ``execute-case``: its options, how it begins, and its final state.

What it executes is in ``flows.execute_case``.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefect import State
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.states import Cancelled, Failed

from benchyard.analysis.regressions import PREVIOUS, Baseline, Looked
from benchyard.case.loading import likely_title
from benchyard.core.errors import RunInterruptedError
from benchyard.results.campaigns import read_campaign
from benchyard.run.engine import Executed
from benchyard.run.interrupts import reraise_interrupt
from benchyard.run.progress import Notice, current_listener, tell
from benchyard.run.request import Request
from benchyard.run.run_context import RunContext
from benchyard.show.pages.result import key_of
from benchyard.suite.turn_records import NO_FAILURE, CaseReport, failure_after
from tasks.artifacts import Showcase
from tasks.caller import remember_end
from tasks.events import (
    announce_crash,
    announce_end,
    announce_failure,
    announce_regression,
    announce_return,
    failure_of,
    tell_suite,
)
from tasks.flow_run import (
    baseline_of_flow_run,
    campaign_of_flow_run,
    final_state,
    is_first_attempt,
    name_of_flow_run,
    this_flow_run,
)
from tasks.parameters import open_case
from tasks.pools import close_task_runs
from tasks.prefect_internals import ask_no_more
from tasks.schedules import deployable
from tasks.server import processes_of_lab, secret_block, wait_for_server
from tasks.showing import shown
from tasks.trust import refuse_request_beyond_reach

#: Options of ``prefect.flow``; hooks are called by Prefect, after a crash by the worker.
flow_options: dict[str, Any] = {
    "flow_run_name": name_of_flow_run,
    "on_completion": [announce_end],
    "on_failure": [announce_end],
    "on_crashed": [announce_end, close_task_runs, announce_crash],
    "on_cancellation": [announce_end, close_task_runs],
}


@deployable
def execute_in_flow_run(
    requested: Request, execute: Callable[[RunContext, Request], Executed]
) -> State[Any]:
    """Execute a request inside the flow run under way; return the final state for Prefect.

    A retry does not force what the first attempt forced: it goes on.
    """
    request = replace(
        requested,
        campaign=campaign_of_flow_run(requested.campaign),
        force=requested.force and is_first_attempt(),
        baseline=baseline_of_flow_run(requested.baseline),
    )
    # While the server is away, a request to it must not hold up the runs for a minute.
    with concluding(request), temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}):
        refuse_request_beyond_reach(request)
        setting = open_case(
            request, provider=secret_block, flow_run=this_flow_run(), lab=processes_of_lab()
        )
        request = replace(request, runs=request.runs_of(setting.case))
        setting = replace(setting, listener=shown(setting, request))
        return conclude(setting, execute(setting, request), request)


@contextmanager
def concluding(request: Request) -> Generator[None]:
    """Emit an event if an error ends the case; at the end wait for a server that is away."""
    try:
        yield
    except RunInterruptedError as error:
        remember_end(Cancelled(message=str(error)))
        raise
    except Exception as error:
        reraise_interrupt(error)
        remember_end(Failed(message=str(error), data=error))
        title = likely_title(Path(request.root), request.case)
        announce_failure(title, str(error) or type(error).__name__)
        raise
    finally:
        _wait_until_server_can_be_told()


def _wait_until_server_can_be_told() -> None:
    listener = current_listener()
    away = wait_for_server(lambda text: tell(listener, Notice(text)))
    if away is None:
        ask_no_more()
    elif away:
        announce_return(away)


def conclude(setting: RunContext, executed: Executed, request: Request) -> State[Any]:
    """Emit events of failures, compare with the baseline, and return the final state.

    A case of a suite leaves a report with its flow run, which the suite reads.
    """
    title = setting.case.title
    state = remember_end(final_state(executed, title))
    if executed.failed and not executed.interrupted:
        about = failure_of(executed.failed, setting.results)
        announce_failure(title, (state.message or "").removeprefix(f"{title} "), about)
    if request.baseline is None and request.suite is None:
        return state
    campaign = read_campaign(setting.results)
    # A retry has nothing to execute where the first attempt died between the last run and here.
    has_runs = bool(executed.records or campaign.runs_of(setting.flow_run))
    comparison = None
    if request.baseline is not None and has_runs and not executed.interrupted:
        comparison = _compare(setting, request, request.baseline)
        message = f"{state.message}; {comparison.verdict}"
        state = remember_end(state.model_copy(update={"message": message}))
    if request.suite is not None:
        ours = setting.flow_run.get("id")
        runs = [
            run for run, record in campaign.records.items() if record.flow_run.get("id") == ours
        ]
        last = executed.records[-1:]
        failure = failure_after(last[0], request.wanted) if last else NO_FAILURE
        tell_suite(CaseReport(tuple(runs), comparison, failure))
    return state


def _compare(setting: RunContext, request: Request, baseline: str) -> Looked:
    """Compare a case with its baseline; a suite reports the regressions of its cases itself."""
    title = setting.case.title
    comparison = Baseline(baseline, request.comparison_rule).look(title, setting.results)
    about = "" if baseline == PREVIOUS else f" against {baseline}"
    tell(setting.listener, Notice(f"{title}{about}: {comparison.summary}"))
    for regression in comparison.regressions if request.suite is None else ():
        tell(setting.listener, Notice(f"regression: {regression.text}"))
        announce_regression(regression, setting.results, baseline)
    if comparison.page:
        key = key_of("comparison", title)
        Showcase().show("markdown", key, comparison.page, comparison.summary)
    return comparison
