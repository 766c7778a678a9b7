"""Which results folders a selected case has, also one that cannot be executed here."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchyard.case.loading import Loaded, find_metadata
from benchyard.cli.common import Selection
from benchyard.core.model import Case
from benchyard.results.folders import Results
from benchyard.results.krown import krown_runs


def targets(item: Loaded, selection: Selection) -> Iterator[tuple[Case, Path]]:
    """Yield cases with their results folders; of an invalid case, those with runs."""
    if not item.problems:
        yield from ((case, selection.results_of(case)) for case in item.cases)
        return
    case = Case(item.file.parent, id="", name=item.name, description="", steps=())
    folder = selection.results_of(case)
    if has_runs(folder):
        yield case, folder
    # Points of a matrix that cannot be read any more: their folders tell which they were.
    for point in sorted(folder.iterdir()) if folder.is_dir() else ():
        if has_runs(point):
            yield replace(case, name=f"{case.name}[{point.name}]"), point


def has_runs(folder: Path) -> bool:
    """Tell whether finished runs lie in a folder, ours or KROWN's."""
    return bool(Results(folder).marked() or krown_runs(folder))


def holds_no_case(text: str) -> bool:
    """Tell whether a text names a folder with results and no case."""
    try:
        folder = Path(text)
        return folder.is_dir() and not any(find_metadata(folder))
    except (OSError, ValueError):  # too long for a path, and maybe a name
        return False
