"""A history as one JSON document, format ``benchyard-history``.

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

from benchyard.core.clock import iso_utc
from benchyard.core.model import Json, JsonObject
from benchyard.publish.sinks.contract import Timing
from benchyard.results.subject import commit_of
from benchyard.show.history.series import Change, Series, TestSummary, Window

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
    return {
        "test": summary.test,
        "starts": summary.starts,
        "complete": summary.complete,
        "first": iso_utc(summary.first) if summary.first else None,
        "last": iso_utc(summary.last) if summary.last else None,
    }


def _entry(series: Series, *, newest_first: bool) -> JsonObject:
    timings = series.timings[::-1] if newest_first else series.timings
    return {
        "entry": series.entry,
        "hosts": [host or None for host in series.hosts],
        "n": len(series.timings),
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
        "start": iso_utc(change.timing.started_at),
        "host": change.timing.host or None,
        "text": change.text,
        "differences": [
            {"what": one.what, "before": one.before, "after": one.after}
            for one in change.differences
        ],
    }


def _timings(timings: Sequence[Timing]) -> list[Json]:
    return [
        {
            "start": iso_utc(one.started_at),
            "wall_time_s": _number(one.wall_time),
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
