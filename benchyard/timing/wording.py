"""The ranking in words and as a table."""

from collections import Counter
from collections.abc import Sequence

from benchyard.core.quantity import amount, duration, number, percent, shorten
from benchyard.core.table import Table, text_table
from benchyard.core.wording import printable
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
    return text_table(heads, rows, right=heads[1:8])


def _row(course: Course, at: int) -> list[str]:
    done, ranking = course.succeeded(at), course.ranking
    name = shorten(course.commands[at].name, _LONGEST_NAME, 2)
    if not done:
        return [name, *[_UNKNOWN] * 6, "0", exit_codes(course.executions[at])]
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
        exit_codes(course.executions[at]),
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
    counts = Counter(one.exit_code for one in done)
    if len(counts) == 1:
        return str(next(iter(counts)))
    return ", ".join(f"{code} ({n} times)" for code, n in sorted(counts.items())) or _UNKNOWN


def verdicts(ranking: Ranking) -> list[str]:
    """Say who is faster than whom: the fastest against each other one, then the rest."""
    if len(ranking.pairs) <= _MOST_PAIRS:
        return [verdict(ranking, pair) for pair in ranking.pairs]
    fastest = ranking.order[0]
    said = [
        verdict(ranking, pair) for pair in ranking.pairs if fastest in {pair.first, pair.second}
    ]
    unclear = [
        f"{_name(ranking, pair.first)} and {_name(ranking, pair.second)}"
        for pair in ranking.pairs
        if not pair.told_apart and fastest not in {pair.first, pair.second}
    ]
    return said + ([f"Not told apart as well: {'; '.join(unclear)}"] if unclear else [])


def verdict(ranking: Ranking, pair: Pair) -> str:
    """Say in one sentence what is known of two commands."""
    first, second = _name(ranking, pair.first), _name(ranking, pair.second)
    ratio, ends = pair.difference.ratio, pair.difference.ratio_interval
    if ends.low is None or ends.high is None:
        return f"{first} and {second}: too few executions to tell"
    known = f"({percent(1 - ranking.level, 4)}: {_times(ends.low)} … {_times(ends.high)})"
    least = percent(pair.difference.threshold)
    if not ratio or not pair.differ:
        return f"{first} and {second}: no difference shown {known}"
    if pair.told_apart:
        return f"{first} is {_times(ratio)} times faster than {second} {known}"
    if ends.high < 1 + pair.difference.threshold:
        return f"{first} and {second} differ by less than {least} {known}"
    return f"{first} and {second}: no difference of {least} or more shown {known}"


def _times(ratio: float) -> str:
    """Write a ratio with the digits that tell it from 1."""
    return f"{ratio:.3f}" if ratio < 1.1 else f"{ratio:.2f}" if ratio < 10 else number(ratio, 3)


def _name(ranking: Ranking, at: int) -> str:
    return f"'{shorten(printable(ranking.names[at]), _LONGEST_NAME, 2)}'"
