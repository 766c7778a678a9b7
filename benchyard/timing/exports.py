"""The executions and their ranking in files: our own JSON, hyperfine's, CSV, Markdown."""

from collections.abc import Sequence
from dataclasses import fields, replace

from benchyard import __version__
from benchyard.core.markup import item
from benchyard.core.model import Json
from benchyard.core.table import CODE, csv_text
from benchyard.statistics.intervals import Interval
from benchyard.statistics.measures import mean, median, stdev
from benchyard.timing.course import Course
from benchyard.timing.execution import Execution
from benchyard.timing.ranking import Pair, Ranking
from benchyard.timing.wording import table, verdict, verdicts

_FIELDS = tuple(field.name for field in fields(Execution))


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
