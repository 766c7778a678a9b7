"""Let the host come to rest between two runs."""

from prefect import task

from benchyard.run.session import Session
from tasks.policy import UNCACHED


@task(name="cooldown", **UNCACHED)
def cooldown(session: Session, seconds: float) -> None:
    """Wait ``seconds`` seconds, or until the user wants to stop."""
    session.rest(seconds)
