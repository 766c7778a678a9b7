"""Archive what the sinks have confirmed."""

from prefect import task

from benchyard.publish import Outcome, Uploaded, archive_uploaded
from tasks.policy import UNCACHED


@task(name="archive", **UNCACHED)
def archive(uploaded: Uploaded) -> tuple[Outcome, ...]:
    """Move what was confirmed to the archives, out of the spools."""
    return archive_uploaded(uploaded)
