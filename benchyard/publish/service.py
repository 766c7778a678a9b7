"""Publishing to several sinks: what waits anywhere, or the runs of a case."""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from benchyard.core.errors import BenchyardError, RecordError, SinkUnavailableError
from benchyard.publish.archive import Archive
from benchyard.publish.compression import Compression
from benchyard.publish.outcome import Left, Listener, PublishResult, silent
from benchyard.publish.publisher import Manner, archive, publish, upload, waiting_for
from benchyard.publish.routes import Route, open_archive, route
from benchyard.publish.sinks import open_sink
from benchyard.publish.sinks.contract import Kind, Sink
from benchyard.publish.sinks.retry import AFTER_A_CASE, Patience
from benchyard.publish.spool import REJECTED, offer_again, put
from benchyard.publish.testresults import file_name, parse, text_of
from benchyard.results.events import dump, events_of
from benchyard.results.folders import REPLACED, RunFolder, run_number
from benchyard.results.record import read_record


@dataclass(frozen=True, slots=True)
class OpenRoute:
    """A route with its ends open."""

    route: Route
    sink: Sink
    archive: Archive


@dataclass(frozen=True, slots=True)
class Blocked:
    """A route on which nothing goes now: its sink takes nothing, or its archive does not answer."""

    route: Route
    sink: Sink
    error: SinkUnavailableError


@contextmanager
def opened(routes: Iterable[Route]) -> Generator[list[OpenRoute | Blocked]]:
    """Open sinks and archives, and look whether everything is there that they need.

    Raises:
        InputError: If credentials are missing, or there is no such sink or archive.
    """
    with ExitStack() as closing:
        lines: list[OpenRoute | Blocked] = []
        for one in routes:
            sink = open_sink(one.sink)
            closing.callback(sink.close)
            lines.append(_line(one, sink))
        yield lines


def _line(wanted: Route, sink: Sink) -> OpenRoute | Blocked:
    try:
        sink.check()
        return OpenRoute(wanted, sink, open_archive(wanted))
    except SinkUnavailableError as error:
        return Blocked(wanted, sink, error)


def check_sinks(names: Sequence[str]) -> None:
    """Look whether everything is there that publishing to these sinks needs; nothing is sent.

    One that takes nothing now, such as a damaged local store, keeps nobody from measuring: runs
    wait in its spool, and uploading says what to do.

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
    """Publish what waits for each of several sinks, one after the other.

    One that does not answer, or is damaged, does not keep the others from being published to.

    Args:
        runs: Folders of runs that are put into each spool first, unless they were there before.
        again: Whether what was rejected is put there, too.

    Raises:
        InputError: As ``opened``, before anything is read.
    """
    with opened(routes) as lines:
        return tuple(_published(line, manner, runs, again=again) for line in lines)


def _published(
    line: OpenRoute | Blocked, manner: Manner | None, runs: Sequence[Path], *, again: bool
) -> PublishResult:
    unread: list[Left] = []
    try:
        if isinstance(line, Blocked):
            waiting = waiting_for(line.sink, line.route.spool, own=line.route.own).waiting
            return _failed(line.route.sink, [Left(one.name) for one in waiting], line.error)
        if again:
            only = None if line.sink.kind is Kind.EVENTS else line.sink.kind
            unread += offer_again(line.route.spool, only)
        for run in runs:
            _spool(run, line, [], unread)
    except (BenchyardError, OSError) as error:
        return _failed(line.route.sink, unread, error)
    outcome = publish(line.route.spool, line.sink, line.archive, manner, own=line.route.own)
    return replace(outcome, sink=line.route.sink, waiting=(*unread, *outcome.waiting))


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What sinks have confirmed of some runs; no lock and no connection is held for it.

    Args:
        outcomes: In the order of ``routes``.
    """

    routes: tuple[Route, ...]
    outcomes: tuple[PublishResult, ...]


def upload_runs(
    runs: Sequence[Path],
    sinks: Sequence[str],
    *,
    patience: Patience = AFTER_A_CASE,
    listener: Listener = silent,
) -> Uploaded:
    """Put finished runs into the spools of sinks, and bring to each sink what waits of them.

    Runs that were published before are left. A sink that is down, or set up wrongly, is told of in
    its outcome: the runs wait in its spool then.

    Args:
        runs: Folders of runs; those that are not finished are left.

    Raises:
        InputError: If there is no such sink; nothing was done then.
    """
    routes = tuple(map(route, sinks))
    opened_sinks = [open_sink(name) for name in sinks]
    manner = Manner(patience, listener)
    outcomes = [
        _uploaded(runs, line, sink, manner) for line, sink in zip(routes, opened_sinks, strict=True)
    ]
    return Uploaded(routes, tuple(outcomes))


