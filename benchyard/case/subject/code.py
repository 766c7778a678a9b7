"""The code of resource classes: which files it stands in, and which packages it uses."""

import ast
import hashlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchyard.case.resource import Resource
from benchyard.core.files import sha256

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
