"""The timings of an entry through time: how they are read, and what they say."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Self

from benchyard.analysis.comparison.levels import Level
from benchyard.analysis.comparison.moves import LevelHistory
from benchyard.analysis.comparison.samples import DURATION
from benchyard.core.errors import InputError
from benchyard.core.model import Json
from benchyard.core.wording import hint, printable, quote
from benchyard.publish.sinks.contract import Point, Reader
from benchyard.results.subject import Subject, SubjectChange, differences, in_words


@dataclass(frozen=True, slots=True)
class Change:
    """The first timing after the subject changed.

    Args:
        timing: It.
        differences: From the timing before it on its host.
    """

    timing: Point
    differences: tuple[SubjectChange, ...]

    @property
    def text(self) -> str:
        """What differs, before and after: "DuckDB 1.2.2 and 2.0.0"."""
        return in_words(self.differences)


def changes_in(subjects: Iterable[Subject]) -> Iterator[tuple[SubjectChange, ...]]:
    """Yield of each subject in what it differs from the one before it on its host.

    Args:
        subjects: Oldest first, of any number of hosts.
    """
    before: dict[Json, Subject] = {}
    for subject in subjects:
        host = subject.get("host")
        yield _between(before.get(host, {}), subject)
        before[host] = subject


def _between(before: Subject, after: Subject) -> tuple[SubjectChange, ...]:
    found = differences(before, after)
    digests = before.get("digest"), after.get("digest")
    if found or None in digests or digests[0] == digests[1]:
        return found
    if "case" in before and "case" in after:
        return ()  # one of them tells what the other does not know
    return (SubjectChange("subject", *digests),)


@dataclass(frozen=True)
class Series:
    """The points of one entry of a test, or of one step of a case.

    Args:
        points: Oldest first.
        whole: Whether these are all that there are in the window.
        metric: What the values are of.
        unit: Of the values; None if it is not known.
        of_campaigns: Whether each point is a campaign; else it is a run.
        step: Id of the step; empty if it is not known.
    """

    test: str
    entry: str
    points: tuple[Point, ...]
    whole: bool = True
    metric: str = DURATION
    unit: str | None = "s"
    of_campaigns: bool = False
    step: str = ""

    @cached_property
    def levels(self) -> LevelHistory:
        """The levels of its points; changes are looked for in campaigns of one host alone."""
        known = [one for one in self.trusted if math.isfinite(one.value)]
        relative = all(one.value > 0 for one in known)
        values = [math.log(one.value) if relative else one.value for one in known]
        levels = [
            Level(one.last_began, one.subject, v) for one, v in zip(known, values, strict=True)
        ]
        moving = self.of_campaigns and len(self.hosts) == 1
        return LevelHistory(levels, relative, self.unit, moving)

    @property
    def by_host(self) -> list[Self]:
        """The series of each of its hosts."""
        return [
            replace(self, points=tuple(one for one in self.points if one.host == host))
            for host in self.hosts
        ]

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts, sorted; an empty one is not known."""
        return tuple(sorted({one.host for one in self.points}))

    @property
    def changes(self) -> tuple[Change, ...]:
        """Where the subject changed."""
        found = changes_in(one.subject for one in self.points)
        return tuple(Change(*both) for both in zip(self.points, found, strict=True) if both[1])

    def change_at(self, place: int) -> str | None:
        """Return in what the subject of a point differs from the one before it, on one host."""
        before: Subject = self.points[place - 1].subject if place else {}
        return in_words(_between(before, self.points[place].subject)) or None

    @property
    def suspect(self) -> tuple[Point, ...]:
        """Suspect points; they count in no figure."""
        return tuple(one for one in self.points if one.suspect)

    @property
    def trusted(self) -> tuple[Point, ...]:
        """All points but the suspect ones."""
        return tuple(one for one in self.points if not one.suspect)

    @property
    def last(self) -> float | None:
        """The newest trusted value; NaN if it was not known."""
        return self.trusted[-1].value if self.trusted else None


