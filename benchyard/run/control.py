"""The control case: what a suite executes first on each host, so that the host's health shows.

It ships with Benchyard and is copied to the lab's folder, where its results are, too: a case in a
package would have to be written beside.
"""

import platform
from pathlib import Path

from benchyard.analysis.comparison.control import control_results
from benchyard.core.files import files_below, write_atomically
from benchyard.core.places import control
from benchyard.results.campaigns import read_campaign
from benchyard.run.request import FEWEST, Campaigning, Request

#: The case as it ships: its ``case.json`` becomes ``metadata.json``.
SHIPPED = Path(__file__).parents[1] / "case" / "control"


def control_request(suite: str | None = None, *, wait: bool = True) -> Request:
    """Return what executes the control case of this host in a new campaign; copy the case.

    Args:
        suite: Id of the suite's flow run: its requests are all of one campaign.

    Raises:
        OSError: If the lab's folder cannot be written.
    """
    folder = control() / "case"
    for file in (SHIPPED / "case.json", *files_below(SHIPPED / "data")):
        target = folder / file.relative_to(SHIPPED)
        target = target.with_name("metadata.json") if file.name == "case.json" else target
        if not target.exists() or target.read_bytes() != file.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, file.read_bytes())
    return Request(
        str(folder),
        root=str(folder),
        results=str(control_results(platform.node())),
        runs=FEWEST,
        campaign=Campaigning.NEW.value,
        cooldown=0.0,
        publish=(),
        wait=wait,
        suite=suite,
    )


def is_controlled(suite: str) -> bool:
    """Tell whether the control case of this host was executed for a suite."""
    campaign = read_campaign(control_results(platform.node()))
    return len(campaign.runs_of({"id": suite})) >= FEWEST
