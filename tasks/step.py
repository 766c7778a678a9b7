"""One attempt of one step; Prefect calls it again as often as the step may be retried."""

from prefect import task

from benchyard.run.session import Session
from tasks.ended import Ticket
from tasks.policy import UNCACHED


@task(name="step", task_run_name="run{session.run}/{ticket.step.label}", **UNCACHED)
def execute_step(session: Session, ticket: Ticket) -> Ticket:
    """Try the step's command once.

    Args:
        session: The run.
        ticket: Has the step, and is returned.

    Raises:
        StepFailedError: If it failed, so that Prefect shows it and tries again.
    """
    session.attempt(ticket.step)
    return ticket
