"""Reading back what was published to Google Cloud Datastore, by us or by TensorFlow's uploader."""

import json
from collections.abc import Iterator
from datetime import datetime
from operator import attrgetter
from typing import Any, Self, cast

from benchyard.model import JsonObject
from benchyard.sinks.contract import Stored, Timing
from benchyard.sinks.datastore.connection import Connection
from benchyard.sinks.datastore.entities import ENTRY, TEST
from benchyard.sinks.datastore.queries import distinct, select
from benchyard.sinks.datastore.values import Message, moment, number


class DatastoreReader:
    """Answers from a Datastore; see the contract for what each method yields.

    Whatever name was too long to be indexed is found by its whole and listed as it is stored.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    def from_environment(cls) -> Self:
        """Return a reader of what the environment means; nothing is connected or checked."""
        return cls(Connection.from_environment())

    def tests(self) -> Iterator[str]:
        """Yield the names of all tests, sorted."""
        for found in self._connection.query(distinct(TEST, "test", {})):
            yield found.properties["test"].string_value

    def entries(self, test: str) -> Iterator[str]:
        """Yield the names of all entries that a test ever had, sorted."""
        for found in self._connection.query(distinct(ENTRY, "entry", {"test": test})):
            yield found.properties["entry"].string_value

    def starts(
        self,
        test: str,
        *,
        since: datetime | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[datetime]:
        """Yield when a test was started."""
        query = select(
            TEST,
            {"test": test},
            properties=["start"],
            since=since,
            newest_first=newest_first,
            limit=limit,
        )
        for found in self._connection.query(query):
            yield moment(found.properties["start"])

    def timings(
        self,
        test: str,
        entry: str,
        *,
        since: datetime | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[Timing]:
        """Yield the timings of one entry of a test; those of one start by value."""
        query = select(
            ENTRY,
            {"test": test, "entry": entry},
            properties=["start", "timing"],
            since=since,
            newest_first=newest_first,
            limit=limit,
        )
        for found in self._connection.query(query):
            yield Timing(moment(found.properties["start"]), number(found.properties["timing"]))

    def stored(self, test: str, started_at: datetime) -> Iterator[Stored]:
        """Yield the entries of a test that was started then, by name."""
        query = select(ENTRY, {"test": test, "start": started_at})
        found = map(_stored, self._connection.query(query))
        yield from sorted(found, key=attrgetter("entry"))

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


def _stored(entity: Message) -> Stored:
    properties = entity.properties
    return Stored(
        properties["test"].string_value,
        properties["entry"].string_value,
        moment(properties["start"]),
        number(properties["timing"]),
        _object(properties["info"].string_value),
    )


def _object(text: str) -> JsonObject:
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("JsonObject", body) if isinstance(body, dict) else {}
