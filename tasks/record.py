"""Write what a run yielded."""

from prefect import task

from benchyard.execution.session import Session
from benchyard.record import RunRecord
from tasks.policy import UNCACHED


@task(name="record", **UNCACHED)
def write_record(session: Session) -> RunRecord:
    """Write ``run.json`` and return what it holds."""
    return session.write_record()
