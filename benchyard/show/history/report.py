"""A history in words and figures for the terminal, and as one JSON document.

The document has the format ``benchyard-history``:

sink: where it was read. since, limit: what was looked at, null for all.
host, all_hosts: the only host that was looked at, null for every one; whether these share a series.
tests: without a TEST, each with test, starts (how many), complete (false: there are older ones),
  first and last (start).
test, entries: with a TEST, each entry with
  entry: its name. hosts: where it was measured; one, unless they were pooled.
  n: timings. n_suspect: those of them that count in no figure.
  last, median, median_before (of all but the last): seconds.
  change: the last by the median before it; 1.02 is 2 % slower.
  changes: where what was measured became another: start, host, text ("DuckDB 1.2.2 and 2.0.0"), and
    differences, each with what, before and after.
  timings: start, wall_time_s, host, subject (its digest), commit, versions, and suspect (why), in
    the order that was asked for.

Moments are ISO 8601, UTC. What is no number (NaN, infinite, unknown) is null.

Versions of the format:
1: the first.
2: hosts, subjects and suspect timings; an entry is there once for each host.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise

from benchyard.analysis.comparison.wording import change
from benchyard.core.clock import iso_utc
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import duration, plural, shorten
from benchyard.core.table import Table, text_table
from benchyard.core.wording import printable
from benchyard.publish.sinks.contract import Point
from benchyard.results.subject import commit_of
from benchyard.show.axes import Axis
from benchyard.show.history.series import Change, Series, TestSummary, Window, ratio
from benchyard.statistics import median

#: Characters of a sparkline in a table, and of that of a single entry.
_WIDTH, _WIDE = 30, 72
#: Longest name in a table; the middle of a longer one is left out.
_NAME = 60
#: Changes of the subject that are listed below a table; the newest.
_CHANGES = 10
_UNKNOWN = "unknown"
BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*#@"
#: Where nothing was measured.
GAP = " "
#: The line's height is at least this share of the median: what moves by less looks flat.
LEAST_RANGE = 0.1


def tests_table(tests: Sequence[TestSummary]) -> Table:
    """Return the table of tests."""
    rows = [
        (
            printable(one.test),
            f"{'' if one.complete else '≥ '}{one.starts:,}",
            _second(one.last) if one.last else "-",
        )
        for one in tests
    ]
    return text_table(("TEST", "RUNS", "LAST"), rows, ("RUNS",))


def entries_table(found: Sequence[Series], *, unicode: bool = True) -> Table:
    """Return the table of a test's entries; columns that say nothing are left out.

    Args:
        unicode: Whether sparklines may be of blocks.
    """
    rows = [
        (
            short_name(series.entry),
            host_names(series),
            f"{len(series.points):,}",
            str(len(series.suspect) or ""),
            duration(series.last),
            duration(series.median_before),
            change(series.change),
            _line(series, _WIDTH, unicode=unicode),
        )
        for series in found
    ]
    figures = ("N", "SUSPECT", "LAST", "MEDIAN BEFORE", "CHANGE")
    unsaid = [] if several_hosts(found) else ["HOST"]
    unsaid += [] if any(series.suspect for series in found) else ["SUSPECT"]
    return text_table(("ENTRY", "HOST", *figures, "HISTORY"), rows, figures).without(unsaid)


def timings_table(series: Series, *, newest_first: bool) -> Table:
    """Return the table of an entry's timings; columns that say nothing are left out."""
    timings = series.points[::-1] if newest_first else series.points
    changed = {id(one.timing): f"changed: {printable(one.text)}" for one in series.changes}
    rows = [
        (
            started,
            printable(one.host) or _UNKNOWN,
            duration(one.value),
            change(ratio(one.value, series.median)),
            "; ".join(filter(None, (changed.get(id(one)), _suspicion(one)))),
        )
        for one, started in zip(timings, _moments(timings), strict=True)
    ]
    figures = ("WALL TIME", "AGAINST MEDIAN")
    unsaid = ["HOST"] if len(series.hosts) < 2 else []
    unsaid += [] if changed or series.suspect else ["NOTE"]
    return text_table(("STARTED", "HOST", *figures, "NOTE"), rows, figures).without(unsaid)


