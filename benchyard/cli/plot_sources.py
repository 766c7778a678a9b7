"""Whose results ``plot`` shows: cases, points of a matrix, folders, some of their runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchyard.analysis.comparison.run_sets import (
    RunSet,
    Selection,
    parse_selection,
    read_run_sets,
)
from benchyard.case.loading import raise_problems
from benchyard.cli.common import cases_of, load_selected, results_of
from benchyard.cli.trace_sources import Where
from benchyard.core.errors import InputError
from benchyard.core.files import shown
from benchyard.core.wording import printable
from benchyard.results.folders import Results


def run_sets_of(wanted: Sequence[str], where: Where) -> tuple[list[tuple[str, RunSet]], list[str]]:
    """Read what is wanted, each set of runs once.

    Args:
        wanted: Cases, results folders, or ``FOLDER@1-5``; none takes all cases below the root.

    Returns:
        What was written and a set of runs, in order; and the cases that have none yet.

    Raises:
        InputError: If there is no such thing, or there are no runs at all.
    """
    found: dict[tuple[Path, tuple[int, ...]], tuple[str, RunSet]] = {}
    empty: list[str] = []
    for text in wanted or [None]:
        for selection in _selections(text, where, empty):
            for run_set in read_run_sets(selection).values():
                key = run_set.folder.resolve(), run_set.numbers
                found.setdefault(key, (text or shown(run_set.folder), run_set))
    if not found:
        cases = printable(", ".join(empty[:5])) or shown(where.root)
        raise InputError(f"there is no run of {cases} yet; benchyard run makes them")
    return list(found.values()), empty


def _selections(text: str | None, where: Where, empty: list[str]) -> Iterator[Selection]:
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
            yield Selection(folder)
        else:
            empty.append(case.title)
