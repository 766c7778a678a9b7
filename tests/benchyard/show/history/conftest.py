"""Readers made by hand."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Unpack

from benchyard.publish.sinks.contract import Point, TimingWindow
from benchyard.show.history.series import Series

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return FIRST + timedelta(days=number)


def series(*wall_times: float, entry: str = "load", test: str = "words") -> Series:
    """Make a series with a timing each day."""
    found = (Point(day(number), time) for number, time in enumerate(wall_times))
    return Series(test, entry, tuple(found))


class FakeReader:
    """A reader of timings in memory, one a day; it notes what it was asked for."""

    def __init__(self, content: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
        self.content = content
        self.asked: list[tuple[object, ...]] = []
        self.closed = False

    def tests(self) -> Iterator[str]:
        yield from sorted(self.content)

    def entries(self, test: str) -> Iterator[str]:
        yield from sorted(self.content.get(test, {}))

    def starts(self, test: str, **window: Unpack[TimingWindow]) -> Iterator[datetime]:
        since, limit = window.get("since"), window.get("limit")
        self.asked.append((test, since, limit))
        count = max(map(len, self.content.get(test, {}).values()), default=0)
        found = [day(number) for number in range(count) if since is None or day(number) >= since]
        yield from found[::-1][:limit]

    def timings(self, test: str, entry: str, **window: Unpack[TimingWindow]) -> Iterator[Point]:
        since, limit = window.get("since"), window.get("limit")
        self.asked.append((test, entry, since, limit))
        found = [
            Point(day(number), time)
            for number, time in enumerate(self.content.get(test, {}).get(entry, ()))
            if since is None or day(number) >= since
        ]
        yield from found[::-1][:limit]

    def close(self) -> None:
        self.closed = True
