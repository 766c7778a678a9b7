"""What the commands share: options, and loading what was selected."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

import resources
from benchyard.case.loading import Loaded, raise_problems
from benchyard.case.registry import Registry
from benchyard.case.selection import find_cases
from benchyard.cli.option_types import NamedPath, Percent
from benchyard.core.errors import InputError
from benchyard.core.model import Case
from benchyard.results.layout import results_folder
from benchyard.results.trust import Suspect
from benchyard.statistics.sessions import PRIOR_SD

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

root_option = click.option(
    "--root",
    default=".",
    show_default="the current folder",
    type=NamedPath(),
    help="Folder that cases are looked for in.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else there."
)
resources_option = click.option(
    "--resources",
    "resource_folders",
    multiple=True,
    type=NamedPath(),
    help="Folder with further resource classes; may be given several times.",
)
results_option = click.option(
    "--results",
    type=NamedPath(),
    help="Folder for results instead of the cases' own; cases may then be read-only.",
)
tag_option = click.option(
    "--tag", "tags", multiple=True, help="Only cases with this tag; several must all be there."
)
session_sd_option = click.option(
    "--session-sd",
    type=Percent(),
    help="How much sessions of this host vary (standard deviation); expected is "
    f"{PRIOR_SD:.0%} until campaigns tell.",
)
suspect_option = click.option(
    "--suspect",
    type=click.Choice([rule.value for rule in Suspect]),
    default=Suspect.AUTO.value,
    show_default=True,
    help="Suspect executions; auto counts them, marked, where too few others are left.",
)
cases_argument = click.argument("cases", nargs=-1, metavar="[CASE]...")


def selection(command: CommandT) -> CommandT:
    """Add the arguments and options that select cases."""
    for option in (cases_argument, tag_option, resources_option, root_option, json_option):
        command = option(command)
    return command


def load_selected(
    root: Path,
    cases: Sequence[str],
    tags: Sequence[str],
    folders: Sequence[Path],
    *,
    accepting: bool = False,
) -> tuple[Registry, list[Loaded]]:
    """Find the resource classes and load the selected cases; see ``find_cases``."""
    registry = resources.find(folders)
    return registry, find_cases(root, cases, tags, registry, accepting=accepting)


def cases_of(loaded: Iterable[Loaded]) -> list[Case]:
    """Return all cases in order."""
    return [case for item in loaded for case in item.cases]


def one_case(wanted: str, root: Path, folders: Sequence[Path]) -> Case:
    """Return the case that is meant; it need not be executable here.

    Raises:
        InputError: If none is meant, or several are.
    """
    _, loaded = load_selected(root, [wanted], (), folders)
    cases = cases_of(loaded)
    if not cases:
        raise_problems(loaded)
    if len(cases) != 1:
        titles = ", ".join(case.title for case in cases)
        raise InputError(f"'{wanted}' means {len(cases)} cases ({titles}); name one of them")
    return cases[0]


def results_of(case: Case, root: Path, results: Path | None) -> Path:
    """Return the results folder of a case."""
    return results_folder(case, root, results.resolve() if results else None)
