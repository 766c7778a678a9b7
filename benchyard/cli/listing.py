"""``benchyard list``: the cases, their state, and why one cannot be executed."""

from pathlib import Path

import click

from benchyard.case.loading import Loaded, linked_folders
from benchyard.cli.common import Selection, cases_of, results_option, say_passed_over, selection
from benchyard.cli.terminal import print_json, print_table, say
from benchyard.core.model import Case, Json
from benchyard.core.quantity import plural
from benchyard.core.table import text_table
from benchyard.core.wording import quote
from benchyard.results.folders import Results
from benchyard.results.krown import has_only_samples


@click.command("list")
@selection
@results_option
def command(
    selection: Selection,
    *,
    as_json: bool,
) -> None:
    """List the cases, their state and what is wrong with them.

    CASE is a folder with cases below it, a name, or a glob over names; all below --root if left
    out.
    """
    _, loaded = selection.load()
    if not selection.cases:
        say_passed_over(linked_folders(selection.root.resolve()))
    if as_json:
        print_json([entry for item in loaded for entry in _entries(item, selection)])
        return
    if not loaded:
        say(f"no cases below {selection.root.resolve()}", err=True)
        return
    _print(loaded, selection)


def _entries(item: Loaded, selection: Selection) -> list[Json]:
    if item.problems:
        problems: list[Json] = [
            {"path": problem.path, "message": problem.message} for problem in item.problems
        ]
        return [{"name": item.name, "valid": False, "file": str(item.file), "problems": problems}]
    return [_entry(case, item.file, selection.results_of(case)) for case in item.cases]


def _entry(case: Case, file: Path, results: Path) -> Json:
    return {
        "name": case.title,
        "valid": True,
        "file": str(file),
        "description": case.description,
        "tags": list(case.tags),
        "point": dict(case.point),
        "steps": len(case.steps),
        **{f"runs_{state}": list[Json](numbers) for state, numbers in _runs(results).items()},
        "results": str(results),
    }


def _runs(results: Path) -> dict[str, list[int]]:
    """Return the numbers of the runs that are done, failed, unreadable, and KROWN's."""
    found: dict[str, list[int]] = {"done": [], "failed": [], "unreadable": [], "of_krown": []}
    for number, run in Results(results).runs(linked=True).items():
        if has_only_samples(run):
            found["of_krown"].append(number)
        elif not run.path.is_symlink():
            state = "done" if run.is_done else "unreadable" if run.is_marked else "failed"
            if state != "failed" or run.has_failed:
                found[state].append(number)
    return found


def _counts(results: Path) -> tuple[str, str]:
    """Return how many runs are done and how many are not, as the columns show them."""
    numbers = {state: len(runs) for state, runs in _runs(results).items()}
    names = {"of_krown": "KROWN's", "unreadable": "unreadable"}
    more = [f"{name}: {numbers[state]}" for state, name in names.items() if numbers[state]]
    done = str(numbers["done"]) + (f" ({', '.join(more)})" if more else "")
    return done, str(numbers["failed"] or "-")


def _print(loaded: list[Loaded], selection: Selection) -> None:
    rows = list[tuple[str, ...]]()
    base = selection.root.resolve()
    for item in loaded:
        folder = item.file.parent
        place = str(folder.relative_to(base) if folder.is_relative_to(base) else folder)
        for case in item.cases:
            folder = selection.results_of(case)
            tags = ",".join(case.tags)
            rows.append((case.title, str(len(case.steps)), *_counts(folder), tags, place))
        if item.problems:
            rows.append((quote(item.name), "-", "-", "-", "invalid", place))
    figures = ("STEPS", "DONE", "FAILED")
    print_table(text_table(("CASE", *figures, "TAGS", "FOLDER"), rows, figures))
    invalid = [item for item in loaded if item.problems]
    for item in invalid:
        first, more = item.problems[0], len(item.problems) - 1
        rest = f" (and {more} more)" if more else ""
        say(f"invalid: {first}{rest}", err=True)
    valid = len(cases_of(loaded))
    summary = f"{plural(valid, 'case')}, {len(invalid):,} invalid"
    say(summary + ("; benchyard validate shows all problems" if invalid else ""), err=True)
