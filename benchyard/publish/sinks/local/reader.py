"""Reading the local store."""

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from math import nan
from pathlib import Path
from typing import Any, TypeVar, Unpack

from benchyard.publish.sinks.contract import Point, TimingWindow, timings_of_documents
from benchyard.publish.sinks.local.store import (
    BLOCK,
    connect_to_read,
    explaining,
    microseconds,
    moment_of,
)
from benchyard.publish.testresults.document import object_of_text
from benchyard.results.subject import Subject

#: Microseconds since 1970 before every moment that Python has.
_EVER = -(2**62)
#: SQLite's LIMIT for all rows.
_ALL = -1
_NOTHING: Mapping[str, object] = {}
_STARTS = """
    SELECT d.start FROM test_names n JOIN documents d ON d.test_id = n.id
    WHERE n.test = :test AND d.start >= :since
    ORDER BY d.start DESC, d.number DESC LIMIT :limit
"""
#: CROSS keeps the order of the tables: documents by their start, then a look for each.
_TIMINGS = """
    SELECT d.start, d.number, t.timing, d.origin, t.suspect FROM test_names n
    JOIN entry_names e ON e.test_id = n.id AND e.entry = :entry
    CROSS JOIN documents d ON d.test_id = n.id
    CROSS JOIN timings t
        ON t.block = d.number / :block AND t.entry_id = e.id AND t.number = d.number
    WHERE n.test = :test AND d.start >= :since
    ORDER BY d.start DESC, d.number DESC LIMIT :limit
"""


_KindT = TypeVar("_KindT")


class LocalReader:
    """Reads one SQLite file, while others may write to it. See ``contract.Reader``."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None
        self._origins: dict[int, Subject] = {}

    def tests(self) -> Iterator[str]:
        """Yield the names of all tests, sorted."""
        yield from self._names("SELECT test FROM test_names ORDER BY test")

    def entries(self, test: str) -> Iterator[str]:
        """Yield the names of all entries that a test ever had, sorted."""
        query = (
            "SELECT entry FROM entry_names "
            "WHERE test_id = (SELECT id FROM test_names WHERE test = :test) ORDER BY entry"
        )
        yield from self._names(query, {"test": test})

    def starts(self, test: str, **window: Unpack[TimingWindow]) -> Iterator[datetime]:
        """Yield when a test was started, once for each document."""
        with explaining(self._file):
            for (start,) in self._rows(_STARTS, _bounds(test, window)):
                yield moment_of(start)

    def timings(self, test: str, entry: str, **window: Unpack[TimingWindow]) -> Iterator[Point]:
        """Yield the timings of one entry of a test."""

        def read(limit: int | None) -> Iterator[tuple[int, Point]]:
            wanted = {"entry": entry, "block": BLOCK, **_bounds(test, {**window, "limit": limit})}
            for start, number, timing, origin, suspect in self._rows(_TIMINGS, wanted):
                wall_time = nan if timing is None else _of(float, timing)
                subject, reason = self._origin(origin), _of(str, suspect or "")
                yield number, Point(moment_of(start), wall_time, subject, reason)

        with explaining(self._file):
            yield from timings_of_documents(read, window.get("limit"))

    def close(self) -> None:
        """Close the file."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def _origin(self, number: int) -> Subject:
        if number not in self._origins:
            [(whole,)] = self._rows("SELECT whole FROM origins WHERE id = :id", {"id": number})
            self._origins[number] = object_of_text(whole)
        return self._origins[number]

    def _names(self, query: str, values: Mapping[str, object] = _NOTHING) -> list[str]:
        with explaining(self._file):
            return [_of(str, name) for (name,) in self._rows(query, values)]

    def _rows(self, query: str, values: Mapping[str, object] = _NOTHING) -> list[Any]:
        # All at once: a statement that waits for a slow reader keeps the log from being emptied.
        with explaining(self._file):
            if self._connection is None:
                self._connection = connect_to_read(self._file)
            try:
                return self._connection.execute(query, values).fetchall()
            except UnicodeEncodeError:
                return []  # nothing is called what is no Unicode


def _of(kind: type[_KindT], value: object) -> _KindT:
    """Return a value if it has the type that was stored; of a damaged file it may have another."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _bounds(test: str, window: TimingWindow) -> dict[str, object]:
    since, limit = window.get("since"), window.get("limit")
    return {
        "test": test,
        "since": _EVER if since is None else microseconds(since),
        "limit": _ALL if limit is None else limit,
    }
