"""Whose results ``plot`` shows: cases, points of a matrix, folders, some of their runs."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchyard.analysis.comparison.run_sets import (
    RunSelection,
    RunSet,
    parse_selection,
    read_run_sets,
    results_folders,
)
from benchyard.case.loading import raise_problems
from benchyard.case.selection import likely_title
from benchyard.cli.common import cases_of, load_selected, results_of
from benchyard.cli.trace_sources import CasePlaces
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.wording import printable, some
from benchyard.results.folders import Results
from benchyard.results.krown import krown_runs
from benchyard.results.krown_reading import read_results

#: Cases without runs that are named.
_LISTED = 5


def run_sets_of(
    wanted: Sequence[str], where: CasePlaces
) -> tuple[list[tuple[str, RunSet]], list[str]]:
    """Read what is wanted, each set of runs once.

    Args:
        wanted: Cases, results folders, or ``FOLDER@1-5``; none takes all cases below the root.

    Returns:
        What was written and a set of runs, in order; and sentences about what is not there.

    Raises:
        InputError: If there is no such thing, or there are no runs at all.
    """
    found: dict[tuple[Path, tuple[int, ...]], tuple[str, RunSet]] = {}
    empty: list[str] = []
    notes: list[str] = []
    for text in wanted or [None]:
        for selection in _selections(text, where, empty):
            for run_set in _read(selection, where.root, notes):
                key = run_set.folder.resolve(), run_set.numbers
                found.setdefault(key, (text or shown(run_set.folder), run_set))
    cases = some(empty, _LISTED)
    if not found:
        where_to = printable(cases) or shown(where.root)
        raise InputError(f"there is no run of {where_to} yet; benchyard run makes them")
    return list(found.values()), [*([f"No finished run: {cases}."] if empty else []), *notes]


def _read(selection: RunSelection, root: Path, notes: list[str]) -> Iterable[RunSet]:
    folders = results_folders(selection.folder)
    if folders and selection.runs is None and all(map(_is_krowns, folders)):
        return [_krowns(folder, root, notes) for folder in folders]
    return read_run_sets(selection).values()


def _is_krowns(folder: Path) -> bool:
    recorded = any(run.record.is_file() for run in Results(folder).runs().values())
    return not recorded and bool(krown_runs(folder))


def _krowns(folder: Path, root: Path, notes: list[str]) -> RunSet:
    """Read runs that KROWN made, as ``benchyard stats`` does."""
    title = likely_title(root, str(folder.parent))
    made = read_results(title, folder)
    notes += [*made.warnings, *map(str, made.unreadable.values())]
    records = tuple(record for _, record in made.runs)
    if not records:
        raise InputError(
            f"{shown(folder)}: no run of KROWN's can be read; benchyard stats says why"
        )
    return RunSet(title, folder, records, made.unfinished)


def _selections(text: str | None, where: CasePlaces, empty: list[str]) -> Iterator[RunSelection]:
    """Yield the results that a text means; note the cases that have none."""
    if text is not None and where.results is None:
        try:
            selection = parse_selection(text)
        except InputError:
            if "@" in text and not text.endswith("]"):
                raise
        else:
            yield selection
            return
    _, loaded = load_selected(
        where.root, [] if text is None else [text], (), where.resource_folders
    )
    if not cases_of(loaded):
        raise_problems(loaded)
    for case in cases_of(loaded):
        folder = results_of(case, where.root, where.results)
        if Results(folder).recorded():
            yield RunSelection(folder)
        else:
            empty.append(case.title)
