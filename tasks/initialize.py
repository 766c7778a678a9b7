"""Initialize the resources of a run."""

from prefect import task

from benchyard.run.session import Session
from tasks.policy import UNCACHED


@task(name="initialize", **UNCACHED)
def initialize(session: Session) -> None:
    """Initialize the resources of a run."""
    session.initialize()
