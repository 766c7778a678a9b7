"""Files that a subject is made of: stamps, digests of their contents, and the code of classes."""

import ast
import glob
import hashlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from benchyard.case.resource import Resource
from benchyard.core.errors import InputError
from benchyard.core.files import sha256
from benchyard.core.model import Case, Json, JsonObject

#: Top-level packages that come with the lab itself: no user's class is told by them.
OWN_PACKAGES = frozenset({"benchyard", "resources", "tasks", "flows"})
#: Folders that package managers fill.
INSTALLED = frozenset({"site-packages", "dist-packages"})
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,80}")
_SCRIPT = re.compile(r"[A-Za-z0-9_.-]{1,80}\.py")


@dataclass(frozen=True, slots=True)
class Code:
    """The code of one class.

    Args:
        files: Its modules, and those beside them that these import, sorted.
        packages: Top-level packages from elsewhere that they import, without Python's own.
    """

    files: tuple[Path, ...]
    packages: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Digest of the names and contents of all files; read anew each time."""
        # The same code in another checkout is the same code, wherever that lies.
        lines = sorted(f"{file.parent.name}/{file.name}\0{sha256(file)}\n" for file in self.files)
        whole = hashlib.sha256("".join(lines).encode(errors="surrogateescape"))
        return f"sha256:{whole.hexdigest()}"


@cache
def code_of(resource: type[Resource[Any]]) -> Code:
    """Return where the code of a class stands: as it was when it was asked for first."""
    todo = sorted(_modules_of(resource))
    files: dict[Path, None] = {}
    packages: set[str] = set()
    while todo:
        file = todo.pop()
        if file in files:
            continue
        files[file] = None
        beside, elsewhere = _imports(file)
        todo += beside
        packages |= elsewhere
    return Code(tuple(sorted(files)), tuple(sorted(packages)))


def _modules_of(resource: type[Resource[Any]]) -> Iterator[Path]:
    for base in resource.__mro__:
        module = sys.modules.get(base.__module__)
        top = base.__module__.partition(".")[0]
        if module is None or top == "benchyard" or top in sys.stdlib_module_names:
            continue
        source = inspect.getsourcefile(module)
        if source is not None and Path(source).is_file():
            yield Path(source).resolve()


def _imports(file: Path) -> tuple[list[Path], set[str]]:
    """Return the files beside a module that it imports or names, and other packages' names."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return [], set()
    root, package = _package_of(file)
    beside: list[Path] = []
    elsewhere: set[str] = set()
    for name in _imported(tree, package):
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or (top in OWN_PACKAGES and top not in package[:1]):
            continue
        # Beside an installed package lie all others that are installed.
        found = [] if root.name in INSTALLED and top not in package[:1] else _files_of(name, root)
        beside += found
        if not found and top not in package[:1]:
            elsewhere.add(top)
    return [*beside, *_named(tree, file.parent)], elsewhere


