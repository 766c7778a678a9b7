"""The flow that executes many cases: here, one after another, or on the testbeds of a lab."""

from dataclasses import replace
from typing import Any

from prefect import State, flow

from benchyard.suite.request import SuiteRequest
from flows.execute_case import execute_case
from tasks.events import announce_end
from tasks.flow_run import baseline_of_flow_run, campaign_of_flow_run
from tasks.parameters import parameters_of, reference
from tasks.schedules import deployable
from tasks.suite import conduct_here, conduct_suite
from tasks.suite_testbeds import close_children
from tasks.suite_there import conduct_there
from tasks.trust import refuse_beyond_reach


@flow(
    name="execute-suite",
    persist_result=False,
    on_completion=[announce_end],
    on_failure=[announce_end],
    on_crashed=[announce_end, close_children],
    on_cancellation=[announce_end, close_children],
)
@parameters_of(SuiteRequest)
@deployable
def execute_suite(cases: tuple[str, ...] = (), **options: Any) -> State[Any]:
    """Execute the runs of many cases that are not done, or not done lately."""
    asked = SuiteRequest(cases, **options)
    request = replace(
        asked,
        campaign=campaign_of_flow_run(asked.campaign, filtered=asked.is_filtered),
        baseline=baseline_of_flow_run(asked.baseline),
    )
    refuse_beyond_reach(
        cases=cases, root=request.root, results=request.results, resources=request.resources
    )
    conduct = conduct_there(reference) if request.pool else conduct_here(execute_case)
    return conduct_suite(request, conduct)