# -- reading


@dataclass(frozen=True, slots=True)
class Window:
    """Which timings to read.

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
        starts: How often it was started, within the window; of a case its campaigns.
        complete: Whether that is all, or there may be more.
        state: Of a case what its levels do, in words.
        open: How many changes of level nobody has accepted.
    """

    __test__ = False  # keeps pytest from collecting a class that is named Test…

    test: str
    starts: int
    complete: bool
    first: datetime | None
    last: datetime | None
    state: str = ""
    open: int = 0


def read_tests(reader: Reader, window: Window) -> Iterator[TestSummary]:
    """Yield every test that was started within the window, sorted by name."""
    for test in reader.tests():
        summary = _summary(reader, test, window)
        if summary.starts or window.since is None:
            yield summary


def _summary(reader: Reader, test: str, window: Window) -> TestSummary:
    limit = None if window.limit is None else window.limit + 1
    found = list(reader.starts(test, since=window.since, limit=limit))
    shown = found[: window.limit]
    first, last = (shown[-1], shown[0]) if shown else (None, None)
    return TestSummary(test, len(shown), len(shown) == len(found), first, last)


def read_series(reader: Reader, test: str, entry: str | None, window: Window) -> list[Series]:
    """Return the series of each host of an entry, or of all entries, sorted by name.

    Of all entries those without timings are left out; of a single one the series is empty then.

    Raises:
        InputError: If there is no such test or entry, or the host that is wanted never measured it.
    """
    names = _entries(reader, test) if entry is None else [entry]
    found = [series for name in names for series in _series(reader, test, name, window)]
    if found:
        return found
    if entry is not None and entry not in (known := _entries(reader, test)):
        unknown = f"the test '{quote(test)}' has no entry '{quote(entry)}'"
        raise InputError(unknown + near(entry, known))
    points = (one for name in names for one in reader.timings(test, name))
    refuse_host(test, window.host, (one.host for one in points))
    return [] if entry is None else [Series(test, entry, ())]


def _series(reader: Reader, test: str, entry: str, window: Window) -> list[Series]:
    """Return the series of each host, by name; at most one if they are pooled."""
    newest = list(_newest(reader, test, entry, window))
    whole = window.limit is None or len(newest) < window.limit
    found = Series(test, entry, tuple(newest[::-1]), whole)
    return ([found] if newest else []) if window.pooled else found.by_host


def _newest(reader: Reader, test: str, entry: str, window: Window) -> Iterator[Point]:
    """Yield the timings of a window, newest first; the limit is that of the host that is wanted."""
    limit = window.limit if window.host is None else None
    found = reader.timings(test, entry, since=window.since, limit=limit)
    if window.host is None:
        return found
    return islice((one for one in found if one.host == window.host), window.limit)


def refuse_host(test: str, wanted: str | None, hosts: Iterable[str]) -> None:
    """Refuse a host that never measured a test.

    Raises:
        InputError: If it is wanted and not among them.
    """
    known = sorted({*hosts} - {""}) if wanted is not None else []
    if wanted is not None and wanted not in known:
        unknown = f"nothing of '{quote(test)}' was measured on '{quote(wanted)}'"
        raise InputError(unknown + (near(wanted, known) or "; no host is known of it"))


def _entries(reader: Reader, test: str) -> list[str]:
    entries = list(reader.entries(test))
    if not entries:
        tests = list(reader.tests())
        if test not in tests:
            where = "" if tests else "; nothing was published there yet"
            raise InputError(f"there is no test '{quote(test)}'{near(test, tests) or where}")
    return entries


def near(word: str, known: list[str]) -> str:
    """Return what to write instead; a piece of a name is as good as a slip of the pen."""
    around = [name for name in known if word.lower() in name.lower()] if word else []
    if len(around) == 1:
        return f"; did you mean '{printable(around[0])}'?"
    return printable(hint("", around) if around else hint(word, known))
