"""What is in traces, and in what they differ: tables, JSON documents, CSV and a sentence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from benchyard.analysis.comparison.wording import change, p_value, signed
from benchyard.core.model import Json
from benchyard.core.quantity import amount, percent, plural, shorten
from benchyard.core.table import (
    COUNT,
    LONG,
    NUMBER,
    SECONDS,
    SHARE,
    TEXT,
    Cell,
    Column,
    Field,
    Row,
    Table,
)
from benchyard.core.wording import printable
from benchyard.statistics.comparison import Verdict
from benchyard.traces.critical_path import CriticalPath
from benchyard.traces.difference import Measure, NamedDifference
from benchyard.traces.model import Unit
from benchyard.traces.statistics import (
    CounterStatistics,
    Durations,
    TraceStatistics,
    TrackStatistics,
)

#: Characters of a name in a terminal.
LONGEST_NAME = 60
#: Where the figures of a column are in ``Durations``, if not under its name.
_FIELDS = {"self": "self_time", "min": "least", "max": "most"}
_COLUMNS = ("count", "total", "self", "median", "p90", "p99", "min", "max")


def rows_of(
    statistics: TraceStatistics, *, by_path: bool, most: int | None = None
) -> list[dict[str, Any]]:
    """Return what is known of each name or path, the longest self time first; times in ns.

    Args:
        statistics: Of a trace.
        by_path: Whether equal names at different places have rows of their own.
        most: So many rows at most; a trace may have a million names.
    """
    found: Durations = statistics.by_path if by_path else statistics.by_name
    order = np.argsort(-found.self_time, kind="stable")[:most]
    whole = scale_of(statistics.unit)
    columns: dict[str, list[float]] = {}
    for column, key in columns_of(statistics.unit).items():
        values = getattr(found, _FIELDS.get(column, column))[order]
        columns[key] = (values if whole == 1 or column == "count" else values / whole).tolist()
    rows: list[dict[str, Any]] = []
    for place, number in enumerate(found.which[order].tolist()):
        names = statistics.path(number) if by_path else (str(statistics.names[number]),)
        rows.append({"names": [*names], **{key: column[place] for key, column in columns.items()}})
    return rows


def columns_of(unit: Unit) -> dict[str, str]:
    """Return the columns that mean something for a trace, with their keys in documents.

    How many slices there are, and how long one is, means nothing where stacks were sampled.
    """
    kept = ("total", "self") if unit.sampled else _COLUMNS
    return {one: one if one == "count" else key_of(one, unit) for one in kept}


def key_of(column: str, unit: Unit) -> str:
    """Return the key of durations in documents: times are nanoseconds, bytes are bytes."""
    return column + {"s": "_ns", "B": "_bytes"}.get(unit.name, "")


def scale_of(unit: Unit) -> int:
    """Return how much of a duration is a 1 in documents."""
    return 1 if unit.is_time else unit.scale


def told(value: int, unit: Unit) -> float:
    """Return a duration as documents say it."""
    return value if scale_of(unit) == 1 else value / unit.scale


def self_sum(statistics: TraceStatistics) -> float:
    """Return the self time of all names, as rows say it."""
    return told(int(statistics.by_name.self_time.sum()), statistics.unit)


def in_unit(value: float, unit: Unit) -> str:
    """Write a duration in words."""
    return amount(value / unit.scale, unit.name)


def names_table(
    unit: Unit, rows: Sequence[Mapping[str, Any]], whole: float = 0, longest: int | None = None
) -> Table:
    """Return how long each name or path took.

    Args:
        unit: Of durations.
        rows: As ``rows_of`` makes them.
        whole: Self time of all names, as rows say it; without it, of these rows.
        longest: Characters that people read of a name.
    """
    of_self = key_of("self", unit)
    whole = whole or sum(row[of_self] for row in rows) or 1.0
    fields: list[Field] = [
        ("name", "Name", LONG, lambda row: name_cell(row["names"], longest)),
    ]
    for name, key in columns_of(unit).items():
        fields.append((key, name.capitalize(), NUMBER, partial(_figure, key, unit)))
        if name == "self":
            fields.append(("self_share", "Self %", SHARE, lambda row: row[of_self] / whole))
    return Table.of_things(
        *("names", "Heaviest names", fields, rows),
        notes=["Self time is the time of a slice without the slices inside it."],
        empty="It has no slices.",
    )


def _figure(key: str, unit: Unit, row: Mapping[str, Any]) -> Cell:
    value = row[key]
    text = f"{value:,}" if key == "count" else in_unit(value * scale_of(unit), unit)
    return Cell(value, text)


def name_cell(names: Sequence[str], longest: int | None) -> Cell:
    """Return a path of names, shortened for people."""
    name = " > ".join(names)
    return Cell(name, shorten(printable(name), longest, 20) if longest else None)


def tracks_table(tracks: Iterable[TrackStatistics], span_ns: int, unit: Unit) -> Table:
    """Return how busy tracks were in the span of their trace."""
    fields: Sequence[Field] = (
        ("process", "Process", TEXT, lambda one: one.track.process),
        ("track", "Track", TEXT, lambda one: one.track.thread),
        ("slices", "Slices", COUNT, lambda one: one.slices),
        (key_of("busy", unit), "Busy", NUMBER, lambda one: _told(one.busy, unit)),
        ("busy_share", "Busy %", SHARE, lambda one: one.busy / (span_ns or 1)),
        (key_of("idle", unit), "Idle", NUMBER, lambda one: _told(one.idle, unit)),
    )
    return Table.of_things("tracks", "Tracks", fields, tracks)


def _told(value: int, unit: Unit) -> Cell:
    return Cell(told(value, unit), in_unit(value, unit))


#: A row is of a ``CounterStatistics``.
_COUNTERS: Sequence[Field] = (
    ("process", "Process", TEXT, lambda one: one.process),
    ("counter", "Counter", TEXT, lambda one: one.name),
    ("unit", "Unit", TEXT, lambda one: Cell(one.unit, one.unit or "-")),
    ("min", "Min", NUMBER, lambda one: Cell.measured(one.least, one.unit)),
    ("mean", "Mean", NUMBER, lambda one: Cell.measured(one.mean, one.unit)),
    ("max", "Max", NUMBER, lambda one: Cell.measured(one.most, one.unit)),
    ("last", "Last", NUMBER, lambda one: Cell.measured(one.last, one.unit)),
)


def counters_table(counters: Iterable[CounterStatistics]) -> Table:
    """Return the range of each counter."""
    return Table.of_things("counters", "Counters", _COUNTERS, counters)


#: A row is of a ``CriticalStep``.
_CRITICAL: Sequence[Field] = (
    ("step", "Critical path", TEXT, lambda one: Cell(one.name, f"{one.index} {one.name}")),
    ("resource", "Resource", TEXT, lambda one: one.resource),
    ("waited_s", "Waited", SECONDS, lambda one: one.waited_s),
    ("duration_s", "Took", SECONDS, lambda one: one.duration_s),
    ("share", "Share", SHARE, lambda one: one.share),
    ("outcome", "Outcome", TEXT, lambda one: one.outcome.value),
)


def critical_table(path: CriticalPath) -> Table:
    """Return the chain of steps that determined how long a run took."""
    return Table.of_things("critical_path", "Critical path", _CRITICAL, path.steps)


def statistics_document(
    statistics: TraceStatistics,
    rows: Sequence[Mapping[str, Any]],
    critical: CriticalPath | None = None,
) -> dict[str, Json]:
    """Return all figures as JSON; times in nanoseconds."""
    first, last = statistics.span
    unit = statistics.unit
    document: dict[str, Json] = {
        "unit": "ns" if unit.is_time else unit.name,
        key_of("span", unit): told(last - first, unit),
        "rows": [dict(row) for row in rows],
        "tracks": [*tracks_table(statistics.tracks, last - first, unit).records()],
        "counters": [
            {"name": one.name, "values": one.values, **row}
            for one, row in zip(
                statistics.counters, counters_table(statistics.counters).records(), strict=True
            )
        ],
        "losses": [asdict(one) for one in statistics.losses],
    }
    if critical:
        document["critical_path"] = [*critical_table(critical).records()]
    return document


_WORDS = {
    Verdict.NO_CHANGE_SHOWN: "no difference shown",
    Verdict.CANNOT_TELL: "cannot tell",
}
_MARKS = {Verdict.REGRESSION: "bad", Verdict.IMPROVEMENT: "good"}
#: What documents have of a difference, and tables for people do not.
_IN_DOCUMENTS = ("names", "unit", "baseline_n", "candidate_n", "difference_low", "difference_high")
#: What the CSV has not.
_NOT_IN_CSV = (*_IN_DOCUMENTS, "p_value", "interval")


def verdict_words(one: NamedDifference) -> str:
    """Return the verdict as a reader would say it, in the words of ``compare``."""
    verdict = one.judgement.verdict
    if verdict in _WORDS:
        significant = one.judgement.p_value <= one.difference.level and not one.difference.matters
        if verdict is Verdict.NO_CHANGE_SHOWN and significant and one.difference.shift:
            return f"differs by less than {percent(one.difference.threshold, 4)}"
        return _WORDS[verdict]
    more = (one.difference.shift or 0) > 0
    if one.unit == "s":
        return "slower" if more else "faster"
    return "more" if more else "less"


def differences_table(found: Sequence[NamedDifference], longest: int | None = None) -> Table:
    """Return differences; times in seconds. Without a head are columns for programs alone.

    Args:
        found: What differs.
        longest: Characters that people read of a name.
    """
    level = f"{percent(1 - found[0].difference.level, 4)} interval" if found else "Interval"
    columns = [
        Column("name", "Name", LONG),
        Column("measure", "Of"),
        Column("baseline_median", "Baseline", NUMBER),
        Column("candidate_median", "Candidate", NUMBER),
        Column("difference", "Difference", NUMBER),
        Column("ratio", "Change", NUMBER),
        Column("interval", level, NUMBER),
        *(Column("ratio_low"), Column("ratio_high"), Column("p_value")),
        Column("adjusted_p_value", "P", NUMBER),
        Column("verdict", "Verdict"),
        *map(Column, _IN_DOCUMENTS),
    ]
    rows = [_difference_row(one, longest) for one in found]
    return Table("difference", "Differences", columns, rows)


def _difference_row(one: NamedDifference, longest: int | None) -> Row:
    what, unit, verdict = one.difference, one.unit, one.judgement.verdict
    low, high = what.ratio_interval.low, what.ratio_interval.high
    interval = "-" if low is None or high is None else f"{change(low)} … {change(high)}"
    return [
        name_cell(one.names, longest),
        one.measure.value,
        Cell.measured(what.baseline_median, unit),
        Cell.measured(what.candidate_median, unit),
        Cell(what.shift, signed(what.shift, unit)),
        Cell(what.ratio, change(what.ratio)),
        Cell([low, high], interval),
        *(low, high, what.p_value),
        Cell(one.judgement.p_value, p_value(one.judgement.p_value)),
        Cell(verdict.value, verdict_words(one), mark=_MARKS.get(verdict, "")),
        *(list(one.names), unit, what.baseline_n, what.candidate_n),
        *(what.shift_interval.low, what.shift_interval.high),
    ]


def differences_document(found: Sequence[NamedDifference]) -> list[dict[str, Json]]:
    """Return all differences as JSON; times in seconds."""
    return differences_table(found).without(("name", "interval")).records()


def differences_csv(found: Sequence[NamedDifference]) -> str:
    """Return a line for each difference; times in seconds."""
    return differences_table(found).without(_NOT_IN_CSV).csv()


def differences_summary(found: Sequence[NamedDifference]) -> str:
    """Say in a sentence what is shown, of self times."""
    of_self = [one for one in found if one.measure is Measure.SELF]
    words = [verdict_words(one) for one in of_self if one.is_shown]
    more, less = (
        ("slower", "faster") if all(one.unit == "s" for one in of_self) else ("more", "less")
    )
    level = percent(found[0].difference.level, 4) if found else "1 %"
    return (
        f"{plural(len(of_self), 'name')}: {words.count(more)} {more}, "
        f"{words.count(less)} {less} by self time; {level} is the chance of even one false "
        "call among all names of a measure"
    )