def _moments(timings: Sequence[Point]) -> list[str]:
    """Write starts to the second, unless two of them would look the same."""
    short = [_second(one.began) for one in timings]
    return short if len(set(short)) == len(short) else [iso_utc(one.began) for one in timings]


def _second(moment: datetime) -> str:
    return iso_utc(moment.replace(microsecond=0))


def _suspicion(timing: Point) -> str:
    return f"suspect: {printable(timing.suspect)}" if timing.suspect else ""


def host_names(series: Series) -> str:
    """Return where a series was measured."""
    return ", ".join(printable(host) or _UNKNOWN for host in series.hosts)


def several_hosts(found: Sequence[Series]) -> bool:
    """Tell whether the series are of more than one host."""
    return len({host for series in found for host in series.hosts}) > 1


def on(found: Sequence[Series]) -> str:
    """Return ``  on HOST`` for a heading if all series are of one known host."""
    hosts = {host_names(series) for series in found if series.points}
    host = hosts.pop() if len(hosts) == 1 else _UNKNOWN
    return "" if host == _UNKNOWN else f"  on {host}"


def changes(found: Sequence[Series]) -> list[str]:
    """Return a line for each change of the subject; of many, the newest."""
    several = several_hosts(found)
    lines: dict[str, datetime] = {}
    for one in (one for series in found for one in series.changes):
        where = f" on {printable(one.timing.host)}" if several else ""
        at = one.timing.began
        lines[f"  {_second(at)}{where}: {printable(one.text)}"] = at
    ordered = sorted(lines, key=lambda text: lines[text])
    if not ordered:
        return []
    left = len(ordered) - _CHANGES
    more = [f"  … and {plural(left, 'time')} before"] if left > 0 else []
    return ["what was measured changed:", *more, *ordered[-_CHANGES:]]


def told_levels(found: Sequence[Series]) -> list[str]:
    """Say since when the levels are, newest change first; without a change of the longest."""
    known = [(one, one.levels) for one in found]
    moved = [(move.since, one, str(move)) for one, levels in known for move in levels.moves[-1:]]
    if known and not moved:
        return [str(max((levels for _, levels in known), key=lambda one: len(one.levels)))]
    where = several_hosts(found)
    moved.sort(key=lambda each: each[0], reverse=True)
    return [
        f"{printable(one.entry)}{f' on {host_names(one)}' * where}: {text}"
        for _, one, text in moved[:_CHANGES]
    ]


def summary(series: Series, *, unicode: bool = True) -> list[str]:
    """Return what stands below the timings of one entry: a sparkline, and a sentence.

    Args:
        unicode: Whether the sparkline may be of blocks.
    """
    if not series.points:
        return ["no timings in this time"]
    suspect = f" ({len(series.suspect)} suspect, not counted)" if series.suspect else ""
    parts = [plural(len(series.points), "timing") + suspect]
    if series.finite:
        least, most = min(series.finite), max(series.finite)
        parts.append(f"median {duration(series.median)} ({duration(least)} … {duration(most)})")
    if series.change is not None:
        parts.append(f"the last {change(series.change)} against the median before it")
    if series.changes:
        parts.append(f"what was measured changed {plural(len(series.changes), 'time')}")
    return [_line(series, _WIDE, unicode=unicode), ", ".join(parts)]


def _line(series: Series, width: int, *, unicode: bool) -> str:
    """Return a sparkline of a series; what is suspect is a gap."""
    values = [math.nan if one.suspect else one.value for one in series.points]
    return sparkline(values, width, BLOCKS if unicode else ASCII)


