"""Which cases the user means: paths, names, globs, points of a matrix, tags."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path

from benchyard.case.loading import METADATA, Loaded, find_metadata, load_all, raise_problems
from benchyard.case.reading import read_metadata
from benchyard.case.registry import Registry
from benchyard.core.errors import InputError
from benchyard.core.model import Case, point_suffix
from benchyard.core.wording import hint

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
    every = _Lazy(root, folders, load_these)
    found: dict[Path, Loaded] = {}
    for text in wanted:
        for loaded in _select(text, every, load_these):
            earlier = found.get(loaded.file)
            found[loaded.file] = loaded if earlier is None else _join(earlier, loaded)
    chosen = list(found.values()) if wanted else every.all()
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


class _Lazy:
    """All cases below the root's folders, loaded when a name makes it necessary."""

    def __init__(self, root: Path, folders: Sequence[Path], load_these: _LoadAll) -> None:
        self.root = root
        self._folders = folders
        self._load_these = load_these
        self._loaded: list[Loaded] | None = None

    def all(self) -> list[Loaded]:
        if self._loaded is None:
            found = (find_metadata(folder.resolve()) for folder in self._folders)
            self._loaded = self._load_these(sorted(set(chain.from_iterable(found))))
        return self._loaded


def _matching(pattern: Path) -> list[Path]:
    start = Path(pattern.anchor)
    return [path for path in start.glob(str(pattern.relative_to(start))) if path.is_dir()]


def _select(text: str, every: _Lazy, load_these: _LoadAll) -> list[Loaded]:
    if not text.strip():
        raise InputError("an empty text selects no case; leave it out to have all")
    place, point = _split(text)
    path = _path_of(place, every.root)
    if _exists(path):
        found = load_these(_files_at(path))
        if not found:
            raise InputError(f"'{place}' holds no {METADATA}; name a folder with cases")
    else:
        found = [_named(loaded, text) for loaded in every.all()]
        found = [item for item in found if item is not None]
        point = ""
    chosen = [_at_point(item, point) for item in found]
    chosen = [item for item in chosen if item is not None]
    if not chosen:
        titles = [title for item in every.all() for title in _titles(item)]
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
