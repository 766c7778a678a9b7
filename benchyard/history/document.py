"""A history as one JSON document, format ``benchyard-history``.

sink: where it was read. since, limit: what was looked at, null for all.
tests: without a TEST, each with test, starts (how many), complete (false: there are older ones),
  first and last (start).
test, entries: with a TEST, each entry with
  entry: its name. n: timings. last, median, median_before (of all but the last): seconds.
  change: the last by the median before it; 1.02 is 2 % slower.
  timings: start and wall_time_s, in the order that was asked for.

Moments are ISO 8601, UTC. What is no number (NaN, infinite, unknown) is null.

Versions of the format:
1: the first.
"""

import math
from collections.abc import Iterable, Sequence

from benchyard.history.dates import iso
from benchyard.history.reading import TestSummary, Window
from benchyard.history.series import Series
from benchyard.model import Json, JsonObject
from benchyard.sinks import Timing

FORMAT = "benchyard-history"
VERSION = 1


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
    since = iso(window.since) if window.since else None
    return {
        "format": FORMAT,
        "version": VERSION,
        "sink": sink,
        "since": since,
        "limit": window.limit,
    }


def _test(summary: TestSummary) -> JsonObject:
    return {
        "test": summary.test,
        "starts": summary.starts,
        "complete": summary.complete,
        "first": iso(summary.first) if summary.first else None,
        "last": iso(summary.last) if summary.last else None,
    }


def _entry(series: Series, *, newest_first: bool) -> JsonObject:
    timings = series.timings[::-1] if newest_first else series.timings
    return {
        "entry": series.entry,
        "n": len(series.timings),
        "last": _number(series.last),
        "median": _number(series.median),
        "median_before": _number(series.median_before),
        "change": series.change,
        "timings": _timings(timings),
    }


def _timings(timings: Sequence[Timing]) -> list[Json]:
    return [
        {"start": iso(one.started_at), "wall_time_s": _number(one.wall_time)} for one in timings
    ]


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
