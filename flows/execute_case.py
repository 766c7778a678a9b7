"""The flow that executes a case: one flow run, flat tasks, resumable from its checkpoints."""

from typing import Any

from prefect import State, flow

from benchyard.execution.engine import execute_case as execute
from benchyard.execution.request import Request
from tasks.ending import final_state
from tasks.flow_run import is_first_attempt, name_of_flow_run, this_flow_run
from tasks.lab import processes_of_lab
from tasks.opening import open_case, plan_of
from tasks.secret_blocks import secret_block
from tasks.stages import PrefectStages


@flow(name="execute-case", flow_run_name=name_of_flow_run, persist_result=False)
def execute_case(
    case: str,
    runs: int = 3,
    most_runs: int | None = None,
    until: float | None = None,
    only: tuple[int, ...] = (),
    interval: float = 0.1,
    cooldown: float = 15.0,
    rest_first: bool = False,
    force: bool = False,
    fail_fast: bool = False,
    wait: bool = True,
    wait_for_user: bool = False,
    root: str = ".",
    results: str | None = None,
    resources: tuple[str, ...] = (),
) -> State[Any]:
    """Execute the runs of a case that are not done.

    Args:
        case: Path or name of the case, with the point of its matrix: cases/tpch/sqlite[scale=0.01].
        runs: How many runs there shall be in the end; finished ones count. With most_runs the
            fewest.
        most_runs: The most runs, where precision decides how many there shall be.
        until: Relative precision of the steps' medians at which to stop, such as 0.01; goes with
            most_runs.
        only: Numbers of the runs to execute now; empty means all of them.
        interval: Seconds between two samples of the host.
        cooldown: Seconds of rest between two runs.
        rest_first: Rest before the first run too, because another case ran just now.
        force: Do finished runs again.
        fail_fast: Stop at the first failed run.
        wait: Wait for the testbed if another lab holds it; otherwise fail.
        wait_for_user: Ask for Enter before each step; only in a terminal.
        root: Folder that cases are looked for in.
        results: Folder for results instead of the case's own.
        resources: Folders with further resource classes.
    """
    request = Request(
        case=case,
        runs=runs,
        most_runs=most_runs,
        until=until,
        only=only,
        interval=interval,
        cooldown=cooldown,
        rest_first=rest_first,
        force=force and is_first_attempt(),
        fail_fast=fail_fast,
        wait=wait,
        wait_for_user=wait_for_user,
        root=root,
        results=results,
        resources=resources,
    )
    setting = open_case(
        request, provider=secret_block, flow_run=this_flow_run(), lab=processes_of_lab()
    )
    return final_state(execute(setting, plan_of(request), PrefectStages()))
