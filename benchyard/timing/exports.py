"""What the executions say, in words, as a table and in files: JSON, hyperfine's, CSV, Markdown.

It includes what else the host did meanwhile, as far as that spoils the times.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

from benchyard import __version__
from benchyard.core.model import Json
from benchyard.core.quantity import UNKNOWN, amount, duration, number, percent, shorten
from benchyard.core.table import CODE, Table, csv_text, text_table
from benchyard.core.wording import item, printable
from benchyard.statistics.advice import advise
from benchyard.statistics.intervals import Interval
from benchyard.statistics.measures import mean, median, stdev
from benchyard.timing.course import Course
from benchyard.timing.execution import Execution
from benchyard.timing.ranking import Pair, Ranking

_LONGEST_NAME = 48
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
        return [name, *[UNKNOWN] * 6, "0", exit_codes(course.executions[at])]
    times = [one.wall_s for one in done]
    return [
        name,
        duration(median(times)),
        _ends(ranking.intervals[at]) if ranking else UNKNOWN,
        duration(min(times)),
        duration(max(times)),
        duration(median([one.cpu_s for one in done])),
        memory(done),
        str(len(done)),
        exit_codes(course.executions[at]),
    ]


def _ends(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return UNKNOWN
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
    return ", ".join(f"{code} ({n} times)" for code, n in sorted(counts.items())) or UNKNOWN


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


#: Share of its time that a command may wait for a CPU; as for the steps of a case
#: (``benchyard.host.checks.suspicion``).
WAIT_SHARE = 0.05
#: Shorter times than this are mostly the start of a process.
SHORT_S = 0.005


def load_before() -> float:
    """Return the load average of the last minute; 0 where it is not known."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0


def warnings(course: Course, load: float, until: float) -> list[str]:
    """Say why the times are not to be trusted, most urgent first.

    Args:
        course: What was executed.
        load: The load average before it began.
        until: Relative differences below it are not worth words.
    """
    doubts = [*_busy(course, load)]
    about = [text for at in range(len(course.commands)) for text in _misled(course, at)]
    # How far values lie apart on a busy host says nothing of the commands.
    return [*doubts, *about, *(() if doubts else _advised(course, until))]


def _busy(course: Course, load: float) -> Iterator[str]:
    """Say in one line that other work disturbed the commands."""
    cores = os.cpu_count() or 1
    shares = {
        command.name: share
        for at, command in enumerate(course.commands)
        if (share := _wait_share(course.succeeded(at))) >= WAIT_SHARE
    }
    parts = [f"load {number(load)} on {cores} cores before the first execution"] * (load >= cores)
    if shares:
        name, most = max(shares.items(), key=lambda item: item[1])
        more = f" ({len(shares)} of {len(course.commands)} commands waited)"
        beside = "" if parts or load < 1 else f", load {number(load)} on {cores} cores"
        parts.append(
            f"'{name}' waited for a CPU for {percent(most)} of its time"
            f"{more if len(shares) > 1 else ''}{beside}: something else is at work"
        )
    if parts:
        yield f"{'; '.join(parts)}, do not trust"


def _wait_share(done: Sequence[Execution]) -> float:
    known = [one.waited_s / one.wall_s for one in done if one.waited_s is not None]
    long = [one.wall_s for one in done if one.wall_s >= SHORT_S]
    return median(known) if known and long else 0.0


def _misled(course: Course, at: int) -> Iterator[str]:
    """Say in what a command's executions are not what the user may take them for."""
    name, done = course.commands[at].name, course.executions[at]
    good, left = course.succeeded(at), [one.left_running for one in done if one.left_running]
    if failed := len(done) - len(good):
        apart = "they are not in its numbers" if good else "it is not ranked"
        yield f"'{name}' failed in {failed} of {len(done)} executions: {apart}"
    if left:
        yield f"{left[0]}; so after {len(left)} of {len(done)} executions"
    if at in course.sees_null:
        piped, known = (median([one.wall_s for one in some]) for some in (course.piped[at], good))
        yield (
            f"'{name}' takes {number(piped / known, 3)} times as long if its stdout is a pipe, "
            "not /dev/null: some programs see that and do less; --stdout pipe measures it so"
        )


def _advised(course: Course, until: float) -> Iterator[str]:
    for at, command in enumerate(course.commands):
        done = course.succeeded(at)
        if len(done) < 2:
            continue
        # How many executions it takes is decided here, not by the user.
        found = advise([one.wall_s for one in done], until=until, more_runs=False)
        yield from (f"'{command.name}': {one}" for one in found)


_FIELDS = tuple(field.name for field in fields(Execution))


