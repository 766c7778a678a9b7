"""The flow that executes a case: one flow run, flat tasks, resumable from its checkpoints."""

from typing import Annotated, Any, Literal

from prefect import State, flow
from pydantic import Field

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
from tasks.opening import open_case, plan_of
from tasks.orphans import close_task_runs
from tasks.reach import refuse_beyond_reach
from tasks.server import processes_of_lab, secret_block
from tasks.showing import shown_stages


@flow(
    name="execute-case",
    flow_run_name=name_of_flow_run,
    persist_result=False,
    on_completion=[announce_end],
    on_failure=[announce_end],
    on_crashed=[announce_end, close_task_runs, announce_crash],
    on_cancellation=[announce_end, close_task_runs],
)
def execute_case(
    case: str,
    runs: Annotated[int, Field(ge=1, le=100_000)] = 3,
    most_runs: Annotated[int | None, Field(ge=1, le=100_000)] = None,
    until: Annotated[float | None, Field(gt=0, lt=1)] = None,
    campaign: Literal["auto", "new", "keep"] = "auto",
    only: tuple[int, ...] = (),
    interval: Annotated[float, Field(ge=0.001, le=3600)] = 0.1,
    cooldown: Annotated[float, Field(ge=0, le=86_400)] = 15.0,
    rest_first: bool = False,
    force: bool = False,
    fail_fast: bool = False,
    wait: bool = True,
    wait_for_user: bool = False,
    ignore_requirements: bool = False,
    root: str = ".",
    results: str | None = None,
    resources: tuple[str, ...] = (),
    publish: tuple[str, ...] = ("local",),
    baseline: str | None = None,
    suite: str | None = None,
) -> State[Any]:
    """Execute the runs of a case that are not done.

    Args:
        case: Path or name of the case, with the point of its matrix: cases/tpch/sqlite[scale=0.01].
        runs: How many runs there shall be in the end; finished ones count. With most_runs the
            fewest.
        most_runs: The most runs, where precision decides how many there shall be.
        until: Relative precision of the steps' medians at which to stop, such as 0.01; goes with
            most_runs.
        campaign: auto goes on with the runs that are done unless something else would be measured
            now (case, classes, versions, commit, host); new begins a campaign and keeps the
            earlier one; keep goes on whatever is measured.
        only: Numbers of the runs to execute now; empty means all of them.
        interval: Seconds between two samples of the host.
        cooldown: Seconds of rest between two runs.
        rest_first: Rest before the first run too, because another case ran just now.
        force: Do finished runs again.
        fail_fast: Stop at the first failed run.
        wait: Wait for the testbed if another lab holds it; otherwise fail.
        wait_for_user: Ask for Enter before each step; only in a terminal.
        ignore_requirements: Execute even if the host is not what the case requires.
        root: Folder that cases are looked for in.
        results: Folder for results instead of the case's own.
        resources: Folders with further resource classes.
        publish: Sinks that finished runs are published to: local, datastore, azure-tables.
        baseline: Finished results to compare with afterwards: a folder, FOLDER@1-5, or previous
            for the campaign before on the same host, which a schedule takes by itself; a
            regression is told.
        suite: Flow run of the suite that this is a turn of; the suite says so itself.
    """
    request = Request(
        case=case,
        runs=runs,
        most_runs=most_runs,
        until=until,
        campaign=campaign_of_flow_run(campaign),
        only=only,
        interval=interval,
        cooldown=cooldown,
        rest_first=rest_first,
        force=force and is_first_attempt(),
        fail_fast=fail_fast,
        wait=wait,
        wait_for_user=wait_for_user,
        ignore_requirements=ignore_requirements,
        root=root,
        results=results,
        resources=resources,
        publish=publish,
        baseline=baseline_of_flow_run(baseline),
        suite=suite,
    )
    with concluding(request):
        refuse_beyond_reach(case=case, root=root, results=results, resources=resources)
        setting = open_case(
            request, provider=secret_block, flow_run=this_flow_run(), lab=processes_of_lab()
        )
        plan = plan_of(request)
        return conclude(setting, execute(setting, plan, shown_stages(setting, plan)), request)
