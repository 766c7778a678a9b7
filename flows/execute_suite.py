"""The flow that executes many cases: here, one after another, or on the testbeds of a lab."""

from typing import Annotated, Any, Literal

from prefect import State, flow
from pydantic import Field

from benchyard.suite.request import SuiteRequest
from flows.execute_case import execute_case
from tasks.choices import reference
from tasks.events import announce_end
from tasks.flow_run import baseline_of_flow_run, campaign_of_flow_run
from tasks.reach import refuse_beyond_reach
from tasks.suite import conduct_suite
from tasks.suite_children import close_children
from tasks.suite_here import conduct_here
from tasks.suite_there import conduct_there


@flow(
    name="execute-suite",
    persist_result=False,
    on_completion=[announce_end],
    on_failure=[announce_end],
    on_crashed=[announce_end, close_children],
    on_cancellation=[announce_end, close_children],
)
def execute_suite(
    cases: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    order: Literal["case", "round-robin", "random"] = "case",
    seed: Annotated[int | None, Field(ge=0)] = None,
    runs: Annotated[int, Field(ge=1, le=100_000)] = 3,
    cooldown: Annotated[float, Field(ge=0, le=86_400)] = 15.0,
    interval: Annotated[float, Field(ge=0.001, le=3600)] = 0.1,
    budget: Annotated[float | None, Field(gt=0)] = None,
    changed: bool = False,
    stale: Annotated[float | None, Field(ge=0)] = None,
    force: bool = False,
    campaign: Literal["auto", "new", "keep"] = "auto",
    fail_fast: bool = False,
    pool: str | None = None,
    wait: bool = True,
    root: str = ".",
    results: str | None = None,
    resources: tuple[str, ...] = (),
    publish: tuple[str, ...] = ("local",),
    baseline: str | None = None,
) -> State[Any]:
    """Execute the runs of many cases that are not done, or not done lately.

    Args:
        cases: Folders, names or globs over names, with [name=value] for a point of a matrix; empty
            means all below root.
        tags: Only cases with all of these tags.
        order: How the runs of the cases follow each other; random mixes run by run.
        seed: Of the random order; chosen, and recorded, if left out.
        runs: How many runs of each case there shall be in the end; finished ones count.
        cooldown: Seconds of rest between two runs.
        interval: Seconds between two samples of the host.
        budget: Hours; nothing is begun that would not be through by then.
        changed: Only cases that have changed since their runs were done; these are done again.
        stale: Only cases whose last finished run is older than so many days; they are done again.
            With changed, either will do. A case without runs is both.
        force: Do finished runs again.
        campaign: auto goes on with the runs of each case unless something else would be measured
            now; new begins a campaign of each and keeps the earlier ones; keep goes on whatever
            is measured.
        fail_fast: Begin nothing more once a case has failed.
        pool: Work pool of the testbeds, such as testbeds; empty executes on the host of this flow
            run.
        wait: Wait for the testbed if another lab holds it; otherwise fail.
        root: Folder that cases are looked for in.
        results: Folder for results instead of the cases' own.
        resources: Folders with further resource classes.
        publish: Sinks that finished runs are published to: local, datastore, azure-tables.
        baseline: Finished results to compare with afterwards: a folder, FOLDER@1-5, or previous
            for the campaign before of each case on the same host, which a schedule takes by
            itself; a regression is told as an event and in the message of the final state.
    """
    refuse_beyond_reach(cases=cases, root=root, results=results, resources=resources)
    wish = SuiteRequest(
        cases=cases,
        tags=tags,
        order=order,
        seed=seed,
        runs=runs,
        interval=interval,
        cooldown=cooldown,
        budget=budget,
        changed=changed,
        stale=stale,
        force=force,
        campaign=campaign_of_flow_run(campaign, filtered=changed or stale is not None),
        fail_fast=fail_fast,
        pool=pool,
        wait=wait,
        root=root,
        results=results,
        resources=resources,
        publish=publish,
        baseline=baseline_of_flow_run(baseline),
    )
    return conduct_suite(wish, conduct_there(reference) if pool else conduct_here(execute_case))