def _package_of(file: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the folder that a module's name is counted from, and its package's name."""
    folder, package = file.parent, list[str]()
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        package.insert(0, folder.name)
        folder = folder.parent
    return folder, tuple(package)


def _imported(tree: ast.Module, package: tuple[str, ...]) -> Iterator[str]:
    """Yield the full names of modules, and of what may be one, that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = (*above, *filter(None, [node.module]))
            if base:
                yield ".".join(base)
            if node.level or base[:1] == package[:1]:
                yield from (".".join((*base, alias.name)) for alias in node.names)


def _files_of(name: str, root: Path) -> list[Path]:
    """Return the file of a module below a folder, with its packages' ``__init__``; or nothing."""
    place = root.joinpath(*name.split("."))
    file = next(
        (one for one in (place.with_suffix(".py"), place / "__init__.py") if one.is_file()), None
    )
    if file is None:
        return []
    parents = [up / "__init__.py" for up in file.relative_to(root).parents if up != Path()]
    return [file.resolve(), *(found.resolve() for up in parents if (found := root / up).is_file())]


def _named(tree: ast.Module, folder: Path) -> Iterator[Path]:
    """Yield the scripts that a module may start, and the modules that it may import, by name.

    Scripts lie beside it or one folder below, modules beside it.
    """
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = sorted({text for text in constants if isinstance(text, str)})
    for text in texts:
        if _SCRIPT.fullmatch(text):
            yield from (found.resolve() for found in _beside(folder, text) if found.is_file())
        elif _MODULE.fullmatch(text) and (module := folder / f"{text}.py").is_file():
            yield module.resolve()


def _beside(folder: Path, name: str) -> Iterable[Path]:
    try:
        return [folder / name, *sorted(folder.glob(f"*/{name}"))]
    except (OSError, ValueError):
        return []


#: Size, modification and change time, and inode of a file. Writing to it changes one of them even
#: if the modification time is set back; so does another name or mode.
Stamp = tuple[int, int, int, int]


def stamps(inputs: Path) -> dict[str, Stamp]:
    """Return the stamp of each input by its name below ``inputs``."""
    if not inputs.is_dir():
        return {}
    return {str(f.relative_to(inputs)): stamp(f) for f in inputs_below(inputs)}


def inputs_below(inputs: Path) -> Iterator[Path]:
    """Yield every input in sorted order, none if there is no folder.

    Links are followed, those to folders once and only to places outside: a run sees them too.
    """
    inside, seen = os.path.realpath(inputs), set[str]()
    for parent, folders, files in os.walk(inputs, followlinks=True):
        yield from (Path(parent, name) for name in sorted(files) if Path(parent, name).is_file())
        folders[:] = [name for name in sorted(folders) if _leads_on(parent, name, inside, seen)]


def _leads_on(parent: str, name: str, inside: str, seen: set[str]) -> bool:
    path = Path(parent, name)
    if not path.is_symlink():
        return True
    target = os.path.realpath(path)
    new = target not in seen and not f"{target}/".startswith(f"{inside}/")
    seen.add(target)
    return new


def stamp(file: Path) -> Stamp:
    """Return the values by which a change of a file is noticed.

    Raises:
        OSError: If it is not there.
    """
    status = file.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def content_hash(folder: Path, included: Iterable[Path] = ()) -> str:
    """Return a digest of a case: metadata.json and every input, names and contents.

    Args:
        folder: The case's.
        included: Further files that its steps stand in.
    """
    shared = folder / "data" / "shared"
    inputs = digests(shared, stamps(shared))
    named = declaration(folder, included)
    named |= {f"data/shared/{name}": found for name, found in inputs.items()}
    digest = hashlib.sha256()
    for name, found in named.items():
        coded = os.fsencode(name)
        digest.update(len(coded).to_bytes(8, "big") + coded + bytes.fromhex(found))
    return f"sha256:{digest.hexdigest()}"


def declaration(folder: Path, included: Iterable[Path] = ()) -> dict[str, str]:
    """Return the digests of the files that say what a case does, by their paths from it on."""
    named = sorted((os.path.relpath(file, folder), file) for file in included)
    files = {"metadata.json": folder / "metadata.json", **dict(named)}
    return {name: digest(file) for name, file in files.items()}


def digests(inputs: Path, seen: Mapping[str, Stamp]) -> Mapping[str, str]:
    """Return the digest of each input that was seen; each state of the files is read once."""
    return {name: _digest(inputs / name, found) for name, found in seen.items()}


def digest(file: Path) -> str:
    """Return the digest of a file; each state of it is read once.

    Raises:
        OSError: If it cannot be read.
    """
    return _digest(file, stamp(file))


@lru_cache(maxsize=65_536)
def _digest(file: Path, _seen: Stamp) -> str:
    return sha256(file)


#: Folders that no source file of a project is in.
_PRUNED = INSTALLED | {"node_modules", "__pycache__", ".git"}


def project_files(place: Path, without: Sequence[Path]) -> Iterator[Path]:
    """Yield the files of a project at a place; caches and virtual environments are left out.

    Args:
        place: A folder, or one file.
        without: Folders that are left out as well: results.
    """
    if place.is_file():
        yield place
    for parent, folders, files in os.walk(place):
        folders[:] = (name for name in folders if not _is_pruned(Path(parent, name), without))
        yield from (file for name in files if (file := Path(parent, name)).is_file())


def _is_pruned(folder: Path, without: Sequence[Path]) -> bool:
    return folder.name in _PRUNED or folder in without or (folder / "pyvenv.cfg").is_file()


def digest_of_files(files: Iterable[Path], folder: Path) -> str:
    """Return one digest of files, by their names from a folder on and their contents."""
    lines = sorted(f"{os.path.relpath(file, folder)}\0{digest(file)}\n" for file in files)
    whole = hashlib.sha256("".join(lines).encode(errors="surrogateescape"))
    return f"sha256:{whole.hexdigest()}"


def declared_files(case: Case, without: Sequence[Path]) -> dict[str, JsonObject]:
    """Return the digests of what a case declares as the measured program, by part and pattern.

    Args:
        without: Folders whose files are no part of it: results.

    Raises:
        InputError: If a pattern matches no file.
    """
    patterns = {"files": case.files, "build": case.build}
    return {
        part: {name: _digest_at(case, part, name, without) for name in names}
        for part, names in patterns.items()
    }


def _digest_at(case: Case, part: str, pattern: str, without: Sequence[Path]) -> Json:
    root = case.root
    places = [root / name for name in glob.glob(pattern, root_dir=root, recursive=True)]  # noqa: PTH207 - Path.glob takes no absolute pattern
    files = {
        file
        for place in places
        if not any(_is_pruned(up, without) for up in place.parents if root in up.parents)
        for file in project_files(place, without)
    }
    if not files:
        todo = "correct" if part == "files" else "build the program first, or correct"
        raise InputError(
            f"{case.title}: '{pattern}' matches no file in {root}; {todo} '{part}' under 'subject'"
        )
    return digest_of_files(files, root)
