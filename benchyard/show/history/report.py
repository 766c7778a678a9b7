"""A history in words and figures for the terminal, and as one JSON document.

The document has the format ``benchyard-history``:

sink: where it was read, null for the results of cases. since, limit: what was looked at, null for
  all.
host, pooled: the only host that was looked at, null for every one; whether these share a series.
tests: cases, or without a CASE what a sink has, each with test (its title), starts (how many; of a
  case its campaigns), complete (false: there are older ones), first and last (start), state (what
  its levels do, in words), open (how many changes nobody has accepted).
entries: with a CASE, each with
  test, entry, step: title of the case, name and id of the step; the id is null for a sink.
  metric, unit: what its values are.
  hosts: where it was measured; one, unless they were pooled.
  n: points, each a campaign, or a published run. n_suspect: those of them that count in no figure.
  last: the newest that counts.
  changes: where what was measured became another: start, host, text ("DuckDB 1.2.2 and 2.0.0"), and
    differences, each with what, before and after.
  levels: oldest first: since, last, campaigns (or published runs), value (their median), low and
    high (its 95 % interval); of a sink always one.
  points: start, value, low and high (95 % interval), runs, host, subject (its digest), commit,
    versions, and suspect (why), oldest first.
changes: the changes of level in the newest campaigns, as in benchyard check --json.

Moments are ISO 8601, UTC. What is no number (NaN, infinite, unknown) is null.

Versions of the format:
1: the first.
2: hosts, subjects and suspect timings; an entry is there once for each host.
3: campaigns of cases, with levels and changes of level; timings are points, wall_time_s is value.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise

from benchyard.analysis.comparison.moves import SteadyLevel
from benchyard.analysis.comparison.samples import DURATION
from benchyard.analysis.comparison.states import ChangeItem
from benchyard.core.clock import iso_utc
from benchyard.core.model import Json, JsonObject
from benchyard.core.quantity import UNKNOWN, amount, plural, shorten
from benchyard.core.table import Table, text_table
from benchyard.core.wording import printable
from benchyard.publish.sinks.contract import Point
from benchyard.results.subject import commit_of
from benchyard.show.axes import Axis
from benchyard.show.history.series import Change, Series, TestSummary, Window
from benchyard.statistics import median

#: Characters of a sparkline.
_WIDTH = 30
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
    """Return the table of tests, or of cases with the state of each."""
    several = [f"{'' if one.complete else '≥ '}{one.starts:,}" for one in tests]
    rows = [
        (printable(one.test), many, _second(one.last) if one.last else UNKNOWN, one.state)
        for one, many in zip(tests, several, strict=True)
    ]
    of_cases = any(one.state for one in tests)
    name, many = ("CASE", "CAMPAIGNS") if of_cases else ("TEST", "RUNS")
    return text_table((name, many, "LAST", *["STATE"] * of_cases), rows, (many,))


def entries_table(found: Sequence[Series], *, unicode: bool = True) -> Table:
    """Return the table of entries; columns that say nothing are left out.

    Args:
        unicode: Whether sparklines may be of blocks.
    """
    rows = [
        (
            short_name(series.test),
            short_name(series.entry),
            series.metric,
            host_names(series),
            f"{len(series.points):,}",
            str(len(series.suspect) or ""),
            amount(series.last, series.unit),
            *_level(series),
            _line(series, unicode=unicode),
        )
        for series in found
    ]
    figures = ("N", "SUSPECT", "LAST", "LEVEL", "95 % INTERVAL", "CHANGE")
    entry = "STEP" if any(series.of_campaigns for series in found) else "ENTRY"
    heads = ("CASE", entry, "METRIC", "HOST", *figures, "SINCE", "HISTORY")
    return text_table(heads, rows, figures).without(_unsaid(found))


def _level(series: Series) -> tuple[str, str, str, str]:
    """Return the present level, its interval, its change, and when it began."""
    if not (levels := list(series.levels.steps())):
        return UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
    moves = series.levels.moves
    value, interval = _value(levels[-1], series.unit)
    return value, interval, moves[-1].size if moves else UNKNOWN, _second(levels[-1].since)


def _value(one: Point | SteadyLevel, unit: str | None) -> tuple[str, str]:
    ends = f"{amount(one.low, unit)} … {amount(one.high, unit)}"
    return amount(one.value, unit), UNKNOWN if one.low is None else ends


def _unsaid(found: Sequence[Series]) -> list[str]:
    """Return the heads of columns that say nothing of some series."""
    of_campaigns = any(series.of_campaigns for series in found)
    said = {
        "CASE": len({series.test for series in found}) > 1,
        "METRIC": {series.metric for series in found} != {DURATION},
        "HOST": several_hosts(found),
        "SUSPECT": any(series.suspect for series in found),
        "CHANGE": of_campaigns,
        "RUNS": of_campaigns,
    }
    return [head for head, says in said.items() if not says]


def timings_table(series: Series, *, newest_first: bool) -> Table:
    """Return the table of an entry's points; columns that say nothing are left out."""
    points = series.points[::-1] if newest_first else series.points
    notes = _notes(series)
    rows = [
        (
            started,
            printable(one.host) or _UNKNOWN,
            str(one.runs),
            *_value(one, series.unit),
            "; ".join(notes.get(id(one), ())),
        )
        for one, started in zip(points, _moments(points), strict=True)
    ]
    value = "WALL TIME" if series.metric == DURATION else printable(series.metric)
    figures = ("RUNS", value, "95 % INTERVAL")
    unsaid = [*_unsaid([series]), *["NOTE"] * (not notes)]
    unsaid += [] if series.of_campaigns else ["95 % INTERVAL"]
    return text_table(("STARTED", "HOST", *figures, "NOTE"), rows, figures).without(unsaid)


