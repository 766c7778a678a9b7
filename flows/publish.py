"""The flow ``publish``: a task for each sink; killed at any point, the next one goes on."""

from pathlib import Path
from typing import Annotated, Any, Literal

from prefect import State
from prefect.states import Completed, Failed
from pydantic import Field

from benchyard.core.errors import SinkError
from benchyard.publish import Compression
from benchyard.publish.outcome import summary
from benchyard.publish.routes import local_archive, routes
from tasks.housekeeping import publish as publish_to
from tasks.schedules import deployed_flow
from tasks.trust import refuse_beyond_reach


@deployed_flow("publish")
def publish(
    sinks: tuple[str, ...] = (),
    datadir: str | None = None,
    archivedir: str | None = None,
    compress: Literal["none", "gz", "zst"] = "none",
    retries: Annotated[int, Field(ge=0, le=100)] = 5,
    again: bool = False,
) -> State[Any]:
    """Upload what waits in the spools, and move it to the archives.

    Args:
        sinks: Sinks to publish to: local, datastore, azure-tables; empty means those for which
            something waits.
        datadir: Folder in which results wait, instead of the lab's spool of the sink.
        archivedir: Folder or URL that they go to, instead of the lab's archive of the sink.
        compress: How files are compressed on their way to the archive; none leaves them as they
            lie.
        retries: How often a request to a sink that does not answer is repeated.
        again: Offer once more what was rejected.
    """
    archive = local_archive(archivedir) if archivedir else None
    refuse_beyond_reach(datadir=datadir, archivedir=str(archive) if archive else None)
    place = Path(datadir) if datadir else None
    waiting = routes(sinks, place, archivedir, Compression(compress), again=again)
    outcomes = [outcome for route in waiting for outcome in publish_to(route, retries, again=again)]
    message = "; ".join(map(summary, outcomes))
    if all(outcome.is_clean for outcome in outcomes):
        return Completed(message=message)
    return Failed(message=message, data=SinkError(message))
