"""From files to cases: every problem of every case at once, and no case hides another.

The user means cases by paths, names, globs, points of a matrix, tags.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import chain
from pathlib import Path

from benchyard.case.including import with_included
from benchyard.case.inspection import inspect
from benchyard.case.problems import Problem
from benchyard.case.reading import read_metadata
from benchyard.case.registry import Registry
from benchyard.core.errors import CaseError, InputError
from benchyard.core.model import Case, JsonObject, point_suffix
from benchyard.core.wording import hint

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


#: As ``load_all``, for an installation.
_LoadAll = Callable[[Iterable[Path]], list[Loaded]]


def find_cases(
    root: Path,
    wanted: Sequence[str],
    tags: Sequence[str],
    registry: Registry,
    *,
    accepting: bool = False,
) -> list[Loaded]:
    """Load the cases that the user selects; without a selection all below ``root``.

    Args:
        root: Folder that names and globs are looked for in; or a glob over folders.
        wanted: Each a folder with cases below it, a metadata.json, a name, or a glob over names;
            ``[scale=0.1]`` behind it takes one point of a matrix.
        tags: Only cases with all of these.
        accepting: Whether files with expected answers may lack, as ``load`` takes it.

    Raises:
        InputError: If something selects nothing.
    """
    folders = [root] if root.is_dir() else _matching(root)
    if not folders:
        raise InputError(f"there is no folder '{root}'; give --root a folder with cases")
    load_these = partial(load_all, registry=registry, accepting=accepting)

    @cache
    def every() -> list[Loaded]:
        below = (find_metadata(folder.resolve()) for folder in folders)
        return load_these(sorted(set(chain.from_iterable(below))))

    found: dict[Path, Loaded] = {}
    for text in wanted:
        for loaded in _select(text, root, every, load_these):
            earlier = found.get(loaded.file)
            found[loaded.file] = loaded if earlier is None else _join(earlier, loaded)
    chosen = list(found.values()) if wanted else every()
    return _tagged(chosen, tags) if tags else chosen


def one_case(root: Path, wanted: str, registry: Registry) -> Case:
    """Return the single case that a text selects.

    Raises:
        CaseError: If it is invalid.
        InputError: If it selects none or several.
    """
    loaded = find_cases(root, [wanted], (), registry)
    raise_problems(loaded)
    cases = [case for item in loaded for case in item.cases]
    if len(cases) != 1:
        titles = ", ".join(case.title for case in cases)
        raise InputError(f"'{wanted}' means {len(cases)} cases ({titles}); name one of them")
    return cases[0]


def likely_title(root: Path, wanted: str) -> str:
    """Return the title of the case that a text selects, without looking whether it is valid.

    Returns:
        The text as it is where it names no case by its folder.
    """
    place, point = _split(wanted)
    path = _path_of(place, root)
    file = path if path.name == METADATA else path / METADATA
    document = read_metadata(file) if _exists(file) else None
    name = document.get("name") if isinstance(document, dict) else None
    return f"{name}{point}" if isinstance(name, str) and name.strip() else wanted


def _matching(pattern: Path) -> list[Path]:
    start = Path(pattern.anchor)
    return [path for path in start.glob(str(pattern.relative_to(start))) if path.is_dir()]


def _select(
    text: str, root: Path, every: Callable[[], list[Loaded]], load_these: _LoadAll
) -> list[Loaded]:
    if not text.strip():
        raise InputError("an empty text selects no case; leave it out to have all")
    place, point = _split(text)
    path = _path_of(place, root)
    if _exists(path):
        found = load_these(_files_at(path))
        if not found:
            raise InputError(f"'{place}' holds no {METADATA}; name a folder with cases")
    else:
        found = [_named(loaded, text) for loaded in every()]
        found = [item for item in found if item is not None]
        point = ""
    chosen = [_at_point(item, point) for item in found]
    chosen = [item for item in chosen if item is not None]
    if not chosen:
        titles = [title for item in every() for title in _titles(item)]
        raise InputError(f"no case is '{text}'{hint(text, titles[:1000], 1000)}")
    return chosen


def _path_of(place: str, root: Path) -> Path:
    """Return a path as the shell sees it, else as it stands in a listing of the root."""
    return Path(place) if _exists(Path(place)) else root / place


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long for a path, and maybe a name
        return False


def _files_at(path: Path) -> Iterable[Path]:
    if path.is_dir() and path.name != METADATA:
        return find_metadata(path.resolve())
    return [path.resolve()]


def _split(text: str) -> tuple[str, str]:
    """Split ``cases/tpch[scale=0.1]`` into place and point, unless the whole is a path."""
    if text.endswith("]") and "=" in text and not _exists(Path(text)):
        # A value may hold brackets too: the first split whose left part is a path is meant.
        cuts = [place for place, letter in enumerate(text) if letter == "["]
        paths = [cut for cut in cuts if _exists(Path(text[:cut]))]
        cut = (paths or cuts or [len(text)])[0]
        return text[:cut], text[cut:]
    return text, ""


def _at_point(loaded: Loaded, point: str) -> Loaded | None:
    if not point or loaded.problems:
        return loaded
    cases = tuple(case for case in loaded.cases if point_suffix(case.point) == point)
    return Loaded(loaded.file, loaded.name, cases) if cases else None


def _named(loaded: Loaded, text: str) -> Loaded | None:
    """Take the cases whose name or title is ``text`` or matches it as a glob."""
    if loaded.problems:
        return loaded if loaded.name == text or fnmatchcase(loaded.name, text) else None
    cases = tuple(case for case in loaded.cases if _matches(case, text))
    return Loaded(loaded.file, loaded.name, cases) if cases else None


def _matches(case: Case, text: str) -> bool:
    names = (case.name, case.title)
    return text in names or any(fnmatchcase(name, text) for name in names)


def _titles(loaded: Loaded) -> list[str]:
    return [case.title for case in loaded.cases] or [loaded.name]


def _join(first: Loaded, second: Loaded) -> Loaded:
    there = {case.title for case in first.cases}
    cases = first.cases + tuple(c for c in second.cases if c.title not in there)
    return Loaded(first.file, first.name, cases, first.problems)


def _tagged(loaded: Iterable[Loaded], tags: Sequence[str]) -> list[Loaded]:
    """Keep cases with all tags; an invalid one too, and one that cannot be read to know."""
    kept = [
        replace(item, cases=tuple(c for c in item.cases if set(tags) <= set(c.tags)))
        for item in loaded
        if item.cases or item.tags is None or set(tags) <= item.tags
    ]
    chosen = [item for item in kept if item.cases or item.problems]
    if not any(item.cases or item.tags is not None for item in chosen):
        raise InputError(f"no selected case has the tag {' and '.join(map(repr, tags))}")
    return chosen
