"""From files to cases: every problem of every case at once, and no case hides another."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchyard.case.including import with_included
from benchyard.case.inspection import inspect
from benchyard.case.problems import Problem
from benchyard.case.reading import read_metadata
from benchyard.case.registry import Registry
from benchyard.core.errors import CaseError
from benchyard.core.model import Case, JsonObject

METADATA = "metadata.json"
#: Folders of a case that hold data or results, never cases.
_NOT_CASES = frozenset({"data", "results"})


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one metadata.json holds.

    Args:
        name: The name it gives itself, or its folder's name where it gives none.
        tags: As the file has them, also if something is wrong with it; None if it cannot be read.
        cases: One for each point of the matrix; empty if anything is wrong.
        problems: Everything that is wrong.
    """

    file: Path
    name: str
    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()
    tags: frozenset[str] | None = None


def find_metadata(root: Path) -> Iterator[Path]:
    """Yield every metadata.json below ``root`` in sorted order; links to folders are not followed.

    Data and results of a case are not searched, nor are hidden folders. A folder that cannot be
    listed yields its metadata.json too, so that it is reported and not passed over.
    """
    return (folder / METADATA for folder, is_case, _ in _walk(root) if is_case)


def linked_folders(root: Path) -> list[Path]:
    """Return the links to folders that ``find_metadata`` passes over."""
    return [link for _, _, links in _walk(root) for link in links]


def _walk(root: Path) -> Iterator[tuple[Path, bool, list[Path]]]:
    """Yield each folder, whether it may be a case, and the links to folders in it."""
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name, reverse=True)
        except PermissionError:
            yield folder, True, []  # reading its metadata.json will say why
            continue
        except OSError:
            continue
        is_case = any(entry.name == METADATA for entry in entries)
        below = [entry for entry in entries if _may_hold(entry, is_case=is_case)]
        yield folder, is_case, [Path(entry.path) for entry in below if entry.is_symlink()]
        folders += [Path(entry.path) for entry in below if not entry.is_symlink()]


def _may_hold(entry: "os.DirEntry[str]", *, is_case: bool) -> bool:
    """Tell whether cases may lie below an entry of a folder."""
    if entry.name.startswith(".") or entry.name == METADATA:
        return False
    if is_case and entry.name in _NOT_CASES:
        return False
    return Path(entry.path).is_dir() if entry.is_symlink() else entry.is_dir()


def load_all(files: Iterable[Path], registry: Registry, *, accepting: bool = False) -> list[Loaded]:
    """Load every file; see ``load``."""
    return [load(file, registry, accepting=accepting) for file in files]


def load(file: Path, registry: Registry, *, accepting: bool = False) -> Loaded:
    """Load one metadata.json and check it against the schema, the resources and its files.

    Args:
        accepting: Whether files with expected answers may lack, since they are about to be written.

    Returns:
        The cases, or the problems: never both.
    """
    read = read_metadata(file)
    if isinstance(read, Problem):
        return Loaded(file, file.parent.name, problems=(read,))
    included = with_included(file, read)
    document = included.document
    name = document.get("name")
    title = name if isinstance(name, str) and name.strip() else file.parent.name
    tags = _tags(document)
    if included.problems:
        return Loaded(file, title, (), included.problems, tags)
    cases, found = inspect(document, file.parent, registry, accepting=accepting)
    problems = tuple(dict.fromkeys(included.problem(file, finding) for finding in found))
    both = {"included": included.files, "points": len(cases)}
    made = () if problems else tuple(replace(case, **both) for case in cases)
    return Loaded(file, title, made, problems, tags)


def _tags(document: JsonObject) -> frozenset[str]:
    """Read the tags of a document that may be wrong in every way."""
    tags = document.get("tags")
    return (
        frozenset(tag for tag in tags if isinstance(tag, str))
        if isinstance(tags, list)
        else frozenset()
    )


def raise_problems(loaded: Iterable[Loaded]) -> None:
    """Raise all problems of all cases as one error.

    Raises:
        CaseError: If there is any.
    """
    # What is wrong in a file that several cases include is told once.
    problems = dict.fromkeys(str(problem) for item in loaded for problem in item.problems)
    if problems:
        raise CaseError([*problems])
