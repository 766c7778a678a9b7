"""What a sink and a reader are."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby, islice
from typing import Protocol, TypedDict, Unpack, runtime_checkable

from benchyard.core.model import Json, object_in
from benchyard.results.subject import Subject
from benchyard.statistics.measures import median


class DocumentKind(StrEnum):
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
    def kind(self) -> DocumentKind:
        """What it holds."""
        return (
            DocumentKind.EVENTS if self.name.endswith(DocumentKind.EVENTS) else DocumentKind.RESULTS
        )


class Sink(Protocol):
    """Where documents are published. ``check`` is called first, ``close`` last."""

    @property
    def name(self) -> str:
        """Its name on the command line: ``local``, ``datastore``, ``azure-tables``."""
        ...

    @property
    def kind(self) -> DocumentKind:
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
class Point:
    """One value of a history: a published timing, or the median of a campaign.

    Args:
        began: Start of the test, UTC.
        value: Of a document the wall time in seconds; the median of several results of one name.
        subject: What was measured, as in ``benchyard.results.subject``; incomplete if the document
            does not say all of it.
        suspect: Why the number cannot be trusted; empty if it can.
        runs: How many runs it is of.
        low: End of its interval, as ``high``; None if it has none.
    """

    began: datetime
    value: float
    subject: Subject = field(default_factory=dict[str, Json])
    suspect: str = ""
    runs: int = 1
    low: float | None = None
    high: float | None = None

    @property
    def last_began(self) -> datetime:
        """When the last of its runs began."""
        return self.began

    @property
    def host(self) -> str:
        """Name of the host; empty if it is not known."""
        return str(self.subject.get("host") or "")

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what was measured, by name."""
        told = object_in(self.subject, "versions")
        versions = {name: object_in(told, name).get("version") for name in told}
        return {name: one for name, one in versions.items() if isinstance(one, str)}


def timings_of_documents(
    read: Callable[[int | None], Iterable[tuple[Hashable, Point]]], limit: int | None
) -> Iterator[Point]:
    """Yield one timing for each document; of several results of one name their median.

    Args:
        read: Reads the results of one name with their documents, those of one start in sequence:
            all of them, or so many at most.
        limit: Of documents.
    """
    found = read(None if limit is None else limit + 1)
    if limit is not None:
        found = list(found)
        if len({document for document, _ in found}) <= limit < len(found):
            found = read(None)  # documents have several results, and the last one was cut
    return islice(_medians(found), limit)


def _medians(found: Iterable[tuple[Hashable, Point]]) -> Iterator[Point]:
    for _, same in groupby(found, key=lambda one: one[1].began):
        documents: dict[Hashable, list[Point]] = {}
        for document, timing in same:
            documents.setdefault(document, []).append(timing)
        for results in documents.values():
            counted = [one for one in results if not one.suspect] or results
            finite = [one.value for one in counted if math.isfinite(one.value)]
            single = len(counted) == 1 or not finite
            yield counted[0] if single else replace(counted[0], value=median(finite))


class TimingWindow(TypedDict, total=False):
    """Which part of a history is wanted; all of it unless said otherwise.

    Args:
        since: The earliest start.
        limit: At most so many, the newest.
    """

    since: datetime | None
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

    def starts(self, test: str, **window: Unpack[TimingWindow]) -> Iterator[datetime]:
        """Yield when a test was started, newest first."""
        ...

    def timings(self, test: str, entry: str, **window: Unpack[TimingWindow]) -> Iterator[Point]:
        """Yield the timings of one entry, newest first; see ``timings_of_documents``."""
        ...

    def close(self) -> None:
        """Give connections back."""
        ...
