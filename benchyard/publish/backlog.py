"""What waits for which sink, without touching it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchyard.core.errors import InputError
from benchyard.core.model import JsonObject
from benchyard.core.places import spool_of
from benchyard.publish.compression import Compression
from benchyard.publish.opening import Route, open_archive, route
from benchyard.publish.publisher import waiting_for
from benchyard.publish.sinks import NAMES, open_sink
from benchyard.publish.spool import REJECTED, Listing, listing


@dataclass(frozen=True, slots=True)
class Backlog:
    """What would be published.

    Args:
        archive: Where it would go.
    """

    route: Route
    listing: Listing
    archive: str

    def to_json(self) -> JsonObject:
        """Return a document of it."""
        return {
            "sink": self.route.sink,
            "datadir": str(self.route.spool),
            "archivedir": self.archive,
            "waiting": [{"name": one.name, "bytes": one.size} for one in self.listing.waiting],
            "left_alone": self.listing.left_alone,
        }


def backlog(wanted: Route) -> Backlog:
    """List what waits on a route.

    Raises:
        InputError: If there is no such sink or archive.
        SinkUnavailableError: If the archive does not answer.
        OSError: If the spool cannot be read.
    """
    sink = open_sink(wanted.sink)
    try:
        return Backlog(
            wanted, waiting_for(sink, wanted.spool, own=wanted.own), open_archive(wanted).shown
        )
    finally:
        sink.close()


def routes(
    sinks: Sequence[str] = (),
    datadir: Path | None = None,
    archivedir: str | None = None,
    compression: Compression = Compression.NONE,
    *,
    again: bool = False,
) -> tuple[Route, ...]:
    """Return the routes to publish on.

    Args:
        sinks: None of them means those for which something waits in the lab's own spools, or
            ``local``; with a ``datadir`` it means ``local``.
        again: Whether what was rejected counts as waiting.

    Raises:
        InputError: If there is no such folder, or several sinks are to share one.
    """
    if len(sinks) > 1 and (datadir or archivedir):
        raise InputError("--datadir and --archivedir go with one --sink: a file is moved once")
    wanted = tuple(dict.fromkeys(sinks)) or (("local",) if datadir else with_backlog(again=again))
    if archivedir and len(wanted) > 1:
        raise InputError(
            f"--archivedir goes with one --sink; something waits for {', '.join(wanted)}"
        )
    return tuple(route(sink, datadir, archivedir, compression) for sink in wanted)


def with_backlog(*, again: bool = False) -> tuple[str, ...]:
    """Return the sinks for which something waits in the lab's own spools; if none, ``local``."""
    return tuple(name for name in NAMES if any(map(_waits, _places(name, again)))) or ("local",)


def _places(sink: str, again: bool) -> Iterator[Path]:  # noqa: FBT001
    yield spool_of(sink)
    if again:
        yield spool_of(sink) / REJECTED


def _waits(folder: Path) -> bool:
    try:
        return bool(listing(folder).waiting)
    except FileNotFoundError:
        return False
