"""What a sink and a reader are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypedDict, Unpack, runtime_checkable

from benchyard.core.model import Json, JsonObject
from benchyard.results.subject import Subject


class Kind(StrEnum):
    """What a spooled file holds, by the end of its name."""

    RESULTS = ".json"
    EVENTS = ".events.jsonl"


@dataclass(frozen=True, slots=True)
class Spooled:
    """One file that waits to be published.

    Args:
        name: The file's name in the spool, without a compression's ending.
        content: All of it, uncompressed.
        archived_as: Where it will lie after the sink confirmed it; whoever looks for the whole
            finds it there.
    """

    name: str
    content: bytes
    archived_as: str

    @property
    def kind(self) -> Kind:
        """What it holds."""
        return Kind.EVENTS if self.name.endswith(Kind.EVENTS) else Kind.RESULTS


class Sink(Protocol):
    """Where documents are published. ``check`` is called first, ``close`` last."""

    @property
    def name(self) -> str:
        """Its name on the command line: ``local``, ``datastore``, ``azure-tables``."""
        ...

    @property
    def kind(self) -> Kind:
        """What it takes of a finished run."""
        ...

    @property
    def parallel(self) -> int:
        """How many calls of ``store`` may run at once; more would not be faster."""
        ...

    def check(self) -> None:
        """Check settings and credentials; nothing is sent.

        Raises:
            InputError: If credentials or settings are missing or wrong; one sentence, no secret.
            SinkUnavailableError: If they are right, and it can take nothing now.
        """
        ...

    def store(self, spooled: Spooled) -> None:
        """Publish one file; when it returns, the other side has confirmed all of it.

        Doing it twice leaves one copy. May be called by several threads at once.

        Raises:
            DocumentRejectedError: If the document, provably, can never be stored.
            InputError: If the other side takes nothing with these settings; publishing ends.
            UnreachableError: If nobody answers at the address.
            SinkUnavailableError: If it may succeed later; the sink itself does not try again.
            SinkError: If it was refused, and it is not known whether the document or the settings
                are wrong; it waits, and the next ones go on.
        """
        ...

    def close(self) -> None:
        """Give connections back; may be called in any state."""
        ...


@runtime_checkable
class NotesArchiving(Protocol):
    """A sink that also publishes when its documents were archived."""

    def note_archived(self, spooled: Spooled, began: datetime, ended: datetime) -> None:
        """Publish that a file was archived, after ``store`` confirmed it; twice leaves one copy.

        Args:
            spooled: The file.
            began: When archiving began, with a time zone.
            ended: When the file was safe in the archive.

        Raises:
            SinkUnavailableError: If that is not possible now; the file stays archived.
        """
        ...


@dataclass(frozen=True, slots=True)
class Timing:
    """One published timing.

    Args:
        started_at: Start of the test, UTC.
        wall_time: Seconds, as the document said.
        subject: What was measured, as in ``benchyard.results.subject``; incomplete if the document
            does not say all of it.
        suspect: Why the number cannot be trusted; empty if it can.
    """

    started_at: datetime
    wall_time: float
    subject: Subject = field(default_factory=dict[str, Json])
    suspect: str = ""

    @property
    def host(self) -> str:
        """Name of the host; empty if it is not known."""
        return str(self.subject.get("host") or "")

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what was measured, by name."""
        found = self.subject.get("versions")
        told = found.items() if isinstance(found, dict) else ()
        versions = {name: of.get("version") for name, of in told if isinstance(of, dict)}
        return {name: one for name, one in versions.items() if isinstance(one, str)}


@dataclass(frozen=True, slots=True)
class Stored:
    """One published entry, whole.

    Args:
        test: Name of the test.
        entry: Name of the entry.
        started_at: Start of the test, UTC.
        wall_time: Seconds, as the document said.
        info: The entry's JSON; empty if it was too long to be stored.
    """

    test: str
    entry: str
    started_at: datetime
    wall_time: float
    info: JsonObject


class Window(TypedDict, total=False):
    """Which part of a history is wanted; all of it, oldest first, unless said otherwise.

    Args:
        since: The earliest start.
        newest_first: The order.
        limit: At most so many, the first of that order.
    """

    since: datetime | None
    newest_first: bool
    limit: int | None


class Reader(Protocol):
    """Reads back what was published.

    Each method raises ``SinkUnavailableError`` if the other side does not answer, and
    ``InputError`` if credentials or indexes are missing.
    """

    def tests(self) -> Iterator[str]:
        """Yield the names of all tests, sorted."""
        ...

    def entries(self, test: str) -> Iterator[str]:
        """Yield the names of all entries that a test ever had, sorted."""
        ...

    def starts(self, test: str, **window: Unpack[Window]) -> Iterator[datetime]:
        """Yield when a test was started."""
        ...

    def timings(self, test: str, entry: str, **window: Unpack[Window]) -> Iterator[Timing]:
        """Yield the timings of one entry of a test."""
        ...

    def stored(self, test: str, started_at: datetime) -> Iterator[Stored]:
        """Yield the entries of a test that was started then, by name."""
        ...

    def close(self) -> None:
        """Give connections back."""
        ...
