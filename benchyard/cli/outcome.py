"""What came of an execution: a table of steps, or the summaries as JSON."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from benchyard.cli.terminal import print_columns, print_json, say
from benchyard.core.errors import RecordError
from benchyard.core.files import content, shown
from benchyard.core.model import Case, Json
from benchyard.core.wording import duration, printable, quote
from benchyard.results.campaigns import earlier_campaigns, is_earlier
from benchyard.results.folders import Results, RunFolder
from benchyard.results.reasons import why_failed
from benchyard.results.record import read_record
from benchyard.results.subject import about
from benchyard.results.summary_metrics import own_time
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


def print_outcome(chosen: Sequence[tuple[Case, Path]], *, as_json: bool) -> None:
    """Print the summaries of cases, each given with the folder of its results."""
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
        print_summary(case, folder, read_summary(folder))


def print_summary(case: Case, folder: Path, summary: dict[str, Any]) -> None:
    """Print one case's steps with their statistics; a table for each thing that was measured."""
    say(f"\n{printable(_name(case, folder))}", bold=True)
    steps = summary.get("steps", [])
    if steps:
        _print_steps(steps)
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
        _print_steps(other["steps"])
    before = len(earlier_campaigns(folder))
    if before:
        _remark(f"earlier: {plural(before, 'campaign')}; benchyard stats --campaign all shows them")
    _remark(f"results: {shown(folder)}")


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


def _print_steps(steps: list[dict[str, Any]]) -> None:
    head = ("", "STEP", "N", "MEDIAN", "± 95 %", "CV", "MIN", "MAX", "OWN", "OUTCOMES", "LEFT OUT")
    # Columns that have something to say in some cases only.
    rows = list(zip(*(_row(step) for step in steps), strict=True))
    seldom = {"OWN", "LEFT OUT"}
    columns = [(n, *c) for n, c in zip(head, rows, strict=True) if n not in seldom or any(c)]
    right = [at for at, (name, *_) in enumerate(columns) if name in head[2:9]]
    print_columns(list(zip(*columns, strict=True)), right=right)


def _row(step: dict[str, Any]) -> tuple[str, ...]:
    metrics: dict[str, Any] = step.get("metrics") or {}
    described: dict[str, Any] = metrics.get("duration_s", {}).get("statistics", {})
    median, least, most = (_figure(described.get(name)) for name in ("median", "min", "max"))
    count = str(described.get("n", 0)) if step["measured"] else "-"
    figures = (count, median, _half_width(described), _variation(described), least, most)
    own = own_time(metrics)
    counts = (_counts(step["outcomes"]), _counts(step.get("left_out") or {}))
    shown_own = "" if own is None else duration(own)
    return (str(step["index"]), quote(step["name"]), *figures, shown_own, *counts)


def _figure(value: float | None) -> str:
    return "-" if value is None else duration(value)


def _half_width(described: dict[str, Any]) -> str:
    """Say how far the farther end of the median's interval is from it; it is seldom symmetric."""
    interval: dict[str, Any] = described.get("median_interval") or {}
    low, high, median = interval.get("low"), interval.get("high"), described.get("median")
    if low is None or high is None or median is None:
        return "-"
    return duration(max(median - low, high - median))


def _variation(described: dict[str, Any]) -> str:
    stdev, mean = described.get("stdev"), described.get("mean")
    return "-" if stdev is None or not mean else f"{stdev / mean:.1%}"


def _counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in numbers.items() if n)
