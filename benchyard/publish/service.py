"""Publishing to several sinks: all that waits, or the runs of a case."""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchyard.core.errors import BenchyardError, RecordError, SinkUnavailableError
from benchyard.publish.archive import Archive
from benchyard.publish.compression import Compression
from benchyard.publish.outcome import Left, PublishResult
from benchyard.publish.publisher import Manner, archive, publish, upload, waiting_for
from benchyard.publish.routes import Route, open_archive, route
from benchyard.publish.sinks import open_sink
from benchyard.publish.sinks.contract import DocumentKind, Sink
from benchyard.publish.sinks.sending import AFTER_A_CASE
from benchyard.publish.spool import REJECTED, offer_again, put
from benchyard.publish.testresults import file_name, parse, text_of
from benchyard.results.events import dump, events_of
from benchyard.results.folders import REPLACED, RunFolder, run_number
from benchyard.results.record import read_record


@dataclass(frozen=True, slots=True)
class OpenRoute:
    """A route with its sink.

    Args:
        route: The route.
        sink: The sink, open.
        archive: Where documents go; an error if sink or archive take nothing now.
    """

    route: Route
    sink: Sink
    archive: Archive | SinkUnavailableError


@contextmanager
def opened(routes: Iterable[Route]) -> Generator[list[OpenRoute]]:
    """Open the sinks and archives of routes, and check their settings.

    Raises:
        InputError: If credentials are missing, or there is no such sink or archive.
    """
    with ExitStack() as closing:
        lines: list[OpenRoute] = []
        for one in routes:
            sink = open_sink(one.sink)
            closing.callback(sink.close)
            try:
                sink.check()
                lines.append(OpenRoute(one, sink, open_archive(one)))
            except SinkUnavailableError as error:
                lines.append(OpenRoute(one, sink, error))
        yield lines


def check_sinks(names: Sequence[str]) -> None:
    """Check the settings of sinks; nothing is sent.

    A sink that takes nothing now, such as a damaged local store, is no error here: runs wait in its
    spool, and uploading says what to do.

    Raises:
        InputError: If credentials are missing, or there is no such sink.
    """
    with opened(map(route, names)):
        pass


def publish_all(
    routes: Sequence[Route],
    manner: Manner | None = None,
    runs: Sequence[Path] = (),
    *,
    again: bool = False,
) -> tuple[PublishResult, ...]:
    """Publish what waits for several sinks, one sink after the other.

    If one does not answer or is damaged, the others are published to all the same.

    Args:
        routes: One for each sink.
        manner: How to publish.
        runs: Folders of runs that are put into each spool first, unless they were there before.
        again: Whether documents that were rejected are put there, too.

    Raises:
        InputError: If credentials are missing, or there is no such sink or archive; nothing was
            read then.
    """
    with opened(routes) as lines:
        return tuple(_published(line, manner, runs, again=again) for line in lines)


def _published(
    line: OpenRoute, manner: Manner | None, runs: Sequence[Path], *, again: bool
) -> PublishResult:
    route, sink, archive = line.route, line.sink, line.archive
    unread: list[Left] = []
    try:
        if isinstance(archive, SinkUnavailableError):
            waiting = waiting_for(sink, route.spool, own=route.own).waiting
            return _failed(route.sink, [Left(one.name) for one in waiting], archive)
        if again:
            unread += offer_again(
                route.spool, None if sink.kind is DocumentKind.EVENTS else sink.kind
            )
        for run in runs:
            _spool(run, sink.kind, route.spool, archive, unread)
    except (BenchyardError, OSError) as error:
        return _failed(route.sink, unread, error)
    outcome = publish(route.spool, sink, archive, manner, own=route.own)
    return replace(outcome, sink=route.sink, waiting=(*unread, *outcome.waiting))


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The result of uploading some runs, which ``archive_uploaded`` takes; it holds no lock.

    Args:
        routes: One for each sink.
        outcomes: In the order of ``routes``.
    """

    routes: tuple[Route, ...]
    outcomes: tuple[PublishResult, ...]


def upload_runs(runs: Sequence[Path], sinks: Sequence[str]) -> Uploaded:
    """Put finished runs into the spools of sinks, and upload those that were not published before.

    If a sink is down or set up wrongly, its outcome says so, and the runs wait in its spool.

    Args:
        runs: Folders of runs; those that are not finished are left.
        sinks: Names of the sinks.

    Raises:
        InputError: If there is no such sink; nothing was done then.
    """
    routes = tuple(map(route, sinks))
    opened_sinks = [open_sink(name) for name in sinks]
    outcomes = [
        _uploaded(runs, line, sink) for line, sink in zip(routes, opened_sinks, strict=True)
    ]
    return Uploaded(routes, tuple(outcomes))


def _uploaded(runs: Sequence[Path], line: Route, sink: Sink) -> PublishResult:
    names: list[str] = []
    unread: list[Left] = []
    try:
        to = open_archive(line)
        for run in runs:
            names += _spool(run, sink.kind, line.spool, to, unread)
        sink.check()
        outcome = upload(line.spool, sink, to, Manner(AFTER_A_CASE), names)
    except (BenchyardError, OSError) as error:
        return _failed(line.sink, [*unread, *map(Left, names)], error)
    finally:
        sink.close()
    return replace(outcome, sink=line.sink, waiting=(*unread, *outcome.waiting))


def _spool(
    run: Path, kind: DocumentKind, spool: Path, archive: Archive, unread: list[Left]
) -> tuple[str, ...]:
    """Put a run into a spool; return its document's name if that waits."""
    try:
        name = spool_run(run, kind, spool, archive)
    except RecordError as error:
        unread.append(Left(str(run), str(error)))
        return ()
    return () if name is None else (name,)