def text_of(kind: str, course: Course, warnings: Sequence[str]) -> str:
    """Return a file's text: ``json``, ``csv``, ``markdown`` or ``hyperfine``."""
    match kind:
        case "csv":
            return table_of_executions(course)
        case "markdown":
            return markdown(course, warnings)
        case _:
            made = hyperfine(course) if kind == "hyperfine" else document(course, warnings)
            return json.dumps(made, indent=1) + "\n"


def document(course: Course, warnings: Sequence[str]) -> dict[str, Json]:
    """Return everything, each execution included."""
    ranking = course.ranking
    return {
        "version": __version__,
        "seed": course.seed,
        "rounds": course.rounds,
        "stopped": course.why,
        "failure": course.failure or None,
        "level": ranking.level if ranking else None,
        "commands": [_command(course, at) for at in range(len(course.commands))],
        "order": [course.commands[at].name for at in ranking.order] if ranking else [],
        "pairs": [_pair(ranking, pair) for pair in ranking.pairs] if ranking else [],
        "warnings": list[Json](warnings),
    }


def _command(course: Course, at: int) -> dict[str, Json]:
    command, done = course.commands[at], course.executions[at]
    times = [one.wall_s for one in course.succeeded(at)]
    interval = course.ranking.intervals[at] if course.ranking else Interval()
    return {
        "name": command.name,
        "command": command.line,
        "parameters": dict[str, Json](command.parameters),
        "median_s": median(times) if times else None,
        "interval_s": list[Json]([interval.low, interval.high]),
        "failed": len(done) - len(times),
        "piped_s": [one.wall_s for some in course.piped[at : at + 1] for one in some],
        "executions": [{field: getattr(one, field) for field in _FIELDS} for one in done],
    }


def _pair(ranking: Ranking, pair: Pair) -> dict[str, Json]:
    difference = pair.difference
    return {
        "first": ranking.names[pair.first],
        "second": ranking.names[pair.second],
        "ratio": difference.ratio,
        "ratio_interval": [difference.ratio_interval.low, difference.ratio_interval.high],
        "p_value": min(1.0, difference.p_value * len(ranking.pairs)),
        "told_apart": pair.told_apart,
        "verdict": verdict(ranking, pair),
    }


def hyperfine(course: Course) -> dict[str, Json]:
    """Return what hyperfine's ``--export-json`` writes, for the scripts that read it.

    Failed executions are left out, and so is a command without others, and the memory of one of
    which it is not known of each execution.

    Source: hyperfine 1.19, src/benchmark/benchmark_result.rs; times in seconds.
    """
    places = [at for at in range(len(course.commands)) if course.succeeded(at)]
    return {"results": [_result(course, at) for at in places]}


def _result(course: Course, at: int) -> dict[str, Json]:
    command, done = course.commands[at], course.succeeded(at)
    times = [one.wall_s for one in done]
    result: dict[str, Json] = {
        "command": command.name,
        "mean": mean(times),
        "stddev": stdev(times) if len(times) > 1 else None,
        "median": median(times),
        "user": mean([one.user_s for one in done]),
        "system": mean([one.system_s for one in done]),
        "min": min(times),
        "max": max(times),
        "times": list[Json](times),
        "exit_codes": [one.exit_code for one in done],
    }
    if all(one.peak_rss_bytes for one in done):
        result["memory_usage_byte"] = [one.peak_rss_bytes for one in done]
    if command.parameters:
        result["parameters"] = dict[str, Json](command.parameters)
    return result


def table_of_executions(course: Course) -> str:
    """Return CSV with a row for each execution, in the order of their making."""
    parameters = sorted({name for one in course.commands for name in one.parameters})
    taken = {"name", "command", "parameter_", *_FIELDS}
    # What begins with parameter_ gets it once more, so that no two columns are called alike.
    heads = [f"parameter_{one}" if {one, one[:10]} & taken else one for one in parameters]
    rows = [["name", "command", *heads, *_FIELDS]]
    each: list[tuple[int, Execution]] = [
        (at, one) for at, done in enumerate(course.executions) for one in done
    ]
    for at, one in sorted(each, key=lambda item: item[1].position):
        command = course.commands[at]
        point = [command.parameters.get(name, "") for name in parameters]
        values = [getattr(one, field) for field in _FIELDS]
        rows.append([command.name, command.line, *point, *values])
    return csv_text(rows)


def markdown(course: Course, warnings: Sequence[str]) -> str:
    """Return the table, the verdicts and the warnings as Markdown."""
    first, *others = (shown := table(course)).columns
    shown = replace(shown, columns=[replace(first, kind=CODE), *others])
    said = verdicts(course.ranking) if course.ranking else []
    lines = [f"- {item(text)}\n" for text in (*said, *(f"warning: {one}" for one in warnings))]
    return shown.markdown() + ("\n" if lines else "") + "".join(lines)
