"""The publisher: uploads what waits in a spool to a sink and archives it, oldest first.

Any number of publishers may work on one spool. A file is locked from before it is read until it has
left the spool; a sink keeps one copy of a document that it gets twice, and an archive one file. So
wherever a publisher is killed, the next one completes its work.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from benchyard.core.errors import (
    BenchyardError,
    DocumentRejectedError,
    InputError,
    SinkUnavailableError,
    UnreachableError,
)
from benchyard.publish.archive import Archive
from benchyard.publish.claims import ClaimedFile, Mark, claimed
from benchyard.publish.compression import LARGEST, Compression, split_name
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
    reason_of,
    scrubbed,
)
from benchyard.publish.sinks.contract import NotesArchiving, Sink, Spooled
from benchyard.publish.sinks.sending import HALF_A_MINUTE, RetryPolicy, retried
from benchyard.publish.spool import reject, waiting_for

#: After so many seconds without a change, a document that cannot be read will not become readable.
#: Tests write into their result folders in place, and a publisher may come while they do.
SETTLED_S = 2.0
#: After so many files in a row that went wrong in unforeseen ways, the next ones will too.
_IN_A_ROW = 3
_CHANGED = "it was written to while it was published; it is taken the next time"
#: How often it is looked whether the user wants to stop, in seconds.
_GLANCE = 0.05
#: Of documents that may have more bytes, one at a time is in memory: a sink needs some twelve times
#: as much.
_LARGE = LARGEST // 8
#: JSON is rarely compressed further. What is goes beside others all the same, and takes more.
_RATIO = 100
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
    listener: Listener = lambda _: None
    asked: threading.Event | None = None


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
        OSError: If the spool cannot be read.
    """
    found = waiting_for(sink.kind, spool, own=own)
    outcome = deliver([one.path for one in found.waiting], sink, archive, manner)
    return replace(outcome, left_alone=found.left_alone)


def deliver(
    files: Sequence[Path],
    sink: Sink,
    archive: Archive,
    manner: Manner | None = None,
    *,
    confirmed: Mapping[str, Mark] = MappingProxyType({}),
    archives: bool = True,
) -> PublishResult:
    """Bring files of a spool to a sink and to an archive.

    Args:
        files: Oldest first.
        sink: Where documents are stored.
        archive: Where they go afterwards.
        manner: How to publish.
        confirmed: The marks of files, by name, that the sink has already; they are archived only.
        archives: Whether files are archived now; else they stay in the spool.
    """
    how = manner or Manner()
    stop = StopSignal(how.asked or threading.Event())
    heard: queue.Queue[_Heard] = queue.Queue()
    course = _Course(sink, archive, how.policy, stop, heard.put, confirmed, archives)
    how.listener(Begun(sink.name, len(files)))
    if files:
        try:
            archive.prepare()
        except SinkUnavailableError as error:
            stop.give_up(str(error))
    endings = _in_parallel(files, course, heard, how.listener)
    begun = {ending.name for ending in endings}
    left = [Left(file.name) for file in files if file.name not in begun]
    left[:0] = [one for one in endings if isinstance(one, Left)]
    return PublishResult(
        sink.name,
        published=tuple(one for one in endings if isinstance(one, Published)),
        confirmed=tuple(one for one in endings if isinstance(one, Confirmed)),
        rejected=tuple(one for one in endings if isinstance(one, Rejected)),
        waiting=tuple(left),
        elsewhere=sum(1 for one in endings if isinstance(one, Elsewhere)),
        error=stop.reason,
        interrupted=stop.asked.is_set() and bool(left),
    )


def _in_parallel(
    files: Sequence[Path], course: "_Course", heard: "queue.Queue[_Heard]", listener: Listener
) -> list[Ending]:
    """Publish files in parallel; return how each that was begun ended.

    The first goes alone, so that a sink that is down, or wrong settings, are found and told once.
    The threads are daemons: a second Ctrl-C does not wait for a sink.
    """
    todo = iter(files)
    endings: list[Ending] = []
    running = _start(1, course, todo)
    try:
        while running:
            match heard.get():
                case None:
                    running -= 1
                case Exception() as mistake:
                    raise mistake  # noqa: TRY301 - of another thread
                case happening:
                    listener(happening)
                    if not isinstance(happening, Begun | Retrying):
                        more = min(course.sink.parallel, len(files)) - 1
                        running += 0 if endings else _start(more, course, todo)
                        endings.append(happening)
    except BaseException:
        course.stop.give_up("interrupted")
        raise
    return endings


def _start(number: int, course: "_Course", todo: Iterator[Path]) -> int:
    for _ in range(number):
        threading.Thread(target=course.work, args=(todo,), daemon=True).start()
    return number