def _uploaded(runs: Sequence[Path], line: Route, sink: Sink, manner: Manner) -> PublishResult:
    names: list[str] = []
    unread: list[Left] = []
    try:
        to = open_archive(line)
        for run in runs:
            _spool(run, OpenRoute(line, sink, to), names, unread)
        sink.check()
        outcome = upload(line.spool, sink, to, manner, names)
    except (BenchyardError, OSError) as error:
        return _failed(line.sink, [*unread, *map(Left, names)], error)
    finally:
        sink.close()
    return replace(outcome, sink=line.sink, waiting=(*unread, *outcome.waiting))


def _spool(run: Path, line: OpenRoute, names: list[str], unread: list[Left]) -> None:
    try:
        spooled = spool_run(run, line.sink.kind, line.route.spool, line.archive)
    except RecordError as error:
        unread.append(Left(str(run), str(error)))
        return
    if spooled is not None and spooled.lies in (Lies.PUT, Lies.WAITING):
        names.append(spooled.name)


def _failed(sink: str, waiting: Sequence[Left], error: BenchyardError | OSError) -> PublishResult:
    if isinstance(error, BenchyardError):
        return PublishResult(sink, waiting=tuple(waiting), error=str(error))
    where = f"{error.filename}: " if error.filename else ""
    text = f"{where}{error.strerror or error}"
    return PublishResult(sink, waiting=tuple(waiting), error=text)


def archive_uploaded(
    uploaded: Uploaded, *, listener: Listener = silent
) -> tuple[PublishResult, ...]:
    """Archive what was confirmed, and take it out of the spools.

    Returns:
        What came of uploading and archiving together, for each sink.
    """
    return tuple(
        _archived(line, outcome, listener)
        for line, outcome in zip(uploaded.routes, uploaded.outcomes, strict=True)
    )


def _archived(line: Route, outcome: PublishResult, listener: Listener) -> PublishResult:
    if not outcome.confirmed:
        return outcome
    sink = open_sink(line.sink)
    manner = Manner(AFTER_A_CASE, listener)
    try:
        kept = archive(line.spool, sink, open_archive(line), outcome.confirmed, manner)
    except (BenchyardError, OSError) as error:
        kept = _failed(line.sink, [Left(one.name) for one in outcome.confirmed], error)
    finally:
        sink.close()
    return outcome.joined(replace(kept, sink=line.sink))


class Lies(StrEnum):
    """Where the document of a run is."""

    PUT = "put"
    WAITING = "waiting"
    REJECTED = "rejected"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class SpooledRun:
    """The document of a run.

    Args:
        name: Its name in the spool; the same whenever it is made.
        lies: ``put`` if it was put there just now, else where it was already.
    """

    name: str
    lies: Lies


def spool_run(run: Path, kind: Kind, spool: Path, archive: Archive) -> SpooledRun | None:
    """Put a finished run into the spool of a sink, unless it was there before.

    Args:
        run: Folder of the run.
        kind: What the sink takes.

    Returns:
        None if the run is not finished.

    Raises:
        RecordError: If its record cannot be read.
        SinkUnavailableError: If the archive does not answer.
        OSError: If the disk is full or not writable.
    """
    if not RunFolder(run).checkpoint.is_file():
        return None
    name, content = document_of_run(run, kind)
    # Before the archive: a publisher archives first and takes out of the spool then.
    if _is_in(spool, name):
        return SpooledRun(name, Lies.WAITING)
    if _is_in(spool / REJECTED, name):
        return SpooledRun(name, Lies.REJECTED)
    if archive.has(name):
        return SpooledRun(name, Lies.ARCHIVED)
    return SpooledRun(name, Lies.PUT if put(spool, name, content) else Lies.WAITING)


def finished_below(folder: Path) -> Iterator[Path]:
    """Yield the finished runs anywhere below a folder, those of earlier campaigns included.

    What KROWN made has no record, and is left. Hidden folders are, too: a lab is at work there.
    """
    for place, folders, _ in os.walk(folder):
        runs = [RunFolder(Path(place, name)) for name in folders if run_number(name)]
        for run in sorted(runs, key=lambda run: run.number):
            if run.checkpoint.is_file() and os.path.lexists(run.record):
                yield run.path
        folders[:] = sorted(name for name in folders if _is_looked_into(name))


def _is_looked_into(name: str) -> bool:
    return not (name.startswith(".") or run_number(name.removesuffix(REPLACED)))


def document_of_run(run: Path, kind: Kind) -> tuple[str, bytes]:
    """Return the name and the content of a run's document.

    Raises:
        RecordError: If its record cannot be read.
    """
    record = read_record(run)
    content = text_of(record).encode()
    name = file_name(parse(content))
    if kind is Kind.RESULTS:
        return name, content
    return name.removesuffix(Kind.RESULTS) + Kind.EVENTS, dump(events_of(record))


def _is_in(folder: Path, name: str) -> bool:
    return any((folder / (name + how.ending)).exists() for how in Compression)
