"""What came of an execution: a table of steps, or the summaries as JSON."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.errors import RecordError
from benchyard.core.files import content, shown
from benchyard.core.model import Case, Json, JsonObject, plain
from benchyard.core.quantity import plural
from benchyard.core.wording import named_runs, printable, quote, some
from benchyard.results.campaigns import earlier_campaigns, is_earlier
from benchyard.results.folders import Results
from benchyard.results.reasons import failed_alike, why_failed
from benchyard.results.record import RunRecord, read_record
from benchyard.results.subject import about
from benchyard.show.summary_tables import USUAL, Look, digest

#: Lines of advice below a table; the rest is in JSON, and shown with --verbose.
_MOST_ADVICE = 2
_MOST_NAMES = 20


def read_summary(results: Path) -> dict[str, Any]:
    """Read ``summary.json`` of a case; empty if there is none.

    Raises:
        RecordError: If it is damaged.
    """
    return read_document(Results(results).summary, "benchyard stats writes it anew")


def read_document(path: Path, advice: str) -> dict[str, Any]:
    """Read a JSON document of ours; empty if there is none.

    Raises:
        RecordError: If it is damaged, with the advice.
    """
    try:
        return cast("dict[str, Any]", json.loads(content(path)))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path}: not readable: {error}; {advice}") from error


def print_outcome(
    chosen: Sequence[tuple[Case, Path]],
    comparison: JsonObject | None = None,
    *,
    as_json: bool,
    look: Look = USUAL,
    verbose: bool = False,
) -> None:
    """Print the summaries of cases, each given with the folder of its results.

    Args:
        comparison: With the baseline that was asked for, which JSON has too; None without one.
    """
    if as_json:
        summaries: list[Json] = [
            {
                "case": case.title,
                "results": str(folder),
                "runs_failed": [*Results(folder).failed()],
                "summary": look.document(read_summary(folder)),
            }
            for case, folder in chosen
        ]
        compared: JsonObject = {} if comparison is None else {"comparison": comparison}
        print_json({"cases": summaries, **compared})
        return
    waiting = [one for one in chosen if len(chosen) > 1 and not Results(one[1]).runs()]
    groups = list(_along_one_parameter([one for one in chosen if one not in waiting]))
    grouped = [folder for _, group in groups for _, folder in group]
    for case, folder in chosen:
        if (case, folder) not in waiting:
            brief = folder in grouped and not verbose and look.columns is None
            print_summary(case, folder, read_summary(folder), look, verbose=verbose, brief=brief)
    for parameter, group in groups:
        _print_points(parameter, group, look)
    if waiting:
        names = some([case.title for case, _ in waiting], _MOST_NAMES)
        say(f"\n{plural(len(waiting), 'case')} never begun: {printable(names)}")


def print_summary(
    case: Case,
    folder: Path,
    summary: dict[str, Any],
    look: Look = USUAL,
    *,
    verbose: bool = False,
    brief: bool = False,
) -> None:
    """Print one case's steps with their statistics; a table for each thing that was measured.

    Args:
        verbose: Whether all advice is shown; else two lines of it.
        brief: Whether the figures stand in a table of several points.
    """
    say(f"\n{printable(name_of(case, folder))}", bold=True)
    steps = summary.get("steps", [])
    if steps and not brief:
        print_table(look.table(steps))
    elif not steps:
        readable = " that can be read" if summary.get("unreadable") else ""
        say(f"no finished run{readable}")
    _print_remarks(summary, steps, None if verbose else _MOST_ADVICE)
    for text in _failures(folder):
        _remark(text, "red")
    if summary.get("subject"):
        _remark(f"measured {about(summary['subject'])}")
    for other in summary.get("other_subjects") or ():
        runs = named_runs([run["run"] for run in other["runs"]])
        say(f"\n{printable(case.title)}, {runs}", bold=True)
        print_table(look.table(other["steps"]))
    before = len(earlier_campaigns(folder))
    if before:
        _remark(f"earlier: {plural(before, 'campaign')}; benchyard stats --campaign all shows them")
    _remark(f"results: {shown(folder)}")


def name_of(case: Case, folder: Path) -> str:
    """Return a case's title, with the campaign if it is an earlier one."""
    return f"{case.title}, campaign {folder.name}" if is_earlier(folder) else case.title


def _print_remarks(
    summary: dict[str, Any], steps: list[dict[str, Any]], most_advice: int | None
) -> None:
    for warning in _warnings(summary.get("warnings", []), steps):
        _remark(f"warning: {warning}", "yellow")
    _print_precision(summary.get("adaptive") or {})
    advised = [(s["index"], quote(s["name"]), t) for s in steps for t in s.get("advice") or ()]
    for line in digest(advised, most_advice):
        _remark(f"advice: {line}", "cyan")


def _warnings(texts: Sequence[str], steps: Sequence[dict[str, Any]]) -> list[str]:
    """Return warnings, those of several steps that differ in numbers only as one."""
    about = {f"step {s['index']} {s['name']}: ": (s["index"], quote(s["name"])) for s in steps}
    plain, of_steps = list[str](), list[tuple[int, str, str]]()
    for text in texts:
        head = next((head for head in about if text.startswith(head)), None)
        if head is None:
            plain.append(text)
        else:
            of_steps.append((*about[head], text.removeprefix(head)))
    return [*plain, *digest(of_steps)]


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


def _failures(results: Path) -> Iterator[str]:
    """Say why runs are not done, those that failed alike in one line, and where to read more."""
    here, records = Results(results), list[RunRecord]()
    for run in here.failed().values():
        try:
            records.append(read_record(run.path))
        except RecordError as error:
            yield str(error)
    for alike in failed_alike(records):
        first, runs = alike[0], named_runs([one.run for one in alike])
        why, log = why_failed(first), shown(here.run(first.run).log)
        yield f"{runs} {first.outcome}: {why}; see {log}"


def _along_one_parameter(
    chosen: Sequence[tuple[Case, Path]],
) -> Iterator[tuple[str, list[tuple[Case, Path]]]]:
    """Yield the points of each matrix in which exactly one parameter varies, with its name."""
    groups: dict[tuple[Path, str], list[tuple[Case, Path]]] = {}
    for case, folder in chosen:
        campaign = folder.name if is_earlier(folder) else ""
        groups.setdefault((case.folder, campaign), []).append((case, folder))
    for group in groups.values():
        points = [case.point for case, _ in group]
        names = dict.fromkeys(name for point in points for name in point)
        varying = [name for name in names if len({plain(p.get(name)) for p in points}) > 1]
        if len(varying) == 1:
            yield varying[0], group


def _print_points(parameter: str, group: Sequence[tuple[Case, Path]], look: Look) -> None:
    """Print one table across the points of a matrix."""
    case, folder = group[0]
    campaign = f", campaign {folder.name}" if is_earlier(folder) else ""
    say(f"\n{printable(f'{case.name}{campaign}, medians by {parameter}')}", bold=True)
    points = {
        quote(f"{parameter}={plain(one.point.get(parameter))}"): read_summary(place).get(
            "steps", []
        )
        for one, place in group
    }
    print_table(look.across(points), capitals=False)
