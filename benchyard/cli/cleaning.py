"""``benchyard clean``: remove results, and nothing else."""

import sys
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from pathlib import Path

import click

from benchyard.cli.common import Selection, cases_of, selection
from benchyard.cli.terminal import confirm, print_json, say
from benchyard.core.errors import InputError
from benchyard.core.quantity import plural
from benchyard.core.wording import printable
from benchyard.host.testbed import hold_results, hold_testbed
from benchyard.results.campaigns import Cleaned, clean, refuse_unremovable, removable
from benchyard.results.layout import kept_folders


@click.command("clean")
@selection
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(selection: Selection, *, as_json: bool, yes: bool) -> None:
    """Remove the results of cases, and nothing else.

    Example:
        benchyard clean mine --yes
    """
    _, loaded = selection.load()
    places = {selection.results_of(case): kept_folders(case) for case in cases_of(loaded)}
    doomed = [path for folder in places for path in removable(folder)]
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
    cleaned = _clean(places)
    gone = [path for one in cleaned for path in one.gone]
    left = [path for one in cleaned for path in one.left]
    for path in left:
        say(f"{path} was not made by Benchyard, and stays", err=True)
    if as_json:
        print_json({"removed": [str(path) for path in gone], "left": [str(p) for p in left]})
    else:
        say(f"removed {plural(len(gone), 'result')}")


def _clean(places: Mapping[Path, Collection[str]]) -> list[Cleaned]:
    """Remove what the lab made in results folders: of all of them, or of none.

    Args:
        places: Folder to the names of those in which the case's resources keep their outputs.
    """
    with hold_testbed("cleaning", wait=False), ExitStack() as held:
        full = [folder for folder in places if removable(folder)]
        # Before the locks: they are files in these very folders.
        refuse_unremovable([path for folder in full for path in removable(folder)])
        for folder in full:
            held.enter_context(hold_results(folder, "cleaning", wait=False))
        return [clean(folder, places[folder]) for folder in full]
