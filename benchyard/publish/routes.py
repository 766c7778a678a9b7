"""Where a sink's documents wait and where they are archived, by the options of the user."""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchyard.core.errors import InputError
from benchyard.core.model import JsonObject
from benchyard.core.places import archive_of, spool_of
from benchyard.publish.archive import Archive, LocalArchive, RemoteArchive
from benchyard.publish.compression import Compression
from benchyard.publish.sinks import NAMES, open_sink
from benchyard.publish.sinks.contract import DocumentKind
from benchyard.publish.spool import REJECTED, Listing, waiting_for

_HERE = ("file", "local")


@dataclass(frozen=True, slots=True)
class Route:
    """Where documents come from, and where they go.

    Args:
        sink: As on the command line: ``datastore``, ``local:FILE``.
        spool: Folder in which they wait.
        archive: Folder or address that they go to when the sink has confirmed them.
        compression: How files are compressed on their way to the archive.
        own: Whether the spool is the lab's; other folders may hold other files too.
    """

    sink: str
    spool: Path
    archive: str
    compression: Compression = Compression.NONE
    own: bool = True


def route(
    sink: str,
    datadir: Path | None = None,
    archivedir: str | None = None,
    compression: Compression = Compression.NONE,
) -> Route:
    """Return a route; by default it has the lab's own folders of that sink.

    Raises:
        InputError: If there is no such folder as ``datadir``.
    """
    if datadir is not None and not datadir.is_dir():
        raise InputError(f"{datadir}: there is no such folder; --datadir is where results wait")
    own = folder_name(sink)
    archive = archivedir or str(archive_of(own))
    return Route(sink, datadir or spool_of(own), archive, compression, own=datadir is None)


def folder_name(sink: str) -> str:
    """Return the name of a sink's own folders; ``local:FILE`` has others than ``local``."""
    name, _, detail = sink.partition(":")
    if not detail:
        return name
    return f"{name}-{hashlib.sha256(str(Path(detail).absolute()).encode()).hexdigest()[:12]}"


def open_archive(wanted: Route) -> Archive:
    """Return the archive of a route; nothing is made yet.

    Raises:
        InputError: If there is no such kind of storage, or it is the spool itself.
        SinkUnavailableError: If it does not answer.
    """
    local = local_archive(wanted.archive)
    if local is None:
        return RemoteArchive(wanted.archive, wanted.compression)
    for taken in (wanted.spool, wanted.spool / REJECTED):
        same = local.exists() and taken.exists() and local.samefile(taken)
        if same or local.resolve() == taken.resolve():
            raise InputError(
                f"{local} cannot be the archive of {wanted.spool}; name another folder"
            )
    return LocalArchive(local, wanted.compression)


def local_archive(archive: str) -> Path | None:
    """Return the folder of an archive on this host, given as a path or URL; None for others."""
    scheme, separator, rest = archive.partition("://")
    if not separator:
        return Path(archive).absolute()
    if scheme not in _HERE:
        return None
    return Path(unquote(urlsplit(archive).path) if rest.startswith("/") else rest).absolute()


@dataclass(frozen=True, slots=True)
class Backlog:
    """What would be published by a route.

    Args:
        route: The route.
        listing: What waits.
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
    with closing(open_sink(wanted.sink)) as sink:
        found = waiting_for(sink.kind, wanted.spool, own=wanted.own)
        return Backlog(wanted, found, open_archive(wanted).shown)


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
        sinks: Their names. By default the sinks for which something waits in the lab's own spools,
            or ``local``; with a ``datadir``, ``local``.
        datadir: Folder in which documents wait; by default the lab's spool of each sink.
        archivedir: Folder or address of the archive; by default the lab's archive of each sink.
        compression: How files are compressed on their way to the archive.
        again: Whether what was rejected counts as waiting.

    Raises:
        InputError: If there is no such folder, or several sinks would share one.
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
    parts = ("", REJECTED) if again else ("",)
    everything = DocumentKind.EVENTS
    return tuple(
        name
        for name in NAMES
        if any(waiting_for(everything, spool_of(name) / part).waiting for part in parts)
    ) or ("local",)
