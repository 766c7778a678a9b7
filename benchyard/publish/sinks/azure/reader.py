"""Reading performance events back, and the timings of tests in them."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from itertools import islice
from typing import Any, TypeAlias, Unpack

from benchyard.core.model import Json
from benchyard.publish.sinks.azure.client import explaining, refuse_silent, service
from benchyard.publish.sinks.azure.credentials import Access
from benchyard.publish.sinks.azure.rows import TESTRESULTS, UNKNOWN, event_of, seconds
from benchyard.publish.sinks.contract import Point, TimingWindow, timings_of_documents
from benchyard.publish.sinks.sending import READING, retried
from benchyard.publish.testresults.convert import known
from benchyard.publish.testresults.document import object_of_text
from benchyard.results.events import MEASURED, SOURCE, Event
from benchyard.results.subject import Subject

logger = logging.getLogger(__name__)

#: Name of an entry, its document and its timing.
_Result: TypeAlias = tuple[str, str, Point]

_STARTS = (f"{SOURCE}:run-start", f"{TESTRESULTS}:test-start")
_TIMINGS = (f"{SOURCE}:attempt-end", f"{TESTRESULTS}:entry")
_ENDS = (f"{SOURCE}:run-end",)
_WHOLE = (*_STARTS, *_TIMINGS, *_ENDS)


def events(
    found: Access, *, since: datetime | None = None, names: Iterable[str] = ()
) -> Iterator[Event]:
    """Yield the events of a partition, ours and Batch Shipyard's own, in order of time.

    Events of publishing stand where their run ended, and tell when they really were. Rows that
    are no events are left out, with a warning.

    Args:
        found: Where the table is, and the way in.
        since: Earliest time of a row.
        names: Only these, ``source:name``; all by default.

    Raises:
        SinkUnavailableError: If Azure does not answer.
        InputError: If there is no such table, or the credentials are not accepted.
    """
    strange = 0
    for row in rows(found, since=since, names=names):
        try:
            yield event_of(row)
        except ValueError as error:
            strange += 1
            if strange == 1:
                logger.warning("table '%s': %s; such rows are left out", found.table, error)


def rows(
    found: Access, *, since: datetime | None = None, names: Iterable[str] = ()
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a partition as they stand: ``RowKey``, ``NodeId``, ``Event``, ``Message``.

    Raises:
        SinkUnavailableError: If Azure does not answer.
        InputError: If there is no such table, or the credentials are not accepted.
    """
    query, parameters = _query(found.partition, since, names)
    refuse_silent(found)
    with closing(service(found)) as opened:
        table = opened.get_table_client(found.table)
        pages = table.query_entities(query, parameters=parameters).by_page()

        def page() -> Iterable[Mapping[str, Any]] | None:
            with explaining(found):
                return next(pages, None)

        while (read := retried(page, READING)) is not None:
            yield from read


def _query(
    partition: str, since: datetime | None, names: Iterable[str]
) -> tuple[str, dict[str, str]]:
    query, parameters = "PartitionKey eq @partition", {"partition": partition}
    if since is not None:
        query += " and RowKey ge @since"
        # Batch Shipyard's keys have no zeros at the end, and a shorter text is an earlier one.
        parameters["since"] = _from(since)
    wanted = {f"name{number}": name for number, name in enumerate(names)}
    if wanted:
        # With spaces around each word: the library finds its parameters by them.
        query += " and ( " + " or ".join(f"Event eq @{place}" for place in wanted) + " )"
    return query, parameters | wanted


def _from(since: datetime) -> str:
    try:
        return seconds(since).rstrip("0").rstrip(".")
    except ValueError:
        return "0" if since.year < 2000 else "9" * 10


class AzureTablesReader:
    """Reads timings out of the events: a test is a case, an entry one of its measured steps.

    A timing is the median of an attempt's measured repetitions, and only attempts that succeeded
    have one. Entries of TestResults documents that were published as events count as well.

    Azure reads all rows of a time to find some, so rows are read once and kept: one command asks
    for many entries. What is published meanwhile is seen by the next reader.

    Args:
        found: Where the table is, and the way in.
    """

    def __init__(self, found: Access) -> None:
        self._found = found
        self._read: tuple[datetime | None, list[Event]] | None = None

    def tests(self) -> Iterator[str]:
        """Yield the names of all tests, sorted."""
        named = {_test(event) for event in self._events()}
        yield from sorted(name for name in named if name is not None)

    def entries(self, test: str) -> Iterator[str]:
        """Yield the names of all entries that a test ever had, sorted."""
        yield from sorted({entry for entry, _, _ in _told(test, self._events())})

    def starts(self, test: str, **window: Unpack[TimingWindow]) -> Iterator[datetime]:
        """Yield when a test was started."""
        found = self._events(window.get("since"))
        starts = [e.at for e in found if f"{e.source}:{e.name}" in _STARTS and _test(e) == test]
        yield from islice(reversed(starts), window.get("limit"))

    def timings(self, test: str, entry: str, **window: Unpack[TimingWindow]) -> Iterator[Point]:
        """Yield the timings of one entry of a test."""
        told = (one for one in _told(test, self._events(window.get("since"))) if one[0] == entry)
        results = [(document, timing) for _, document, timing in told]
        results.sort(key=lambda one: one[1].began)
        return timings_of_documents(
            lambda limit: islice(reversed(results), limit), window.get("limit")
        )

    def close(self) -> None:
        """Forget what was read; connections are closed after each answer."""
        self._read = None

    def _events(self, since: datetime | None = None) -> Iterator[Event]:
        """Yield events in order of time; those that were read before are not read again."""
        known = self._read
        if known is None or (known[0] is not None and (since is None or since < known[0])):
            known = self._read = since, list(events(self._found, since=since, names=_WHOLE))
        return (event for event in known[1] if since is None or event.at >= since)


def _told(test: str, found: Iterable[Event]) -> Iterator[_Result]:
    """Yield the results of a test's runs, in order of their end."""
    began: dict[tuple[str, Json], Event] = {}
    for event in found:
        if _test(event) != test:
            continue
        run, name = (event.node, event.message.get("run")), f"{event.source}:{event.name}"
        if event.source == TESTRESULTS and name in _TIMINGS:
            # Entries stand at their test's start, and need not come after it.
            yield from _timed("entry", event, event)
        elif name in _STARTS:
            began[run] = event
        elif name in _TIMINGS and run in began:
            yield from _timed("step", event, began[run])
        elif name in _ENDS:
            began.pop(run, None)


def _timed(key: str, event: Event, began: Event) -> Iterator[_Result]:
    wall, suspect = event.message.get("wall"), event.message.get("suspect")
    if isinstance(wall, int | float) and not isinstance(wall, bool):
        reason = suspect if isinstance(suspect, str) else ""
        timing = Point(began.at, float(wall), _subject(began), reason)
        # Only documents have several results of one name; a step of a run is told once.
        document = event.message.get("document", id(event))
        yield str(event.message.get(key)), str(document), timing


def _subject(began: Event) -> Subject:
    """Return the subject that the first event of a run tells; its node is the host."""
    digest, whole = began.message.get("subject"), began.message.get(MEASURED)
    host = began.node if began.node != UNKNOWN else None
    return object_of_text(whole) or known({"host": host, "digest": digest})


def _test(event: Event) -> str | None:
    name = event.message.get("case" if event.source == SOURCE else "test")
    return name if isinstance(name, str) else None
