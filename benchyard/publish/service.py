"""Publishing to several sinks: all that waits, or the runs of a case."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from benchyard.core.errors import BenchyardError, RecordError, SinkUnavailableError
from benchyard.publish.archive import Archive
from benchyard.publish.compression import Compression
from benchyard.publish.outcome import Left, PublishResult, reason_of
from benchyard.publish.publisher import Manner, deliver, publish
from benchyard.publish.routes import Route, open_archive, route
from benchyard.publish.sinks import open_sink
from benchyard.publish.sinks.contract import DocumentKind, Sink
from benchyard.publish.sinks.sending import AFTER_A_CASE
from benchyard.publish.spool import REJECTED, offer_again, put, waiting_for
from benchyard.publish.testresults import file_name, parse, text_of
from benchyard.results.events import dump, events_of
from benchyard.results.folders import REPLACED, RunFolder, run_number
from benchyard.results.record import read_record


@contextmanager
def _opened(routes: Iterable[Route]) -> Generator[list[tuple[Route, Sink]]]:
    """Open the sinks of routes, and check their settings.

    Raises:
        InputError: If credentials are missing, or there is no such sink or archive.
    """
    with ExitStack() as opened:
        pairs = [(one, opened.enter_context(closing(open_sink(one.sink)))) for one in routes]
        for one, sink in pairs:
            with suppress(SinkUnavailableError):
                sink.check()
                open_archive(one)
        yield pairs


def check_sinks(names: Sequence[str]) -> None:
    """Check the settings of sinks; nothing is sent.

    A sink that takes nothing now, such as a damaged local store, is no error here: runs wait in its
    spool, and uploading says what to do.

    Raises:
        InputError: If credentials are missing, or there is no such sink.
    """
    with _opened(map(route, names)):
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
    with _opened(routes) as pairs:
        return tuple(_published(line, sink, manner, runs, again=again) for line, sink in pairs)


def _published(
    line: Route, sink: Sink, manner: Manner | None, runs: Sequence[Path], *, again: bool
) -> PublishResult:
    left: list[Left] = []

    def publishing() -> PublishResult:
        sink.check()
        archive = open_archive(line)
        if again:
            left.extend(offer_again(line.spool, sink.kind))
        list(_spooled(runs, line, sink.kind, archive, left))
        return publish(line.spool, sink, archive, manner, own=line.own)

    def waiting() -> list[str]:
        with suppress(OSError):
            return [one.name for one in waiting_for(sink.kind, line.spool, own=line.own).waiting]
        return []

    outcome = _attempted(line, publishing, waiting)
    return replace(outcome, waiting=(*left, *outcome.waiting))


def upload_runs(runs: Sequence[Path], sinks: Sequence[str]) -> tuple[PublishResult, ...]:
    """Put finished runs into the spools of sinks, and upload those that were not published before.

    If a sink is down or set up wrongly, its outcome says so, and the runs wait in its spool.

    Args:
        runs: Folders of runs; those that are not finished are left.
        sinks: Names of the sinks.

    Returns:
        What came of it for each sink, which ``archive_uploaded`` takes; it holds no lock.

    Raises:
        InputError: If there is no such sink; nothing was done then.
    """
    pairs = [(route(name), open_sink(name)) for name in sinks]
    return tuple(_uploaded(runs, line, sink) for line, sink in pairs)


def _uploaded(runs: Sequence[Path], line: Route, sink: Sink) -> PublishResult:
    names: list[str] = []
    left: list[Left] = []

    def uploading() -> PublishResult:
        archive = open_archive(line)
        names.extend(_spooled(runs, line, sink.kind, archive, left))
        sink.check()
        files = [line.spool / name for name in names]
        return deliver(files, sink, archive, Manner(AFTER_A_CASE), archives=False)

    with closing(sink):
        outcome = _attempted(line, uploading, lambda: names)
    return replace(outcome, waiting=(*left, *outcome.waiting))


def archive_uploaded(outcomes: Iterable[PublishResult]) -> tuple[PublishResult, ...]:
    """Archive what was confirmed, and take it out of the spools.

    Args:
        outcomes: As ``upload_runs`` returns them.

    Returns:
        What came of uploading and archiving together, for each sink.
    """
    return tuple(_archived(route(one.sink), one) if one.confirmed else one for one in outcomes)


def _archived(line: Route, outcome: PublishResult) -> PublishResult:
    marks = {one.name: one.mark for one in outcome.confirmed}
    with closing(open_sink(line.sink)) as sink:

        def archiving() -> PublishResult:
            files, manner = [line.spool / name for name in marks], Manner(AFTER_A_CASE)
            return deliver(files, sink, open_archive(line), manner, confirmed=marks)

        return outcome.joined(_attempted(line, archiving, lambda: marks))


def _attempted(
    line: Route, act: Callable[[], PublishResult], waiting: Callable[[], Iterable[str]]
) -> PublishResult:
    """Return what came of an act; if it fails, why, and which files of the spool wait then."""
    try:
        outcome = act()
    except (BenchyardError, OSError) as error:
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        left = tuple(map(Left, waiting()))
        outcome = PublishResult("", waiting=left, error=where + reason_of(error))
    return replace(outcome, sink=line.sink)


def _spooled(
    runs: Iterable[Path], line: Route, kind: DocumentKind, archive: Archive, left: list[Left]
) -> Iterator[str]:
    """Put runs into a spool; yield the names that wait there, and add what cannot be read."""
    for run in runs:
        try:
            name = spool_run(run, kind, line.spool, archive)
        except RecordError as error:
            left.append(Left(str(run), str(error)))
        else:
            if name is not None:
                yield name


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


def _is_in(folder: Path, name: str) -> bool:
    return any((folder / (name + how.ending)).exists() for how in Compression)


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
        folders[:] = sorted(
            name
            for name in folders
            if not (name.startswith(".") or run_number(name.removesuffix(REPLACED)))
        )
