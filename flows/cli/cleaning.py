"""``benchyard clean``: remove results, and nothing else."""

import sys
from pathlib import Path

import click

from benchyard.case.problems import printable
from benchyard.errors import InputError
from benchyard.execution.campaigns import clean, removable
from benchyard.execution.testbed import hold_testbed
from benchyard.model import Json
from benchyard.statistics.figures import plural
from flows.cli.common import cases_of, load_selected, results_of, results_option, selection
from flows.cli.terminal import confirm, print_json, say


@click.command("clean")
@selection
@results_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(
    cases: tuple[str, ...],
    tags: tuple[str, ...],
    resource_folders: tuple[Path, ...],
    root: Path,
    results: Path | None,
    *,
    as_json: bool,
    yes: bool,
) -> None:
    """Remove the results of cases: their runs and summaries, and nothing else."""
    _, loaded = load_selected(root, cases, tags, resource_folders)
    folders = [results_of(case, root, results) for case in cases_of(loaded)]
    doomed = [path for folder in folders for path in removable(folder)]
    if doomed and not yes:
        for path in doomed:
            say(printable(str(path)), err=True)
        if not sys.stdin.isatty():
            raise InputError("nobody is there to be asked; give --yes to remove these results")
        if not confirm(f"Remove {plural(len(doomed), 'result')}?"):
            say("nothing removed", err=True)
            return
    invalid = sum(1 for item in loaded if item.problems)
    if invalid:
        text = f"{plural(invalid, 'invalid case')} left alone; benchyard validate says why"
        say(text, err=True)
    with hold_testbed("cleaning", wait=False):
        gone = [path for folder in folders for path in clean(folder)]
    if as_json:
        removed: list[Json] = [str(path) for path in gone]
        print_json({"removed": removed})
    else:
        say(f"removed {plural(len(gone), 'result')}")
