"""What came of an execution: a table of steps, or the summaries as JSON."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import InputError, RecordError
from benchyard.core.files import content, shown
from benchyard.core.model import Case, Json
from benchyard.core.wording import hint, printable, quote
from benchyard.results.campaigns import earlier_campaigns, is_earlier
from benchyard.results.folders import Results, RunFolder
from benchyard.results.reasons import why_failed
from benchyard.results.record import read_record
from benchyard.results.subject import about
from benchyard.show.steps_table import DURATION, steps_table
from benchyard.statistics.figures import plural

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
#: Steps that a line names by number; of more it says how many there are.
_NAMED = 12


def digest(advised: Iterable[tuple[int, str, str]]) -> list[str]:
    """Return the lines to show.

    Args:
        advised: Index and name of a step, and a piece of advice about it, in the steps' order.
    """
    groups: dict[str, list[tuple[int, str, str]]] = {}
    for one in advised:
        groups.setdefault(_NUMBER.sub("#", one[2]), []).append(one)
    return [_line(group) for group in groups.values()]


def _line(group: Sequence[tuple[int, str, str]]) -> str:
    index, name, text = group[0]
    if len(group) == 1:
        return f"step {index} {name}: {text}"
    steps = ", ".join(str(index) for index, _, _ in group[:_NAMED])
    more = f" and {len(group) - _NAMED} more" if len(group) > _NAMED else ""
    return f"steps {steps}{more}: {_merged([text for _, _, text in group])}"


def _merged(texts: Sequence[str]) -> str:
    """Write texts as one; numbers in which they differ become ``least..most``."""
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    merged = iter([_range(column) for column in columns])
    return _NUMBER.sub(lambda _: next(merged), texts[0])


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}..{ordered[-1]}"


def read_summary(results: Path) -> dict[str, Any]:
    """Read ``summary.json`` of a case; empty if there is none.

    Raises:
        RecordError: If it is damaged.
    """
    path = Results(results).summary
    try:
        return cast("dict[str, Any]", json.loads(content(path)))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(
            f"{path}: not readable: {error}; benchyard stats writes it anew"
        ) from error


def print_outcome(
    chosen: Sequence[tuple[Case, Path]], *, as_json: bool, metric: str = DURATION
) -> None:
    """Print the summaries of cases, each given with the folder of its results.

    Args:
        metric: What the tables show of each step.
    """
    if as_json:
        summaries: list[Json] = [
            {
                "case": case.title,
                "results": str(folder),
                "runs_failed": [*Results(folder).failed()],
                "summary": read_summary(folder),
            }
            for case, folder in chosen
        ]
        print_json({"cases": summaries})
        return
    for case, folder in chosen:
        print_summary(case, folder, read_summary(folder), metric)


def print_summary(
    case: Case, folder: Path, summary: dict[str, Any], metric: str = DURATION
) -> None:
    """Print one case's steps with their statistics; a table for each thing that was measured."""
    say(f"\n{printable(_name(case, folder))}", bold=True)
    steps = summary.get("steps", [])
    if steps:
        _print_steps(steps, metric)
    else:
        readable = " that can be read" if summary.get("unreadable") else ""
        say(f"no finished run{readable}")
    _print_remarks(summary, steps)
    for run in Results(folder).failed().values():
        _remark(_failure(run), "red")
    if summary.get("subject"):
        _remark(f"measured {about(summary['subject'])}")
    for other in summary.get("other_subjects") or ():
        numbers = ", ".join(str(run["run"]) for run in other["runs"])
        say(f"\n{printable(case.title)}, run {numbers}", bold=True)
        _print_steps(other["steps"], metric)
    before = len(earlier_campaigns(folder))
    if before:
        _remark(f"earlier: {plural(before, 'campaign')}; benchyard stats --campaign all shows them")
    _remark(f"results: {shown(folder)}")


def refuse_unknown_metric(summaries: Iterable[dict[str, Any]], metric: str) -> None:
    """Refuse a metric that no step of any case has.

    Raises:
        InputError: If so; it names what there is.
    """
    steps: list[dict[str, Any]] = [s for summary in summaries for s in summary.get("steps", [])]
    known: set[str] = set[str]().union(*(step.get("metrics") or () for step in steps))
    if known and metric not in known:
        raise InputError(f"no step has the metric '{quote(metric)}'{hint(metric, known)}")


def _name(case: Case, folder: Path) -> str:
    return f"{case.title}, campaign {folder.name}" if is_earlier(folder) else case.title


def _print_remarks(summary: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    if summary.get("include_suspect"):
        _remark("suspect executions are described too (--include-suspect)")
    for warning in summary.get("warnings", []):
        _remark(f"warning: {warning}", "yellow")
    _print_precision(summary.get("adaptive") or {})
    advised = [(s["index"], quote(s["name"]), t) for s in steps for t in s.get("advice") or ()]
    for line in digest(advised):
        _remark(f"advice: {line}", "cyan")


def _print_precision(adaptive: dict[str, Any]) -> None:
    """Say whether the precision that was asked for with ``--until`` is reached."""
    if not adaptive:
        return
    if adaptive["stopped"] and not adaptive["precise"]:
        _remark(f"warning: the wanted precision was not reached: {adaptive['why']}", "yellow")
    else:
        _remark(f"precision: {adaptive['why']}")


def _remark(text: str, colour: str | None = None) -> None:
    """Print a line; names in it are the user's, and must not steer the terminal."""
    say(printable(text), fg=colour)


def _failure(run: RunFolder) -> str:
    """Say in a line why a run is not done, and where to read more."""
    try:
        record = read_record(run.path)
    except RecordError as error:
        return str(error)
    why = why_failed(record)
    return f"run {record.run} {record.outcome}: {why}; see {shown(run.log)}"


def _print_steps(steps: list[dict[str, Any]], metric: str) -> None:
    table = steps_table(steps, quote, metric)
    heads, figures = (list(map(str.upper, names)) for names in (table.heads, table.figures))
    print_table(replace(table, heads=heads, figures=figures))