@dataclass(slots=True)
class StopSignal:
    """Whether publishing is to stop, since the user wants it or going on is useless.

    Args:
        asked: Is set when the user wants to stop.
        reason: Why going on is useless; None if it is not.
    """

    asked: threading.Event
    reason: str | None = None

    def give_up(self, reason: str) -> None:
        """Stop, because of this; only the first reason is kept."""
        self.reason = self.reason or reason

    def __bool__(self) -> bool:
        return self.asked.is_set() or self.reason is not None

    def wait(self, seconds: float) -> bool:
        """Wait until publishing is to stop, at most so many seconds; tell whether it is."""
        end = time.monotonic() + seconds
        while not self and (left := end - time.monotonic()) > 0:
            self.asked.wait(min(left, _GLANCE))
        return bool(self)


@dataclass(slots=True)
class _Course:
    """One file after the other: locked, read, stored, archived, taken out of the spool.

    Several threads may share it.

    Args:
        tell: Takes what happens; a mistake of ours; and None when a thread ends.
    """

    sink: Sink
    archive: Archive
    policy: RetryPolicy
    stop: StopSignal
    tell: Callable[[_Heard], None]
    confirmed: Mapping[str, Mark]
    archives: bool
    _troubles: int = field(default=0, init=False)
    _answered: bool = field(default=False, init=False)
    _large: threading.Lock = field(default_factory=threading.Lock, init=False)

    def work(self, todo: Iterator[Path]) -> None:
        """Publish files until none is left or it is to stop."""
        try:
            for path in todo:
                if self.stop:
                    break
                self.tell(self._publish(path))
        except Exception as error:  # noqa: BLE001 - raised again in the thread that called
            self.tell(error)
        finally:
            self.tell(None)

    def _publish(self, path: Path) -> Ending:
        """Lock a file, upload and archive it; after an error it stays in the spool."""
        try:
            with claimed(path) as held:
                if held is None:
                    return Elsewhere(path.name)
                ratio = 1 if held.compression is Compression.NONE else _RATIO
                with self._large if held.size * ratio > _LARGE else nullcontext():
                    ending = self._settled(held)
        except (BenchyardError, OSError) as error:
            return self._trouble(path.name, error)
        self._troubles = 0
        return ending

    def _settled(self, held: ClaimedFile) -> Ending:
        """Act on a file; reject it if it cannot be read and nobody is still writing it."""
        try:
            return self._act(held)
        except DocumentRejectedError as error:
            young = SETTLED_S - (time.time_ns() - held.modified_ns) / 1e9
            # From the future: its age is not known.
            stopped = held.is_settled and 0 < young <= SETTLED_S and self.stop.wait(young)
            if stopped or not held.is_settled:
                return Left(held.name, "" if stopped else _CHANGED)
            reject(held, str(error))
            return Rejected(held.name, str(error))

    def _act(self, held: ClaimedFile) -> Ending:
        if self.confirmed.get(held.name, held.mark) != held.mark:
            return Left(held.name, _CHANGED)
        content = held.content()
        place = self.archive.planned(held, content)
        spooled = Spooled(split_name(held.name)[0], content, place)
        if held.name not in self.confirmed:
            try:
                self._retried(held.name, lambda: self._store(spooled))
            except SinkUnavailableError as error:
                if not self.stop:
                    self.stop.give_up(str(error))
                return Left(held.name, str(error))
        return self._archive(held, spooled) if self.archives else Confirmed(held.name, held.mark)

    def _store(self, spooled: Spooled) -> None:
        try:
            self.sink.store(spooled)
            self._answered = True
        except BenchyardError:
            raise
        except Exception as error:
            # A sink's library may raise what nobody foresaw; the file must not be lost by that.
            what = scrubbed(f"{type(error).__name__}: {error}")
            raise _UnforeseenError(f"sink {self.sink.name}: unexpected {what}") from error

    def _retried(self, name: str, attempt: Callable[[], None]) -> None:
        """Attempt until it succeeds.

        A sink that was never reached is not waited for: its address is wrong, or it is down. One
        that answered before will probably come back.
        """

        def wait(error: SinkUnavailableError, seconds: float) -> bool:
            self._answered = self._answered or not isinstance(error, UnreachableError)
            if self.stop or not self._answered:
                return False
            self.tell(Retrying(name, str(error), seconds))
            return not self.stop.wait(seconds)

        retried(attempt, self.policy, wait)

    def _archive(self, held: ClaimedFile, spooled: Spooled) -> Ending:
        if not held.is_settled:
            return Left(held.name, _CHANGED)
        began = datetime.now(UTC)
        kept = self.archive.keep(held, spooled.content)
        held.take_out()
        warning, sink, ended = "", self.sink, datetime.now(UTC)
        if isinstance(sink, NotesArchiving):
            try:
                self._retried(held.name, lambda: sink.note_archived(spooled, began, ended))
            except BenchyardError as error:  # also of settings: the file is archived all the same
                warning = str(error)
        return Published(held.name, kept.where, kept.new, warning)

    def _trouble(self, name: str, error: BenchyardError | OSError) -> Left:
        self._troubles += 1
        if self._troubles >= _IN_A_ROW or isinstance(error, InputError):
            self.stop.give_up(reason_of(error))
        return Left(name, reason_of(error))


class _UnforeseenError(BenchyardError):
    """A sink raised an error that the contract does not know; the file waits."""