def cut(found: Sequence[Series], window: Window) -> str | None:
    """Return a note if the limit may have cut something off."""
    if window.limit is None or all(series.whole for series in found):
        return None
    return f"only the newest {window.limit:,} were looked at; --limit 0 takes all"


def short_name(name: str) -> str:
    """Return a name shortened for a table and escaped for the terminal."""
    return shorten(printable(name), _NAME, 2)


def sparkline(values: Sequence[float], width: int, marks: str = BLOCKS) -> str:
    """Draw values, oldest first, in at most ``width`` characters.

    Where there are more values than characters, each character is the median of those that it
    stands for. The lowest and the highest mark are the least and the largest value, but never
    closer together than ``LEAST_RANGE`` of the median: noise shall not look like mountains.

    Args:
        values: Shape (n,); what is not finite is a gap.
        marks: From low to high.
    """
    count = min(len(values), max(width, 1))
    edges = [len(values) * place // max(count, 1) for place in range(count + 1)]
    cells = [list(filter(math.isfinite, values[start:end])) for start, end in pairwise(edges)]
    # Halved, since the span of the largest values is no number.
    medians = [median(cell) / 2 for cell in cells if cell]
    if not medians:
        return GAP * count
    low, high = around(medians, median(medians))
    scale = Axis(low, high, 0, len(marks))
    levels = iter([min(int(scale(value)), len(marks) - 1) for value in medians])
    return "".join(marks[next(levels)] if cell else GAP for cell in cells)


def around(values: Sequence[float], usual: float) -> tuple[float, float]:
    """Return the ends of values, never closer than ``LEAST_RANGE`` of what is usual."""
    low, high = min(values), max(values)
    missing = max(LEAST_RANGE * abs(usual) - (high - low), 0.0)
    return low - missing / 2, high + missing / 2


# -- the document


FORMAT = "benchyard-history"
VERSION = 2


def tests_document(sink: str, window: Window, tests: Iterable[TestSummary]) -> JsonObject:
    """Return the document of a list of tests."""
    return {**_head(sink, window), "tests": [_test(test) for test in tests]}


def entries_document(
    sink: str, window: Window, test: str, found: Iterable[Series], *, newest_first: bool
) -> JsonObject:
    """Return the document of the entries of one test."""
    entries: list[Json] = [_entry(series, newest_first=newest_first) for series in found]
    return {**_head(sink, window), "test": test, "entries": entries}


def _head(sink: str, window: Window) -> JsonObject:
    since = iso_utc(window.since) if window.since else None
    return {
        "format": FORMAT,
        "version": VERSION,
        "sink": sink,
        "since": since,
        "limit": window.limit,
        "host": window.host,
        "all_hosts": window.pooled,
    }


def _test(summary: TestSummary) -> JsonObject:
    moments = {"first": summary.first, "last": summary.last}
    return asdict(summary) | {name: at and iso_utc(at) for name, at in moments.items()}


def _entry(series: Series, *, newest_first: bool) -> JsonObject:
    timings = series.points[::-1] if newest_first else series.points
    return {
        "entry": series.entry,
        "hosts": [host or None for host in series.hosts],
        "n": len(series.points),
        "n_suspect": len(series.suspect),
        "last": _number(series.last),
        "median": _number(series.median),
        "median_before": _number(series.median_before),
        "change": series.change,
        "changes": [_change(one) for one in series.changes],
        "timings": _timings(timings),
    }


def _change(change: Change) -> JsonObject:
    return {
        "start": iso_utc(change.timing.began),
        "host": change.timing.host or None,
        "text": change.text,
        "differences": [asdict(one) for one in change.differences],
    }


def _timings(timings: Sequence[Point]) -> list[Json]:
    return [
        {
            "start": iso_utc(one.began),
            "wall_time_s": _number(one.value),
            "host": one.host or None,
            "subject": one.subject.get("digest"),
            "commit": commit_of(one.subject),
            "versions": dict[str, Json](one.versions),
            "suspect": one.suspect or None,
        }
        for one in timings
    ]


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
