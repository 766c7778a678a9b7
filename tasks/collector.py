"""Start and stop the collector of a run."""

from prefect import task

from benchyard.run.session import Session
from tasks.policy import UNCACHED


@task(name="start-collector", **UNCACHED)
def start_collector(session: Session) -> None:
    """Begin to sample."""
    session.start_collector()


@task(name="stop-collector", **UNCACHED)
def stop_collector(session: Session) -> None:
    """End sampling and write the curves."""
    session.stop_collector()
