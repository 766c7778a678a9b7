"""From any sink's reader to what a history shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from benchyard.core.errors import InputError
from benchyard.core.wording import hint, printable, quote
from benchyard.publish.sinks.contract import Reader, Timing
from benchyard.show.history.series import Series


@dataclass(frozen=True, slots=True)
class Window:
    """What of the past is looked at.

    Args:
        since: Nothing before it.
        limit: At most so many of each, the newest; None is all.
        host: Only what was measured there; None is every host, each with a series of its own.
        pooled: Whether all hosts share one series.
    """

    since: datetime | None = None
    limit: int | None = None
    host: str | None = None
    pooled: bool = False


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
    """Yield every entry of a test, sorted by name, of each host; without timings it is left out.

    Raises:
        InputError: If there is no such test, or the host that is wanted never measured it.
    """
    found = False
    entries = _entries(reader, test)
    for entry in entries:
        for series in _series(reader, test, entry, window):
            found = True
            yield series
    if not found:
        _check_host(reader, test, entries, window)


def read_entry(reader: Reader, test: str, entry: str, window: Window) -> list[Series]:
    """Return one entry of a test: the series of each host, or an empty one.

    Raises:
        InputError: If there is no such test or entry, or the host that is wanted never measured it.
    """
    series = list(_series(reader, test, entry, window))
    if not series:
        entries = _entries(reader, test)
        if entry not in entries:
            unknown = f"the test '{quote(test)}' has no entry '{quote(entry)}'"
            raise InputError(unknown + _hint(entry, entries))
        _check_host(reader, test, [entry], window)
    return series or [Series(test, entry, ())]


def _series(reader: Reader, test: str, entry: str, window: Window) -> Iterator[Series]:
    """Yield the series of each host, by name; at most one if they are pooled."""
    newest = list(_newest(reader, test, entry, window))
    of: dict[str, list[Timing]] = {}
    for timing in reversed(newest):
        of.setdefault("" if window.pooled else timing.host, []).append(timing)
    whole = window.limit is None or len(newest) < window.limit
    for host in sorted(of):
        yield Series(test, entry, tuple(of[host]), whole)


def _newest(reader: Reader, test: str, entry: str, window: Window) -> Iterator[Timing]:
    """Yield the timings of a window, newest first; the limit is that of the host that is wanted."""
    limit = window.limit if window.host is None else None
    found = reader.timings(test, entry, since=window.since, newest_first=True, limit=limit)
    if window.host is None:
        return found
    return islice((one for one in found if one.host == window.host), window.limit)


def _check_host(reader: Reader, test: str, entries: Sequence[str], window: Window) -> None:
    if window.host is None:
        return
    hosts = sorted({one.host for entry in entries for one in reader.timings(test, entry)} - {""})
    if window.host not in hosts:
        unknown = f"nothing of the test '{quote(test)}' was measured on '{quote(window.host)}'"
        raise InputError(unknown + (_hint(window.host, hosts) or "; no host is known of it"))


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
