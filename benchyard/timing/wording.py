"""The ranking in words and as a table."""

from collections.abc import Sequence

from benchyard.core.quantity import amount, duration, number, percent, shorten
from benchyard.core.table import Table
from benchyard.statistics.comparison import Verdict
from benchyard.statistics.intervals import Interval
from benchyard.statistics.measures import median
from benchyard.timing.course import Course
from benchyard.timing.execution import Execution
from benchyard.timing.ranking import Pair, Ranking

_LONGEST_NAME = 48
_UNKNOWN = "-"
#: Pairs that are told one by one; of more, only those with the fastest.
_MOST_PAIRS = 3


def table(course: Course) -> Table:
    """Return a row for each command, the fastest first."""
    ranking = course.ranking
    order = ranking.order if ranking else range(len(course.commands))
    rows = [_row(course, at) for at in order]
    heads = ("COMMAND", "MEDIAN", "INTERVAL", "MIN", "MAX", "CPU", "MEMORY", "N", "EXIT CODE")
    return Table(heads, rows, figures=heads[1:8])


def _row(course: Course, at: int) -> list[str]:
    done, ranking = course.executions[at], course.ranking
    name = shorten(course.commands[at].name, _LONGEST_NAME, 2)
    if not done:
        return [name, *[_UNKNOWN] * 6, "0", _UNKNOWN]
    times = [one.wall_s for one in done]
    return [
        name,
        duration(median(times)),
        _ends(ranking.intervals[at]) if ranking else _UNKNOWN,
        duration(min(times)),
        duration(max(times)),
        duration(median([one.cpu_s for one in done])),
        memory(done),
        str(len(done)),
        exit_codes(done),
    ]


def _ends(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return _UNKNOWN
    return f"{duration(interval.low)} … {duration(interval.high)}"


def memory(done: Sequence[Execution]) -> str:
    """Return the median of the peaks in MB, or what it is below where that is all that is known."""
    peaks = [one.peak_rss_bytes or one.peak_floor_bytes for one in done]
    least = "" if all(one.peak_rss_bytes for one in done) else "< "
    return f"{least}{amount(median(peaks), 'B')}"


def exit_codes(done: Sequence[Execution]) -> str:
    """Return the exit codes, with how often each came where they differ."""
    counts = {code: sum(1 for one in done if one.exit_code == code) for code in _codes(done)}
    if len(counts) == 1:
        return str(next(iter(counts)))
    return ", ".join(f"{code} ({count} times)" for code, count in counts.items())


def _codes(done: Sequence[Execution]) -> list[int]:
    return sorted({one.exit_code for one in done})


def verdicts(ranking: Ranking) -> list[str]:
    """Say who is faster than whom: the fastest against each other one, then the rest."""
    if len(ranking.pairs) <= _MOST_PAIRS:
        return [verdict(ranking, pair) for pair in ranking.pairs]
    fastest, *others = ranking.order
    said = [verdict(ranking, ranking.pair(fastest, other)) for other in others]
    unclear = [
        f"{_name(ranking, pair.faster)} and {_name(ranking, pair.slower)}"
        for pair in ranking.pairs
        if not pair.told_apart and fastest not in {pair.faster, pair.slower}
    ]
    return said + ([f"Not told apart as well: {'; '.join(unclear)}"] if unclear else [])


def verdict(ranking: Ranking, pair: Pair) -> str:
    """Say in one sentence what is known of two commands."""
    faster, slower = _name(ranking, pair.faster), _name(ranking, pair.slower)
    known = _known(pair, ranking.level)
    ratio = pair.difference.ratio
    if pair.told_apart and ratio:
        # The rank test goes by all values, and may say the reverse of two medians.
        first, second, times = (faster, slower, ratio) if ratio > 1 else (slower, faster, 1 / ratio)
        return f"{first} is {_times(times)} times faster than {second}{known}"
    if pair.judgement.verdict is Verdict.CANNOT_TELL:
        return f"{faster} and {slower}: too few executions to tell{known}"
    if pair.judgement.p_value <= pair.difference.level:
        return (
            f"{faster} and {slower} differ by less than {percent(pair.difference.threshold)}{known}"
        )
    return f"{faster} and {slower}: no difference shown{known}"


def _known(pair: Pair, level: float) -> str:
    ratio, ends = pair.difference.ratio, pair.difference.ratio_interval
    if not ratio or ends.low is None or ends.high is None:
        return ""
    low, high = (ends.low, ends.high) if ratio >= 1 else (1 / ends.high, 1 / ends.low)
    return f" ({percent(1 - level, 4)}: {_times(low)} … {_times(high)})"


def _times(ratio: float) -> str:
    """Write a ratio with the digits that tell it from 1."""
    return f"{ratio:.3f}" if ratio < 1.1 else f"{ratio:.2f}" if ratio < 10 else number(ratio, 3)


def _name(ranking: Ranking, at: int) -> str:
    return f"'{shorten(ranking.names[at], _LONGEST_NAME, 2)}'"
