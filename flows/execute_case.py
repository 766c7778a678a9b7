"""The flow that executes a case: one flow run, flat tasks, resumable from its checkpoints."""

from dataclasses import replace
from typing import Any

from prefect import State, flow

from benchyard.run.engine import execute_case as execute
from benchyard.run.request import Request
from tasks.events import announce_crash, announce_end
from tasks.finish import conclude, concluding
from tasks.flow_run import (
    baseline_of_flow_run,
    campaign_of_flow_run,
    is_first_attempt,
    name_of_flow_run,
    this_flow_run,
)
from tasks.orphans import close_task_runs
from tasks.parameters import open_case, parameters_of
from tasks.schedules import deployable
from tasks.server import processes_of_lab, secret_block
from tasks.showing import shown_stages
from tasks.trust import refuse_beyond_reach


@flow(
    name="execute-case",
    flow_run_name=name_of_flow_run,
    persist_result=False,
    on_completion=[announce_end],
    on_failure=[announce_end],
    on_crashed=[announce_end, close_task_runs, announce_crash],
    on_cancellation=[announce_end, close_task_runs],
)
@parameters_of(Request)
@deployable
def execute_case(case: str, **options: Any) -> State[Any]:
    """Execute the runs of a case that are not done."""
    asked = Request(case, **options)
    request = replace(
        asked,
        campaign=campaign_of_flow_run(asked.campaign),
        force=asked.force and is_first_attempt(),
        baseline=baseline_of_flow_run(asked.baseline),
    )
    with concluding(request):
        refuse_beyond_reach(
            case=case, root=request.root, results=request.results, resources=request.resources
        )
        setting = open_case(
            request, provider=secret_block, flow_run=this_flow_run(), lab=processes_of_lab()
        )
        request = replace(request, runs=request.runs_of(setting.case))
        return conclude(setting, execute(setting, request, shown_stages(setting, request)), request)
