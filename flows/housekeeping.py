"""The flow that keeps the lab's house: spool, disk, leftovers, old results."""

from pathlib import Path
from typing import Annotated, Any

from prefect import State, flow
from pydantic import Field

from benchyard.publish.housekeeping import Policy
from tasks.events import announce_end
from tasks.housekeeping import keep_house
from tasks.schedules import deployable
from tasks.trust import refuse_beyond_reach


@flow(
    name="housekeeping",
    persist_result=False,
    on_completion=[announce_end],
    on_failure=[announce_end],
)
@deployable
def housekeeping(
    root: str = "cases",
    results: str | None = None,
    keep_newest: Annotated[int, Field(ge=0)] = 10,
    younger_than_days: Annotated[float, Field(ge=0)] = 90.0,
    remove_old: bool = False,
    wait: bool = True,
    resources: tuple[str, ...] = (),
) -> State[Any]:
    """Look after the host of this flow run: what waits, what is left over, what may go.

    Args:
        root: Folder that cases are looked for in.
        results: Folder with the results, if they are not in the cases.
        keep_newest: So many of the newest runs of each case stay.
        younger_than_days: Runs younger than that stay, too.
        remove_old: Remove the other runs; without it they are only named.
        wait: Wait until nothing is measured on this host; otherwise fail.
        resources: Folders with further resource classes.
    """
    refuse_beyond_reach(root=root, results=results, resources=resources)
    return keep_house(
        Path(root).resolve(),
        Path(results).resolve() if results else None,
        [Path(folder) for folder in resources],
        Policy(keep_newest, younger_than_days),
        remove_runs=remove_old,
        wait=wait,
    )