def _notes(series: Series) -> dict[int, list[str]]:
    """Return what is said of some points, by their ids."""
    found: dict[int, list[str]] = {}
    for one in series.changes:
        found.setdefault(id(one.timing), []).append(f"changed: {printable(one.text)}")
    moves = {move.since: f"new level: {move.size}" for move in series.levels.moves}
    for one in series.points:
        suspect = f"suspect: {printable(one.suspect)}" if one.suspect else ""
        told = [text for text in (moves.get(one.last_began), suspect) if text]
        if told:
            found.setdefault(id(one), []).extend(told)
    return found


def _moments(timings: Sequence[Point]) -> list[str]:
    """Write starts to the second, unless two of them would look the same."""
    short = [_second(one.began) for one in timings]
    return short if len(set(short)) == len(short) else [iso_utc(one.began) for one in timings]


def _second(moment: datetime) -> str:
    return iso_utc(moment.replace(microsecond=0))


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
    told = {
        (one.timing.began, f" on {printable(one.timing.host)}" * several, printable(one.text))
        for series in found
        for one in series.changes
    }
    lines = [f"  {_second(at)}{where}: {text}" for at, where, text in sorted(told)]
    if left := lines[:-_CHANGES]:
        lines[: len(left)] = [f"  … and {plural(len(left), 'time')} before"]
    return ["what was measured changed:", *lines] if lines else []


def told_levels(found: Sequence[Series]) -> list[str]:
    """Say since when the levels are, newest change first; without a change of the longest."""
    known = [(one, one.levels) for one in found if one.levels.moving and one.levels.levels]
    moved = [(move.since, one, str(move)) for one, levels in known for move in levels.moves[-1:]]
    if known and not moved:
        return [str(max((levels for _, levels in known), key=lambda one: len(one.levels)))]
    moved.sort(key=lambda each: each[0], reverse=True)
    return [f"{label(one, found)}: {text}" for _, one, text in moved[:_CHANGES]]


def label(series: Series, found: Sequence[Series]) -> str:
    """Return what tells a series from the others, for people."""
    several = len({one.test for one in found}) > 1, len({one.metric for one in found}) > 1
    parts = [series.test] * several[0] + [series.entry] + [series.metric] * several[1]
    return printable(" ".join(parts)) + f" on {host_names(series)}" * several_hosts(found)


def _line(series: Series, *, unicode: bool) -> str:
    """Return a sparkline of a series; what is suspect is a gap."""
    values = [math.nan if one.suspect else one.value for one in series.points]
    return sparkline(values, _WIDTH, BLOCKS if unicode else ASCII)


def cut(found: Sequence[Series], window: Window) -> list[str]:
    """Return a note if the limit may have cut something off."""
    note = f"only the newest {window.limit or 0:,} were looked at; --limit 0 takes all"
    return [note] if any(not series.whole for series in found) else []


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
    low, high = min(medians), max(medians)
    missing = max(LEAST_RANGE * abs(median(medians)) - (high - low), 0.0) / 2
    scale = Axis(low - missing, high + missing, 0, len(marks))
    levels = iter([min(int(scale(value)), len(marks) - 1) for value in medians])
    return "".join(marks[next(levels)] if cell else GAP for cell in cells)


# -- the document


_ABOUT = ("test", "entry", "step", "metric", "unit")
FORMAT = "benchyard-history"
VERSION = 3


def document(
    sink: str | None,
    window: Window,
    tests: Iterable[TestSummary],
    found: Iterable[Series],
    items: Iterable[ChangeItem],
) -> JsonObject:
    """Return the document of tests, of entries, and of what changed."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "sink": sink,
        **asdict(window),
        "since": iso_utc(window.since) if window.since else None,
        "tests": [_test(test) for test in tests],
        "entries": [_entry(series) for series in found],
        "changes": [item.to_json() for item in items],
    }


def _test(summary: TestSummary) -> JsonObject:
    moments = {"first": summary.first, "last": summary.last}
    return asdict(summary) | {name: at and iso_utc(at) for name, at in moments.items()}


def _entry(series: Series) -> JsonObject:
    return {
        **{name: getattr(series, name) or None for name in _ABOUT},
        "hosts": [host or None for host in series.hosts],
        "n": len(series.points),
        "n_suspect": len(series.suspect),
        "last": _number(series.last),
        "changes": [_change(one) for one in series.changes],
        "levels": [_level_document(one) for one in series.levels.steps()],
        "points": [_point(one) for one in series.points],
    }


def _level_document(level: SteadyLevel) -> JsonObject:
    ends = {"since": iso_utc(level.since), "last": iso_utc(level.last)}
    return level._asdict() | ends


def _change(change: Change) -> JsonObject:
    return {
        "start": iso_utc(change.timing.began),
        "host": change.timing.host or None,
        "text": change.text,
        "differences": [asdict(one) for one in change.differences],
    }


def _point(one: Point) -> JsonObject:
    return {
        "start": iso_utc(one.began),
        "value": _number(one.value),
        **{name: getattr(one, name) for name in ("low", "high", "runs")},
        "host": one.host or None,
        "subject": one.subject.get("digest"),
        "commit": commit_of(one.subject),
        "versions": dict[str, Json](one.versions),
        "suspect": one.suspect or None,
    }


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
