"""Declare a run done."""

from prefect import task

from benchyard.run.session import Session
from tasks.policy import UNCACHED


@task(name="checkpoint", **UNCACHED)
def checkpoint(session: Session) -> None:
    """Declare a run done."""
    session.checkpoint()
