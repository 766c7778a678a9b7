"""One attempt of one step; Prefect calls it again as often as the step may be retried."""

from prefect import task

from benchyard.execution.session import Session
from benchyard.model import Step
from tasks.policy import UNCACHED


@task(name="step", **UNCACHED)
def execute_step(session: Session, step: Step) -> None:
    """Try the step's command once.

    Raises:
        StepFailedError: If it failed, so that Prefect shows it and tries again.
    """
    session.attempt(step)
