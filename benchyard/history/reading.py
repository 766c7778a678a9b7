"""From any sink's reader to what a history shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from benchyard.case.problems import hint, printable, quote
from benchyard.errors import InputError
from benchyard.history.series import Series
from benchyard.sinks import Reader


@dataclass(frozen=True, slots=True)
class Window:
    """What of the past is looked at.

    Args:
        since: Nothing before it.
        limit: At most so many of each, the newest; None is all.
    """

    since: datetime | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class TestSummary:
    """One test in the list of tests.

    Args:
        starts: How often it was started, within the window.
        complete: Whether that is all, or there may be more.
    """

    __test__ = False  # keeps pytest from collecting a class that is named Test…

    test: str
    starts: int
    complete: bool
    first: datetime | None
    last: datetime | None


def read_tests(reader: Reader, window: Window) -> Iterator[TestSummary]:
    """Yield every test that was started within the window, sorted by name."""
    for test in reader.tests():
        summary = _summary(reader, test, window)
        if summary.starts or window.since is None:
            yield summary


def _summary(reader: Reader, test: str, window: Window) -> TestSummary:
    limit = None if window.limit is None else window.limit + 1
    found = list(reader.starts(test, since=window.since, newest_first=True, limit=limit))
    shown = found[: window.limit]
    first, last = (shown[-1], shown[0]) if shown else (None, None)
    return TestSummary(test, len(shown), len(shown) == len(found), first, last)


def read_entries(reader: Reader, test: str, window: Window) -> Iterator[Series]:
    """Yield every entry of a test, sorted by name; one without timings in the window is left out.

    Raises:
        InputError: If there is no such test.
    """
    entries = _entries(reader, test)
    for entry in entries:
        series = _series(reader, test, entry, window)
        if series.timings:
            yield series


def read_entry(reader: Reader, test: str, entry: str, window: Window) -> Series:
    """Return one entry of a test.

    Raises:
        InputError: If there is no such test or entry.
    """
    series = _series(reader, test, entry, window)
    if not series.timings:
        entries = _entries(reader, test)
        if entry not in entries:
            unknown = f"the test '{quote(test)}' has no entry '{quote(entry)}'"
            raise InputError(unknown + _hint(entry, entries))
    return series


def _series(reader: Reader, test: str, entry: str, window: Window) -> Series:
    newest = reader.timings(test, entry, since=window.since, newest_first=True, limit=window.limit)
    return Series(test, entry, tuple(newest)[::-1])


def _entries(reader: Reader, test: str) -> list[str]:
    entries = list(reader.entries(test))
    if not entries:
        tests = list(reader.tests())
        if test not in tests:
            where = "" if tests else "; nothing was published there yet"
            raise InputError(f"there is no test '{quote(test)}'{_hint(test, tests) or where}")
    return entries


def _hint(word: str, known: list[str]) -> str:
    """Return what to write instead; a piece of a name is as good as a slip of the pen."""
    around = [name for name in known if word.lower() in name.lower()] if word else []
    if len(around) == 1:
        return f"; did you mean '{printable(around[0])}'?"
    return printable(hint("", around) if around else hint(word, known))
