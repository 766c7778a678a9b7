"""What is in traces, and in what they differ, as tables, JSON documents and CSV."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from benchyard.analysis.comparison.wording import change, p_value, signed
from benchyard.core.model import Json
from benchyard.core.quantity import amount, duration, percent, plural, shorten
from benchyard.core.table import Table
from benchyard.core.wording import printable
from benchyard.results.metrics_csv import to_csv
from benchyard.statistics.comparison import Verdict
from benchyard.traces.critical_path import CriticalPath
from benchyard.traces.difference import Measure, NamedDifference, Names
from benchyard.traces.statistics import Durations, TraceStatistics

_NS_PER_S = 1e9
_LONGEST_NAME = 60
_COLUMNS = ("count", "total", "self", "median", "p90", "p99", "min", "max")
_WORDS = {
    Verdict.NO_CHANGE_SHOWN: "no difference shown",
    Verdict.CANNOT_TELL: "cannot tell",
}


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
    columns = (
        *(found.count, found.total, found.self_time),
        *(found.median, found.p90, found.p99, found.least, found.most),
    )
    which = found.which[order].tolist()
    values = zip(which, *(column[order].tolist() for column in columns), strict=True)
    rows: list[dict[str, Json]] = []
    for place, *figures in values:
        names = statistics.path(place) if by_path else (str(statistics.names[place]),)
        listed: list[Json] = [*names]
        keys = ("count", *(f"{column}_ns" for column in _COLUMNS[1:]))
        rows.append({"names": listed, **dict(zip(keys, figures, strict=True))})
    return rows


def _number(value: Json) -> float:
    return value if isinstance(value, (int, float)) else 0.0


def statistics_table(rows: Sequence[Mapping[str, Json]], limit: int) -> Table:
    """Return the first rows as a table."""
    heads = ["NAME", "COUNT", "TOTAL", "SELF", "SELF %", *(one.upper() for one in _COLUMNS[3:])]
    whole = sum(_number(row["self_ns"]) for row in rows) or 1.0
    cells = [
        [
            shown(_names(row)),
            f"{row['count']:,}",
            *(_time(row[f"{column}_ns"]) for column in _COLUMNS[1:3]),
            percent(_number(row["self_ns"]) / whole),
            *(_time(row[f"{column}_ns"]) for column in _COLUMNS[3:]),
        ]
        for row in rows[:limit]
    ]
    return Table(heads, cells, heads[1:])


def _names(row: Mapping[str, Json]) -> Names:
    names = row["names"]
    return tuple(map(str, names)) if isinstance(names, list) else ()


def shown(names: Names) -> str:
    """Write a path of names for a table: harmless, and not too long."""
    return shorten(printable(joined(names)), _LONGEST_NAME, 20)


def _time(nanoseconds: Json) -> str:
    return duration(_number(nanoseconds) / _NS_PER_S)


def tracks_table(statistics: TraceStatistics, limit: int) -> Table:
    """Return how busy the busiest tracks were."""
    first, last = statistics.span
    busiest = sorted(statistics.tracks, key=lambda one: -one.busy)[:limit]
    heads = ["PROCESS", "TRACK", "SLICES", "BUSY", "BUSY %", "IDLE"]
    cells = [
        [
            printable(one.track.process),
            printable(one.track.thread),
            f"{one.slices:,}",
            _time(one.busy),
            percent(one.busy / ((last - first) or 1)),
            _time(one.idle),
        ]
        for one in busiest
    ]
    return Table(heads, cells, heads[2:])


def counters_table(statistics: TraceStatistics, limit: int) -> Table:
    """Return the range of each counter."""
    heads = ["PROCESS", "COUNTER", "UNIT", "MIN", "MEAN", "MAX", "LAST"]
    cells = [
        [
            printable(one.process),
            printable(one.name),
            printable(one.unit) or "-",
            *map(amount, (one.least, one.mean, one.most, one.last)),
        ]
        for one in statistics.counters[:limit]
    ]
    return Table(heads, cells, heads[3:])


def critical_table(path: CriticalPath) -> Table:
    """Return the chain of steps that determined how long a run took."""
    heads = ["CRITICAL PATH", "RESOURCE", "WAITED", "TOOK", "SHARE", "OUTCOME"]
    cells = [
        [
            f"{step.index} {printable(step.name)}",
            printable(step.resource),
            duration(step.waited_s),
            duration(step.duration_s),
            percent(step.share),
            str(step.outcome),
        ]
        for step in path.steps
    ]
    return Table(heads, cells, heads[2:5])


def statistics_document(
    statistics: TraceStatistics,
    rows: Sequence[Mapping[str, Json]],
    critical: CriticalPath | None = None,
) -> dict[str, Json]:
    """Return all figures as JSON; times in nanoseconds."""
    first, last = statistics.span
    document: dict[str, Json] = {
        "span_ns": last - first,
        "rows": [dict(row) for row in rows],
        "tracks": [
            {
                "process": one.track.process,
                "track": one.track.thread,
                "slices": one.slices,
                "busy_ns": one.busy,
                "idle_ns": one.idle,
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


def statistics_csv(rows: Iterable[Mapping[str, Json]]) -> str:
    """Return a line for each name or path; times in nanoseconds."""
    columns = ("name", "count", *(f"{column}_ns" for column in _COLUMNS[1:]))
    return to_csv(
        columns,
        [
            {
                "name": joined(_names(row)),
                **{column: _number(row[column]) for column in columns[1:]},
            }
            for row in rows
        ],
    )


def verdict_words(one: NamedDifference) -> str:
    """Return the verdict as a reader would say it, in the words of ``compare``."""
    verdict = one.judgement.verdict
    if verdict in _WORDS:
        significant = one.judgement.p_value <= one.difference.level and not one.difference.matters
        if verdict is Verdict.NO_CHANGE_SHOWN and significant and one.difference.shift:
            return f"differs by less than {percent(one.difference.threshold, 4)}"
        return _WORDS[verdict]
    more = (one.difference.shift or 0) > 0
    if one.measure.unit == "s":
        return "slower" if more else "faster"
    return "more" if more else "less"


def differences_table(found: Sequence[NamedDifference], limit: int) -> Table:
    """Return the first differences as a table."""
    heads = ["NAME", "OF", "BASELINE", "CANDIDATE", "DIFFERENCE", "CHANGE"]
    heads += ["99 % INTERVAL", "P", "VERDICT"]
    cells: list[list[str]] = []
    for one in found[:limit]:
        what, unit = one.difference, one.measure.unit
        low, high = what.ratio_interval.low, what.ratio_interval.high
        interval = "-" if low is None or high is None else f"{change(low)} … {change(high)}"
        cells.append(
            [
                shown(one.names),
                one.measure.value,
                amount(what.baseline_median, unit),
                amount(what.candidate_median, unit),
                signed(what.shift, unit),
                change(what.ratio),
                interval,
                p_value(one.judgement.p_value),
                verdict_words(one),
            ]
        )
    if found:
        heads[6] = f"{percent(1 - found[0].difference.level, 4)} INTERVAL"
    return Table(heads, cells, heads[2:8])


def differences_document(found: Sequence[NamedDifference]) -> list[Json]:
    """Return all differences as JSON; times in seconds."""
    return [
        {
            "names": list(one.names),
            "measure": one.measure.value,
            "unit": one.measure.unit,
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
        {
            "name": joined(one.names),
            "measure": one.measure.value,
            "baseline_median": one.difference.baseline_median,
            "candidate_median": one.difference.candidate_median,
            "difference": one.difference.shift,
            "ratio": one.difference.ratio,
            "ratio_low": one.difference.ratio_interval.low,
            "ratio_high": one.difference.ratio_interval.high,
            "adjusted_p_value": one.judgement.p_value,
            "verdict": one.judgement.verdict.value,
        }
        for one in found
    ]
    return to_csv(tuple(rows[0]) if rows else (), rows)


def differences_summary(found: Sequence[NamedDifference]) -> str:
    """Say in a sentence what is shown, of self times."""
    of_self = [one for one in found if one.measure is Measure.SELF]
    words = [verdict_words(one) for one in of_self if one.is_shown]
    level = percent(found[0].difference.level, 4) if found else "1 %"
    return (
        f"{plural(len(of_self), 'name')}: {words.count('slower')} slower, "
        f"{words.count('faster')} faster by self time; {level} is the chance of even one false "
        "call among all names of a measure"
    )
