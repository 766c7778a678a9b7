"""Write what a run yielded."""

from prefect import task

from benchyard.run.session import Session
from tasks.policy import UNCACHED


@task(name="record", **UNCACHED)
def write_record(session: Session) -> None:
    """Write ``run.json``.

    Nothing is returned: Prefect would take whatever later task is given a part of it for a
    dependent of this one, and draw an edge.
    """
    session.write_record()
