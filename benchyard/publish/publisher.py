"""The publisher: uploads what waits in a spool to a sink and archives it, oldest first.

Any number of publishers may work on one spool. A file is locked from before it is read until it has
left the spool; a sink keeps one copy of a document that it gets twice, and an archive one file. So
wherever a publisher is killed, the next one completes its work.
"""

import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchyard.core.errors import SinkUnavailableError
from benchyard.publish.archive import Archive
from benchyard.publish.file_lock import Mark
from benchyard.publish.outcome import (
    Begun,
    Confirmed,
    Elsewhere,
    Ending,
    Happening,
    Left,
    Listener,
    Published,
    PublishResult,
    Rejected,
    Retrying,
    silent,
)
from benchyard.publish.sinks.contract import DocumentKind, Sink
from benchyard.publish.sinks.sending import HALF_A_MINUTE, RetryPolicy
from benchyard.publish.spool import Listing, WaitingFile, documents_of, listing
from benchyard.publish.upload_one import StopSignal, Uploader

#: None is the end of a thread; an exception is a mistake of ours.
_Heard = Happening | Exception | None


@dataclass(frozen=True, slots=True)
class Manner:
    """How to publish.

    Args:
        policy: How long to try a sink that does not answer.
        listener: Called for each event, in the thread that publishes.
        asked: Is set to stop: files that are under way are finished, the others stay.
    """

    policy: RetryPolicy = HALF_A_MINUTE
    listener: Listener = silent
    asked: threading.Event | None = None


def waiting_for(sink: Sink, spool: Path, *, own: bool = True) -> Listing:
    """List the files of a spool that a sink takes: documents, or events too.

    Args:
        sink: The sink.
        spool: The folder.
        own: Whether the spool is the lab's; in another folder only documents wait.

    Raises:
        OSError: If the folder is there and cannot be read.
    """
    try:
        found = listing(spool, None if sink.kind is DocumentKind.EVENTS else sink.kind)
    except FileNotFoundError:
        return Listing((), 0)
    return found if own else documents_of(found)


def publish(
    spool: Path, sink: Sink, archive: Archive, manner: Manner | None = None, *, own: bool = True
) -> PublishResult:
    """Publish what waits in a folder.

    Args:
        spool: The folder.
        sink: Where documents are stored.
        archive: Where they go afterwards.
        manner: How to publish.
        own: As for ``waiting_for``.

    Raises:
        InputError: If there is no such kind of archive.
        OSError: If the spool cannot be read.
    """
    return _run(waiting_for(sink, spool, own=own), sink, archive, manner)


def upload(
    spool: Path,
    sink: Sink,
    archive: Archive,
    manner: Manner | None = None,
    names: Iterable[str] | None = None,
) -> PublishResult:
    """Upload what waits in a folder; ``archive`` archives it later.

    Args:
        spool: The folder.
        sink: Where documents are stored.
        archive: Where they will go.
        manner: How to publish.
        names: Only these files; all of them by default.

    Raises:
        InputError: If there is no such kind of archive.
        OSError: If the spool cannot be read.
    """
    found = waiting_for(sink, spool)
    if names is not None:
        wanted = frozenset(names)
        found = Listing(tuple(one for one in found.waiting if one.name in wanted), 0)
    return _run(found, sink, archive, manner, archives=False)


def archive(
    spool: Path,
    sink: Sink,
    to: Archive,
    confirmed: Sequence[Confirmed],
    manner: Manner | None = None,
) -> PublishResult:
    """Archive what the sink has confirmed, and take it out of the spool.

    Raises:
        InputError: If there is no such kind of archive.
    """
    marks = {one.name: one.mark for one in confirmed}
    waiting = tuple(WaitingFile(spool / name, mark[2], mark[3]) for name, mark in marks.items())
    return _run(Listing(waiting, 0), sink, to, manner, marks)


def _run(
    found: Listing,
    sink: Sink,
    to: Archive,
    manner: Manner | None,
    confirmed: Mapping[str, Mark] = MappingProxyType({}),
    *,
    archives: bool = True,
) -> PublishResult:
    how = manner or Manner()
    stop = StopSignal(how.asked)
    heard: queue.Queue[_Heard] = queue.Queue()
    uploader = Uploader(sink, to, how.policy, stop, heard.put, confirmed, archives)
    how.listener(Begun(sink.name, len(found.waiting), sum(one.size for one in found.waiting)))
    if found.waiting:
        _prepare(to, stop)
    endings = _published(found.waiting, uploader, heard, how.listener)
    return _outcome(sink.name, found, endings, stop)


def _prepare(to: Archive, stop: StopSignal) -> None:
    try:
        to.prepare()
    except SinkUnavailableError as error:
        stop.give_up(str(error))


def _published(
    waiting: Sequence[WaitingFile],
    uploader: Uploader,
    heard: "queue.Queue[_Heard]",
    listener: Listener,
) -> list[Ending]:
    """Publish files in parallel, oldest first; return how each that was begun ended.

    The first goes alone, so that a sink that is down, or wrong settings, are found and told once.
    The threads are daemons: a second Ctrl-C does not wait for a sink.
    """
    number_of_threads = max(1, min(uploader.sink.parallel, len(waiting)))
    todo, ended = queue.SimpleQueue[WaitingFile | None](), threading.Event()
    for one in (*waiting, *[None] * number_of_threads):
        todo.put(one)
    threads = [
        threading.Thread(target=_work, args=(todo, uploader, heard, ended, number), daemon=True)
        for number in range(number_of_threads)
    ]
    for thread in threads:
        thread.start()
    endings: list[Ending] = []
    try:
        for happening in _until_all_ended(heard, len(threads)):
            listener(happening)
            if not isinstance(happening, Begun | Retrying):
                endings.append(happening)
    except BaseException:
        uploader.stop.give_up("interrupted")
        raise
    return endings


def _work(
    todo: "queue.SimpleQueue[WaitingFile | None]",
    uploader: Uploader,
    heard: "queue.Queue[_Heard]",
    ended: threading.Event,
    number: int,
) -> None:
    """Upload files until none is left; the others wait until the first file of thread 0 ended."""
    try:
        if number:
            ended.wait()
        for waiting in iter(todo.get, None):
            if uploader.stop:
                break
            heard.put(uploader.publish(waiting))
            ended.set()
    except Exception as error:  # noqa: BLE001 - raised again in the thread that called
        uploader.stop.give_up("internal error")
        heard.put(error)
    finally:
        ended.set()
        heard.put(None)


def _until_all_ended(heard: "queue.Queue[_Heard]", threads: int) -> Iterator[Happening]:
    mistake: Exception | None = None
    while threads:
        happening = heard.get()
        if happening is None:
            threads -= 1
        elif isinstance(happening, Exception):
            mistake = happening
        else:
            yield happening
    if mistake is not None:
        raise mistake


def _outcome(
    sink: str, found: Listing, endings: Sequence[Ending], stop: StopSignal
) -> PublishResult:
    begun = {ending.name for ending in endings}
    left = [ending for ending in endings if isinstance(ending, Left)]
    left += [Left(one.name) for one in found.waiting if one.name not in begun]
    return PublishResult(
        sink,
        published=tuple(one for one in endings if isinstance(one, Published)),
        confirmed=tuple(one for one in endings if isinstance(one, Confirmed)),
        rejected=tuple(one for one in endings if isinstance(one, Rejected)),
        waiting=tuple(left),
        elsewhere=sum(1 for one in endings if isinstance(one, Elsewhere)),
        left_alone=found.left_alone,
        error=stop.reason,
        interrupted=stop.is_asked and bool(left),
    )
