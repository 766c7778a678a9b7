"""What the commands share: options, and loading what was selected."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce, wraps
from os.path import isdir, isfile
from pathlib import Path
from typing import Any, cast

import click

import resources
from benchyard.analysis.comparison.run_sets import RunSet
from benchyard.case.loading import Loaded, find_cases, find_metadata, raise_problems
from benchyard.case.registry import Registry
from benchyard.cli.fields import field_options
from benchyard.cli.option_types import CommandT, NamedPath, Percent, json_option
from benchyard.cli.terminal import say
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.model import Case
from benchyard.core.quantity import percent, plural
from benchyard.results.campaigns import chosen_campaigns
from benchyard.results.folders import Results
from benchyard.results.krown import krown_runs
from benchyard.results.layout import results_folder
from benchyard.show.export.sources import CaseFolder, sources_at
from benchyard.show.export.tidy import Choice
from benchyard.statistics.pairs import PRIOR_SD


@dataclass(frozen=True, slots=True)
class Selection:
    """The cases that a command line selects, and where their results lie.

    Args:
        cases: As ``find_cases`` takes them.
        tags: Only cases with this tag; several must all be there.
        resource_folders: Folders with further resource classes.
        root: Folder that cases are looked for in.
        results: Folder for results instead of the cases' own; cases may then be read-only.
    """

    cases: Sequence[str] = ()
    tags: tuple[str, ...] = ()
    resource_folders: Sequence[Path] = ()
    root: Path = Path()
    results: Path | None = None

    def load(self, *, accepting: bool = False) -> tuple[Registry, list[Loaded]]:
        """Find the resource classes and load the cases; see ``find_cases``."""
        registry = resources.find(self.resource_folders)
        return registry, find_cases(self.root, self.cases, self.tags, registry, accepting=accepting)

    def results_of(self, case: Case) -> Path:
        """Return the results folder of a case."""
        return results_folder(case, self.root, self.results.resolve() if self.results else None)


def combined(*options: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    """Return what adds several options, in the order of the help."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


root_option = field_options(Selection, "root", root={"show_default": "the current folder"})
resources_option = click.option(
    "--resources",
    "resource_folders",
    multiple=True,
    type=NamedPath(),
    help="Folder with further resource classes; may be given several times.",
)
results_option = field_options(Selection, "results")
session_sd_option = click.option(
    "--session-sd",
    type=Percent(),
    help="How much sessions of this host vary (standard deviation); expected is "
    f"{percent(PRIOR_SD)} until campaigns tell.",
)
suspect_option = field_options(Choice, "suspect")
campaign_option = click.option(
    "--campaign",
    metavar="NAME",
    help="An earlier campaign by the beginning of its date or digest, or all of them.",
)
case_options = combined(
    click.argument("cases", nargs=-1, metavar="[CASE]..."),
    field_options(Selection, "tags"),
    root_option,
    resources_option,
)


def gathered(name: str, kind: type[Any]) -> Callable[[CommandT], CommandT]:
    """Hand over the options that a dataclass has as fields as one argument.

    Args:
        name: Of the argument.
        kind: The dataclass; a field without an option keeps its default.
    """

    def gather(command: CommandT) -> CommandT:
        @wraps(command)
        def call(*arguments: Any, **given: Any) -> Any:
            names = [field.name for field in fields(kind) if field.name in given]
            made = kind(**{field: given.pop(field) for field in names})
            return command(*arguments, **{name: made}, **given)

        return cast("CommandT", call)

    return gather


#: What selects cases, as one ``Selection``, and ``--json``.
selection = combined(case_options, results_option, json_option, gathered("selection", Selection))


def say_passed_over(links: Sequence[Path]) -> None:
    """Say that links to folders were not followed, if there are any."""
    if links:
        counted = f"{plural(len(links), 'link')} to folders passed over, such as {shown(links[0])}"
        say(f"{counted}; name a link to have what is behind it", err=True)


def cases_of(loaded: Iterable[Loaded]) -> list[Case]:
    """Return all cases in order."""
    return [case for item in loaded for case in item.cases]


def selected_results(
    selection: Selection, campaign: str | None
) -> tuple[list[tuple[Case, Path]], list[Loaded]]:
    """Return the cases that are meant with the folders of their campaigns, and what was loaded.

    A folder may hold results alone: their records tell of the case. Such folders come first.

    Raises:
        CaseError: If there are only invalid cases without results.
        InputError: If there are only folders without runs.
    """
    bare = [text for text in selection.cases if _holds_no_case(text)]
    named = [text for text in selection.cases if text not in bare]
    found = [
        (_case(one.folder, one.title), one.folder) for t in bare for one in sources_at(Path(t))
    ]
    loaded: list[Loaded] = []
    if named or not bare:
        _, loaded = replace(selection, cases=named).load()
    found += [target for item in loaded for target in _targets(item, selection)]
    if not found:
        raise_problems(loaded)
        if bare:
            raise InputError(f"{', '.join(bare)}: no runs there; benchyard run makes them")
    each = {folder.resolve(): (case, folder) for case, folder in found}.values()
    chosen = [(c, place) for c, folder in each for place in chosen_campaigns(folder, campaign)]
    return chosen, loaded


def _case(folder: Path, title: str) -> Case:
    """Return a case of which only its results are known."""
    return Case(folder, id="", name=title, description="", steps=())


def _targets(item: Loaded, selection: Selection) -> Iterator[tuple[Case, Path]]:
    """Yield cases with their results folders; of an invalid case, those with runs."""
    if not item.problems:
        yield from ((case, selection.results_of(case)) for case in item.cases)
        return
    case = _case(item.file.parent, item.name)
    folder = selection.results_of(case)
    if has_runs(folder):
        yield case, folder
    # Points of a matrix that cannot be read any more: their folders tell which they were.
    for point in sorted(folder.iterdir()) if folder.is_dir() else ():
        if has_runs(point):
            yield replace(case, name=f"{case.name}[{point.name}]"), point


def open_file(place: Path) -> dict[str, RunSet] | None:
    """See ``other_files.open_file``; imports the formats of other tools only for a file."""
    from benchyard.cli import other_files  # noqa: PLC0415 - 0.2 s

    return other_files.open_file(place)


def file_sources(selection: Selection) -> tuple[list[CaseFolder], Selection]:
    """Return the runs in those named files that are packs, or of other tools; and what is left."""
    opened = {text: open_file(Path(text)) for text in selection.cases if isfile(text)}  # noqa: PTH113 - Path raises for a name that is too long
    sources = [
        CaseFolder(name, name, {}, runs.folder, runs.records)
        for found in opened.values()
        for title, runs in (found or {}).items()
        for name in [runs.folder.name if runs.folder.is_file() else title]
    ]
    return sources, replace(selection, cases=[t for t in selection.cases if not opened.get(t)])


def has_runs(folder: Path) -> bool:
    """Tell whether finished runs lie in a folder, ours or KROWN's."""
    return bool(Results(folder).marked() or krown_runs(folder))


def _holds_no_case(text: str) -> bool:
    """Tell whether a text names a folder with results and no case."""
    return isdir(text) and not any(find_metadata(Path(text)))  # noqa: PTH112 - Path raises for a name that is too long