def _failed(sink: str, waiting: Sequence[Left], error: BenchyardError | OSError) -> PublishResult:
    if isinstance(error, BenchyardError):
        return PublishResult(sink, waiting=tuple(waiting), error=str(error))
    where = f"{error.filename}: " if error.filename else ""
    text = f"{where}{error.strerror or error}"
    return PublishResult(sink, waiting=tuple(waiting), error=text)


def archive_uploaded(uploaded: Uploaded) -> tuple[PublishResult, ...]:
    """Archive what was confirmed, and take it out of the spools.

    Returns:
        What came of uploading and archiving together, for each sink.
    """
    return tuple(
        _archived(line, outcome)
        for line, outcome in zip(uploaded.routes, uploaded.outcomes, strict=True)
    )


def _archived(line: Route, outcome: PublishResult) -> PublishResult:
    if not outcome.confirmed:
        return outcome
    sink = open_sink(line.sink)
    try:
        kept = archive(
            line.spool, sink, open_archive(line), outcome.confirmed, Manner(AFTER_A_CASE)
        )
    except (BenchyardError, OSError) as error:
        kept = _failed(line.sink, [Left(one.name) for one in outcome.confirmed], error)
    finally:
        sink.close()
    return outcome.joined(replace(kept, sink=line.sink))


def spool_run(run: Path, kind: DocumentKind, spool: Path, archive: Archive) -> str | None:
    """Put a finished run into the spool of a sink, unless it was there before.

    Args:
        run: Folder of the run.
        kind: What the sink takes.
        spool: The sink's spool.
        archive: The sink's archive.

    Returns:
        The name under which it waits; None if it is not finished, was rejected, or is archived.

    Raises:
        RecordError: If its record cannot be read.
        SinkUnavailableError: If the archive does not answer.
        OSError: If the disk is full or not writable.
    """
    if not RunFolder(run).checkpoint.is_file():
        return None
    name, content = document_of_run(run, kind)
    # The spool before the archive: a publisher archives first and takes out of the spool then.
    if _is_in(spool, name):
        return name
    if _is_in(spool / REJECTED, name) or archive.has(name):
        return None
    put(spool, name, content)
    return name


def finished_below(folder: Path) -> Iterator[Path]:
    """Yield the finished runs anywhere below a folder, those of earlier campaigns included.

    Runs without a record, which KROWN made, are left out, and so are hidden folders, where a lab
    is at work.
    """
    for place, folders, _ in os.walk(folder):
        runs = [RunFolder(Path(place, name)) for name in folders if run_number(name)]
        for run in sorted(runs, key=lambda run: run.number):
            if run.checkpoint.is_file() and os.path.lexists(run.record):
                yield run.path
        folders[:] = sorted(name for name in folders if _is_looked_into(name))


def _is_looked_into(name: str) -> bool:
    return not (name.startswith(".") or run_number(name.removesuffix(REPLACED)))


def document_of_run(run: Path, kind: DocumentKind) -> tuple[str, bytes]:
    """Return the name and the content of a run's document.

    Raises:
        RecordError: If its record cannot be read.
    """
    record = read_record(run)
    content = text_of(record).encode()
    name = file_name(parse(content))
    if kind is DocumentKind.RESULTS:
        return name, content
    return name.removesuffix(DocumentKind.RESULTS) + DocumentKind.EVENTS, dump(events_of(record))


def _is_in(folder: Path, name: str) -> bool:
    return any((folder / (name + how.ending)).exists() for how in Compression)
