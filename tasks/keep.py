"""Move the declared outputs of a run to its results."""

from prefect import task

from benchyard.run.session import Session
from tasks.policy import UNCACHED


@task(name="keep-outputs", **UNCACHED)
def keep_outputs(session: Session) -> None:
    """Move the declared outputs of a run to its results."""
    session.keep_outputs()
