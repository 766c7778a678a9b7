"""The flow ``housekeeping``: spools, leftovers, disks, old results, stuck flow runs."""

from pathlib import Path
from typing import Annotated, Any

from prefect import State
from prefect.states import Completed
from pydantic import Field

from benchyard.host.testbed import hold_testbed
from benchyard.publish.housekeeping import Policy
from tasks.housekeeping import look, look_for_stuck_flow_runs, remove_old_runs, report_line, show
from tasks.schedules import deployed_flow
from tasks.trust import refuse_beyond_reach


@deployed_flow("housekeeping")
def housekeeping(
    root: str = "cases",
    results: str | None = None,
    keep_newest: Annotated[int, Field(ge=1)] = 10,
    younger_than_days: Annotated[float, Field(ge=0)] = 90.0,
    remove_old: bool = False,
    wait: bool = True,
    resources: tuple[str, ...] = (),
) -> State[Any]:
    """Check this host's spools, disks and old results; remove what dead runs left.

    Args:
        root: Folder with cases, in folders at any depth.
        results: Folder with the results, if they are not in the cases.
        keep_newest: How many of the newest runs of each case stay.
        younger_than_days: Runs younger than that stay, too.
        remove_old: Remove the other runs; without it they are only named.
        wait: Wait until nothing is measured on this host; otherwise fail.
        resources: Folders with further resource classes.
    """
    refuse_beyond_reach(root=root, results=results, resources=resources)
    elsewhere = Path(results).resolve() if results else None
    policy = Policy(keep_newest, younger_than_days)
    with hold_testbed("housekeeping", wait=wait):
        report = look(Path(root).resolve(), elsewhere, list(map(Path, resources)), policy)
        if remove_old and report.old:
            report = remove_old_runs(report)
    report = look_for_stuck_flow_runs(report)
    show(report)
    return Completed(message=report_line(report), data=report.to_json())
