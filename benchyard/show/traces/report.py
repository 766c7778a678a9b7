"""What is in traces, and in what they differ, as tables, JSON documents and CSV."""

from collections.abc import Iterable, Mapping, Sequence

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
    Cell,
    Column,
    Row,
    Table,
    csv_text,
)
from benchyard.core.wording import printable
from benchyard.statistics.comparison import Verdict
from benchyard.traces.critical_path import CriticalPath
from benchyard.traces.difference import Measure, NamedDifference, Names
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
_WORDS = {
    Verdict.NO_CHANGE_SHOWN: "no difference shown",
    Verdict.CANNOT_TELL: "cannot tell",
}
_MARKS = {Verdict.REGRESSION: "bad", Verdict.IMPROVEMENT: "good"}
#: What the CSV has of a difference, beside its names.
_IN_CSV = (
    *("measure", "baseline_median", "candidate_median", "difference"),
    *("ratio", "ratio_low", "ratio_high", "adjusted_p_value", "verdict"),
)


def joined(names: Names) -> str:
    """Write a path of names."""
    return " > ".join(names)


def rows_of(
    statistics: TraceStatistics, *, by_path: bool, most: int | None = None
) -> list[dict[str, Json]]:
    """Return what is known of each name or path, the longest self time first; times in ns.

    Args:
        statistics: Of a trace.
        by_path: Whether equal names at different places have rows of their own.
        most: So many rows at most; a trace may have a million names.
    """
    found: Durations = statistics.by_path if by_path else statistics.by_name
    order = np.argsort(-found.self_time, kind="stable")[:most]
    whole = scale_of(statistics.unit)
    columns: dict[str, list[Json]] = {}
    for column, key in columns_of(statistics.unit).items():
        values = getattr(found, _FIELDS.get(column, column))[order]
        columns[key] = (values if whole == 1 or column == "count" else values / whole).tolist()
    rows: list[dict[str, Json]] = []
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


def _number(value: Json) -> float:
    return value if isinstance(value, (int, float)) else 0.0


def names_table(
    unit: Unit, rows: Sequence[Mapping[str, Json]], whole: float = 0, longest: int | None = None
) -> Table:
    """Return how long each name or path took.

    Args:
        unit: Of durations.
        rows: As ``rows_of`` makes them.
        whole: Self time of all names, as rows say it; without it, of these rows.
        longest: Characters that people read of a name.
    """
    keys = columns_of(unit)
    figures = [Column(key, name.capitalize(), NUMBER) for name, key in keys.items()]
    after = list(keys).index("self") + 1
    figures.insert(after, Column("self_share", "Self %", SHARE))
    whole = whole or sum(_number(row[keys["self"]]) for row in rows) or 1.0
    cells: list[list[Cell]] = []
    for row in rows:
        listed = [_figure(row[key], key, unit) for key in keys.values()]
        listed.insert(after, Cell(_number(row[keys["self"]]) / whole))
        cells.append([_name_cell(_names(row), longest), *listed])
    return Table(
        *("names", "Heaviest names", [Column("name", "Name", LONG), *figures], cells),
        notes=["Self time is the time of a slice without the slices inside it."],
        empty="It has no slices.",
    )


def _figure(value: Json, key: str, unit: Unit) -> Cell:
    number = _number(value)
    return Cell(value, f"{number:,}" if key == "count" else in_unit(number * scale_of(unit), unit))


def _names(row: Mapping[str, Json]) -> Names:
    names = row["names"]
    return tuple(map(str, names)) if isinstance(names, list) else ()


def _name_cell(names: Names, longest: int | None) -> Cell:
    name = joined(names)
    return Cell(name, shorten(printable(name), longest, 20) if longest else None)


def tracks_table(tracks: Iterable[TrackStatistics], span_ns: int, unit: Unit) -> Table:
    """Return how busy tracks were in the span of their trace."""
    columns = (
        Column("process", "Process"),
        Column("track", "Track"),
        Column("slices", "Slices", COUNT),
        Column("busy_ns", "Busy", NUMBER),
        Column("busy_share", "Busy %", SHARE),
        Column("idle_ns", "Idle", NUMBER),
    )
    rows = [
        (
            track.track.process,
            track.track.thread,
            track.slices,
            Cell(told(track.busy, unit), in_unit(track.busy, unit)),
            track.busy / (span_ns or 1),
            Cell(told(track.idle, unit), in_unit(track.idle, unit)),
        )
        for track in tracks
    ]
    return Table("tracks", "Tracks", columns, rows)


def counters_table(counters: Iterable[CounterStatistics]) -> Table:
    """Return the range of each counter."""
    ranges = ("min", "mean", "max", "last")
    columns = (
        Column("process", "Process"),
        Column("counter", "Counter"),
        Column("unit", "Unit"),
        *(Column(key, key.capitalize(), NUMBER) for key in ranges),
    )
    rows = [
        (
            one.process,
            one.name,
            Cell(one.unit, one.unit or "-"),
            *(
                Cell(value, amount(value, one.unit))
                for value in (one.least, one.mean, one.most, one.last)
            ),
        )
        for one in counters
    ]
    return Table("counters", "Counters", columns, rows)


