"""Publishing one file: locked, read, stored by the sink, archived, taken out of the spool."""

import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime

from benchyard.core.errors import (
    BenchyardError,
    DocumentRejectedError,
    InputError,
    SinkUnavailableError,
    UnreachableError,
)
from benchyard.publish.archive import Archive
from benchyard.publish.compression import LARGEST, Compression, split_name
from benchyard.publish.file_lock import ClaimedFile, Mark, Missed, claimed
from benchyard.publish.outcome import (
    Confirmed,
    Elsewhere,
    Ending,
    Left,
    Listener,
    Published,
    Rejected,
    Retrying,
)
from benchyard.publish.redact import scrubbed
from benchyard.publish.sinks.contract import NotesArchiving, Sink, Spooled
from benchyard.publish.sinks.sending import RetryPolicy, Wait, retried
from benchyard.publish.spool import WaitingFile, reject

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


class StopSignal:
    """Whether publishing is to stop, since the user wants it or going on is useless.

    Args:
        asked: Is set when the user wants to stop.
    """

    def __init__(self, asked: threading.Event | None = None) -> None:
        self._asked = asked or threading.Event()
        self._given_up = threading.Event()
        self._lock = threading.Lock()
        self.reason: str | None = None

    def give_up(self, reason: str) -> None:
        """Stop, because of this; only the first reason is kept."""
        with self._lock:
            self.reason = self.reason or reason
        self._given_up.set()

    @property
    def is_asked(self) -> bool:
        """Whether the user wants to stop."""
        return self._asked.is_set()

    def __bool__(self) -> bool:
        return self.is_asked or self._given_up.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until publishing is to stop, at most so many seconds; tell whether it is."""
        end = time.monotonic() + seconds
        while not self:
            left = end - time.monotonic()
            if left <= 0:
                return False
            self._given_up.wait(min(left, _GLANCE))
        return True


def expected(size: int, how: Compression) -> int:
    """Estimate how many bytes a file of this size has when it is decompressed."""
    return size if how is Compression.NONE else size * _RATIO


@dataclass(slots=True)
class Uploader:
    """Publishes files of one spool to one sink and one archive; several threads may share it.

    Args:
        sink: Where files are stored.
        archive: Where they go afterwards.
        policy: How long to try a sink that does not answer.
        stop: Whether to go on.
        tell: Called before each retry, by the thread that will wait.
        confirmed: The marks of files that the sink has already; they are archived only.
        archives: Whether files are archived now; else they stay in the spool.
    """

    sink: Sink
    archive: Archive
    policy: RetryPolicy
    stop: StopSignal
    tell: Listener
    confirmed: Mapping[str, Mark]
    archives: bool
    _troubles: int = field(default=0, init=False)
    _answered: bool = field(default=False, init=False)
    _large: threading.Lock = field(default_factory=threading.Lock, init=False)

    def publish(self, waiting: WaitingFile) -> Ending:
        """Lock a file, upload and archive it; after an error it stays in the spool."""
        try:
            with claimed(waiting.path) as held:
                if isinstance(held, Missed):
                    return Elsewhere(waiting.name)
                is_large = expected(held.size, held.compression) > _LARGE
                with self._large if is_large else nullcontext():
                    ending = self._settled(held)
        except (BenchyardError, OSError) as error:
            return self._trouble(waiting.name, error)
        self._troubles = 0
        return ending

    def _act(self, held: ClaimedFile) -> Ending:
        mark = self.confirmed.get(held.name)
        if mark not in (None, held.mark):
            return Left(held.name, _CHANGED)
        spooled = self._spooled(held)
        ending = Confirmed(held.name, held.mark) if mark else self._store(held, spooled)
        if self.archives and isinstance(ending, Confirmed):
            return self._archive(held, spooled)
        return ending

    def _settled(self, held: ClaimedFile) -> Ending:
        """Act on a file; reject it if it cannot be read and nobody is still writing it."""
        try:
            return self._act(held)
        except DocumentRejectedError as error:
            young = SETTLED_S - (time.time_ns() - held.modified_ns) / 1e9
            if not held.is_unchanged or not held.is_in_place:
                return Left(held.name, _CHANGED)
            if 0 < young <= SETTLED_S and self.stop.wait(young):
                return Left(held.name)
            if not held.is_unchanged or not held.is_in_place:
                return Left(held.name, _CHANGED)
            reject(held, str(error))
            return Rejected(held.name, str(error))

    def _spooled(self, held: ClaimedFile) -> Spooled:
        content = held.content()
        name, _ = split_name(held.name)
        return Spooled(name, content, self.archive.planned(held, content))

    def _store(self, held: ClaimedFile, spooled: Spooled) -> Ending:
        try:
            retried(lambda: self._call(spooled), self.policy, self._waiting(held.name))
        except SinkUnavailableError as error:
            if not self.stop:
                self.stop.give_up(str(error))
            return Left(held.name, str(error))
        return Confirmed(held.name, held.mark)

    def _call(self, spooled: Spooled) -> None:
        try:
            self.sink.store(spooled)
            self._answered = True
        except BenchyardError:
            raise
        except Exception as error:
            # A sink's library may raise what nobody foresaw; the file must not be lost by that.
            what = scrubbed(f"{type(error).__name__}: {error}")
            raise _UnforeseenError(f"sink {self.sink.name}: unexpected {what}") from error

    def _waiting(self, name: str) -> Wait:
        """Return what waits before a file is sent again, and tells whether to send it.

        A sink that was never reached is not waited for: its address is wrong, or it is down. One
        that answered before will probably come back.
        """

        def wait(error: SinkUnavailableError, seconds: float) -> bool:
            nobody = isinstance(error, UnreachableError)
            self._answered = self._answered or not nobody
            if self.stop or not self._answered:
                return False
            self.tell(Retrying(name, str(error), seconds))
            return not self.stop.wait(seconds)

        return wait

    def _archive(self, held: ClaimedFile, spooled: Spooled) -> Ending:
        if not held.is_unchanged or not held.is_in_place:
            return Left(held.name, _CHANGED)
        began = datetime.now(UTC)
        kept = self.archive.keep(held, spooled.content)
        held.take_out()
        warning = self._note(spooled, began)
        return Published(held.name, kept.where, kept.new, warning)

    def _note(self, spooled: Spooled, began: datetime) -> str:
        sink, ended = self.sink, datetime.now(UTC)
        if not isinstance(sink, NotesArchiving):
            return ""
        try:
            retried(
                lambda: sink.note_archived(spooled, began, ended),
                self.policy,
                self._waiting(spooled.name),
            )
        except BenchyardError as error:  # also of settings: the file is archived all the same
            return str(error)
        return ""

    def _trouble(self, name: str, error: BenchyardError | OSError) -> Left:
        reason = _sentence(error)
        self._troubles += 1
        if self._troubles >= _IN_A_ROW or isinstance(error, InputError):
            self.stop.give_up(reason)
        return Left(name, reason)


class _UnforeseenError(BenchyardError):
    """A sink raised an error that the contract does not know; the file waits."""


def _sentence(error: BenchyardError | OSError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)
