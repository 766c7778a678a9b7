"""Reading back what was published to Google Cloud Datastore, by us or by TensorFlow's uploader."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Unpack

from benchyard.core.errors import DocumentRejectedError
from benchyard.publish.sinks.contract import Point, TimingWindow, timings_of_documents
from benchyard.publish.sinks.datastore.connection import Connection
from benchyard.publish.sinks.datastore.settings import TYPES, Message
from benchyard.publish.sinks.datastore.sink import (
    COMMIT,
    ENTRY,
    HOST,
    SUBJECT,
    TEST,
    indexed,
    moment,
    number,
)
from benchyard.publish.testresults import parse
from benchyard.publish.testresults.document import (
    DIGITS_OF_DOCUMENT,
    known_of,
    object_of_text,
    subject_in,
    suspect_in,
)
from benchyard.results.subject import Subject

_EQUAL: int = TYPES.PropertyFilter.Operator.EQUAL
_FROM: int = TYPES.PropertyFilter.Operator.GREATER_THAN_OR_EQUAL
_ORDER: Any = TYPES.PropertyOrder.Direction


class DatastoreReader:
    """Reads from a Datastore; see ``contract.Reader``.

    A name that was too long to be indexed is listed as it is stored, and found by the whole name.
    """

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection or Connection()
        self._subjects: dict[str, Subject] = {}

    def tests(self) -> Iterator[str]:
        """Yield the names of all tests, sorted."""
        yield from self._distinct(TEST, "test", {})

    def entries(self, test: str) -> Iterator[str]:
        """Yield the names of all entries that a test ever had, sorted."""
        yield from self._distinct(ENTRY, "entry", {"test": test})

    def starts(self, test: str, **window: Unpack[TimingWindow]) -> Iterator[datetime]:
        """Yield when a test was started."""
        query = _select(TEST, {"test": test}, ["start"], window)
        for found in self._connection.query(query):
            yield moment(found.properties["start"])

    def timings(self, test: str, entry: str, **window: Unpack[TimingWindow]) -> Iterator[Point]:
        """Yield the timings of one entry of a test."""

        def read(limit: int | None) -> Iterator[tuple[str, Point]]:
            wanted: TimingWindow = {**window, "limit": limit}
            query = _select(ENTRY, {"test": test, "entry": entry}, window=wanted)
            for found in self._connection.query(query):
                yield found.key.path[-1].name[:DIGITS_OF_DOCUMENT], self._timing(test, found)

        return timings_of_documents(read, window.get("limit"))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _distinct(self, kind: str, name: str, equal: Mapping[str, str]) -> Iterator[str]:
        """Yield the different values of a property, in their order."""
        query = _select(kind, equal, [name])
        query.distinct_on.add().name = name
        query.order.add(direction=_ORDER.ASCENDING).property.name = name
        for found in self._connection.query(query):
            yield found.properties[name].string_value

    def _timing(self, test: str, entity: Message) -> Point:
        at, properties = moment(entity.properties["start"]), entity.properties
        told = {name: _text(entity, name) for name in (HOST, SUBJECT, COMMIT)}
        suspect = suspect_in(object_of_text(properties["info"].string_value))
        subject = self._subject(test, at, told)
        return Point(at, number(properties["timing"]), subject, suspect)

    def _subject(self, test: str, at: datetime, told: Mapping[str, str]) -> Subject:
        """Return the subject of an entry; the whole is in its test, which is read once."""
        digest = told[SUBJECT]
        if not digest:
            return known_of(test, told[HOST], told[COMMIT])
        if digest not in self._subjects:
            self._subjects[digest] = self._whole(test, at, digest)
        return self._subjects[digest] or {"host": told[HOST], "digest": digest}

    def _whole(self, test: str, at: datetime, digest: str) -> Subject:
        query = _select(TEST, {"test": test, "start": at})
        for found in self._connection.query(query):
            if _text(found, SUBJECT) == digest:
                with suppress(DocumentRejectedError):
                    return subject_in(parse(found.properties["info"].string_value.encode()))
        return {}


def _text(entity: Message, name: str) -> str:
    properties = entity.properties
    return properties[name].string_value if name in properties else ""


def _select(
    kind: str,
    equal: Mapping[str, str | datetime],
    properties: Sequence[str] = (),
    window: TimingWindow | None = None,
) -> Message:
    """Return a query for the entities of a kind.

    Args:
        kind: The kind.
        equal: Property to value.
        properties: What is wanted of each; empty means all of it.
        window: Which part, the newest start first; else any order.
    """
    query = TYPES.Query.pb()()
    query.kind.add().name = kind
    for name, value in equal.items():
        _add_filter(query, name, _EQUAL, value)
    for name in properties:
        query.projection.add().property.name = name
    if window is not None:
        if (since := window.get("since")) is not None:
            _add_filter(query, "start", _FROM, since)
        query.order.add(direction=_ORDER.DESCENDING).property.name = "start"
        if (limit := window.get("limit")) is not None:
            query.limit.value = limit
    return query


def _add_filter(query: Message, name: str, operator: int, value: str | datetime) -> None:
    query.filter.composite_filter.op = TYPES.CompositeFilter.Operator.AND
    added = query.filter.composite_filter.filters.add().property_filter
    added.property.name = name
    added.op = operator
    if isinstance(value, datetime):
        added.value.timestamp_value.FromDatetime(value)
    else:
        added.value.string_value = indexed(value)