def critical_table(path: CriticalPath) -> Table:
    """Return the chain of steps that determined how long a run took."""
    columns = (
        Column("step", "Critical path"),
        Column("resource", "Resource"),
        Column("waited_s", "Waited", SECONDS),
        Column("duration_s", "Took", SECONDS),
        Column("share", "Share", SHARE),
        Column("outcome", "Outcome"),
    )
    rows = [
        (
            Cell(step.name, f"{step.index} {step.name}"),
            step.resource,
            step.waited_s,
            step.duration_s,
            step.share,
            step.outcome.value,
        )
        for step in path.steps
    ]
    return Table("critical_path", "Critical path", columns, rows)


def statistics_document(
    statistics: TraceStatistics,
    rows: Sequence[Mapping[str, Json]],
    critical: CriticalPath | None = None,
) -> dict[str, Json]:
    """Return all figures as JSON; times in nanoseconds."""
    first, last = statistics.span
    unit = statistics.unit
    document: dict[str, Json] = {
        "unit": "ns" if unit.is_time else unit.name,
        key_of("span", unit): told(last - first, unit),
        "rows": [dict(row) for row in rows],
        "tracks": [
            {
                "process": one.track.process,
                "track": one.track.thread,
                "slices": one.slices,
                key_of("busy", unit): told(one.busy, unit),
                key_of("idle", unit): told(one.idle, unit),
            }
            for one in statistics.tracks
        ],
        "counters": [
            {
                "process": one.process,
                "name": one.name,
                "unit": one.unit,
                "values": one.values,
                "min": one.least,
                "mean": one.mean,
                "max": one.most,
                "last": one.last,
            }
            for one in statistics.counters
        ],
        "losses": [
            {"reason": one.reason, "count": one.count, "first": one.first}
            for one in statistics.losses
        ],
    }
    if critical:
        document["critical_path"] = [
            {"step": step.name, "share": step.share, "waited_s": step.waited_s}
            for step in critical.steps
        ]
    return document


def statistics_csv(unit: Unit, rows: Iterable[Mapping[str, Json]]) -> str:
    """Return a line for each name or path; times in nanoseconds."""
    figures = columns_of(unit).values()
    lines = ([joined(_names(row)), *(_number(row[one]) for one in figures)] for row in rows)
    return csv_text([["name", *figures], *lines])


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
    """Return differences.

    Args:
        found: What differs.
        longest: Characters that people read of a name.
    """
    level = f"{percent(1 - found[0].difference.level, 4)} interval" if found else "Interval"
    columns = (
        Column("name", "Name", LONG),
        Column("measure", "Of"),
        Column("baseline_median", "Baseline", NUMBER),
        Column("candidate_median", "Candidate", NUMBER),
        Column("difference", "Difference", NUMBER),
        Column("ratio", "Change", NUMBER),
        Column("interval", level, NUMBER),
        Column("adjusted_p_value", "P", NUMBER),
        Column("verdict", "Verdict"),
    )
    rows = [_difference_row(one, longest) for one in found]
    return Table("difference", "Differences", columns, rows)


def _difference_row(one: NamedDifference, longest: int | None) -> Row:
    what, unit, verdict = one.difference, one.unit, one.judgement.verdict
    low, high = what.ratio_interval.low, what.ratio_interval.high
    interval = "-" if low is None or high is None else f"{change(low)} … {change(high)}"
    return [
        _name_cell(one.names, longest),
        one.measure.value,
        Cell(what.baseline_median, amount(what.baseline_median, unit)),
        Cell(what.candidate_median, amount(what.candidate_median, unit)),
        Cell(what.shift, signed(what.shift, unit)),
        Cell(what.ratio, change(what.ratio)),
        Cell([low, high], interval),
        Cell(one.judgement.p_value, p_value(one.judgement.p_value)),
        Cell(verdict.value, verdict_words(one), mark=_MARKS.get(verdict, "")),
    ]


def differences_document(found: Sequence[NamedDifference]) -> list[dict[str, Json]]:
    """Return all differences as JSON; times in seconds."""
    return [
        {
            "names": list(one.names),
            "measure": one.measure.value,
            "unit": one.unit,
            "baseline_n": one.difference.baseline_n,
            "candidate_n": one.difference.candidate_n,
            "baseline_median": one.difference.baseline_median,
            "candidate_median": one.difference.candidate_median,
            "difference": one.difference.shift,
            "difference_low": one.difference.shift_interval.low,
            "difference_high": one.difference.shift_interval.high,
            "ratio": one.difference.ratio,
            "ratio_low": one.difference.ratio_interval.low,
            "ratio_high": one.difference.ratio_interval.high,
            "p_value": one.difference.p_value,
            "adjusted_p_value": one.judgement.p_value,
            "verdict": one.judgement.verdict.value,
        }
        for one in found
    ]


def differences_csv(found: Sequence[NamedDifference]) -> str:
    """Return a line for each difference; times in seconds."""
    rows = [
        [joined(one.names), *map(told.get, _IN_CSV)]
        for one, told in zip(found, differences_document(found), strict=True)
    ]
    return csv_text([["name", *_IN_CSV] if rows else [], *rows])


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
