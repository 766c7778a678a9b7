"""Stop the resources of a run."""

from prefect import task

from benchyard.run.session import Session
from tasks.policy import UNCACHED


@task(name="stop-resources", **UNCACHED)
def stop_resources(session: Session) -> None:
    """Stop the resources of a run."""
    session.stop_resources()
