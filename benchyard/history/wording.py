"""A history in words and figures, for the terminal."""

from collections.abc import Sequence

from benchyard.case.problems import printable
from benchyard.comparison.wording import change
from benchyard.history.dates import iso
from benchyard.history.reading import TestSummary, Window
from benchyard.history.series import Series, ratio, seconds
from benchyard.history.sparkline import BLOCKS, sparkline
from benchyard.statistics.figures import plural

#: Columns with figures: they are aligned to the right.
ENTRY_FIGURES = (1, 2, 3, 4)
TEST_FIGURES = (1,)
TIMING_FIGURES = (1, 2)
#: Characters of a sparkline in a table.
_WIDTH = 30
#: Longest name in a table; the middle of a longer one is left out.
_NAME = 60


def tests_table(tests: Sequence[TestSummary]) -> list[tuple[str, ...]]:
    """Return the table of tests, header first."""
    rows = [
        (
            printable(one.test),
            f"{'' if one.complete else '≥ '}{one.starts:,}",
            iso(one.last) if one.last else "-",
        )
        for one in tests
    ]
    return [("TEST", "RUNS", "LAST"), *rows]


def entries_table(found: Sequence[Series], marks: str = BLOCKS) -> list[tuple[str, ...]]:
    """Return the table of a test's entries, header first.

    Args:
        marks: What sparklines are drawn with.
    """
    rows = [
        (
            shortened(series.entry),
            f"{len(series.timings):,}",
            seconds(series.last),
            seconds(series.median_before),
            change(series.change),
            line(series, _WIDTH, marks),
        )
        for series in found
    ]
    return [("ENTRY", "N", "LAST", "MEDIAN BEFORE", "CHANGE", "HISTORY"), *rows]


def timings_table(series: Series, *, newest_first: bool) -> list[tuple[str, ...]]:
    """Return the table of an entry's timings, header first."""
    timings = series.timings[::-1] if newest_first else series.timings
    rows = [
        (
            iso(one.started_at),
            seconds(one.wall_time),
            change(ratio(one.wall_time, series.median)),
        )
        for one in timings
    ]
    return [("STARTED", "WALL TIME", "AGAINST MEDIAN"), *rows]


def summary(series: Series) -> str:
    """Return what is said of one entry below its timings."""
    if not series.timings:
        return "no timings in this time"
    parts = [plural(len(series.timings), "timing")]
    if series.finite:
        least, most = min(series.finite), max(series.finite)
        parts.append(f"median {seconds(series.median)} ({seconds(least)} … {seconds(most)})")
    if series.change is not None:
        parts.append(f"the last {change(series.change)} against the median before it")
    return ", ".join(parts)


def line(series: Series, width: int, marks: str = BLOCKS) -> str:
    """Return a sparkline of a series."""
    return sparkline([one.wall_time for one in series.timings], width, marks)


def cut(found: Sequence[Series], window: Window) -> str | None:
    """Say that there may be more than is shown; None if there is not."""
    if window.limit is None or all(len(series.timings) < window.limit for series in found):
        return None
    return f"only the newest {window.limit:,} were looked at; --limit 0 takes all"


def shortened(name: str) -> str:
    """Return a name that is not too long for a table, and does nothing to a terminal."""
    safe = printable(name)
    if len(safe) <= _NAME:
        return safe
    half = (_NAME - 1) // 2
    return f"{safe[:half]}…{safe[-half:]}"
