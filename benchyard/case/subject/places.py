"""Where a measured program or Python package comes from: a repository, or an installed version."""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from benchyard.case.subject.code import INSTALLED
from benchyard.core.files import sha256
from benchyard.core.model import Json, JsonObject
from benchyard.host.facts import work_tree_state

#: Folders of what a package manager put there: their repository is not what is measured.
_INSTALLED = INSTALLED | {"node_modules"}
_PYTHON = re.compile(r"python[0-9.]*")
#: A program of a Python package whose interpreter's path is too long for the first line.
_LONG_PATH = re.compile(rb"'''exec' \"?([^\s\"]+)")
_IMPORT = re.compile(rb"^(?:from|import)\s+([A-Za-z_]\w*)", re.MULTILINE)
#: Scripts that begin a program of a Python package are shorter.
_LONGEST_SCRIPT = 65_536
_SECONDS = 5.0
_WHERE = """
import importlib.util, sys
from importlib import metadata
name = sys.argv[1]
found = importlib.util.find_spec(name)
places = [found.origin, *(found.submodule_search_locations or ())] if found else []
print(next((place for place in places if place and place != "built-in"), ""))
for one in (name, *metadata.packages_distributions().get(name, ())):
    try:
        print(metadata.version(one))
        break
    except metadata.PackageNotFoundError:
        pass
"""
#: Of what is known to stand in no repository.
_NO_REPOSITORY: JsonObject = {"commit": "none", "changes": "none"}


def repository_state(file: Path, without: Sequence[Path] = ()) -> JsonObject | None:
    """Return the state of the repository that a file is part of.

    Args:
        without: Folders whose files are no part of what is measured: results.

    Returns:
        "none" for both members if the file was installed; None if nobody knows.
    """
    for place in (file, file.resolve()):
        places = [place, *place.parents]
        if _INSTALLED & set(place.parts) or any(map(_is_managed, places)):
            return dict(_NO_REPOSITORY)
    return work_tree_state(place if place.is_dir() else place.parent, without)


def _is_managed(folder: Path) -> bool:
    """Tell a virtual environment, and the checkout of a manager of versions such as ~/.pyenv."""
    hidden = folder.name.startswith(".")
    return (folder / "pyvenv.cfg").is_file() or (hidden and (folder / ".git").exists())


class Programs:
    """The programs on the command lines of a case's steps; each is looked at once.

    Args:
        without: Folders whose files are no part of what is measured.
    """

    def __init__(self, without: Sequence[Path] = ()) -> None:
        self._without = without
        self._lines: set[tuple[str, ...]] = set()
        self._files: dict[Path, None] = {}
        self._packages: dict[tuple[str, str], None] = {}

    def add(self, arguments: Sequence[str]) -> None:
        """Take in a program and what follows it."""
        line = tuple(arguments)
        if line not in self._lines:
            self._lines.add(line)
            self._files |= dict.fromkeys(_files_named(line))
            self._packages |= dict.fromkeys(_python_packages(line))

    def facts(self) -> tuple[JsonObject, JsonObject, JsonObject]:
        """Return programs with their digests, packages with versions, and repositories."""
        programs: JsonObject = {}
        packages: JsonObject = {}
        repositories: JsonObject = {}
        paths = [str(file) for file in self._files]
        for file, name in zip(self._files, _names(paths), strict=True):
            if file.stat().st_mode & 0o111:
                programs[name] = _digest(file)
            if not _PYTHON.fullmatch(file.name):  # of an interpreter only its digest is meant
                repositories[f"program {name}"] = _known(repository_state(file, self._without))
        for python, package in self._packages:
            place, version = _place_of(python, package)
            if place is not None:
                state = repository_state(place, self._without)
                repositories[f"package {package}"] = state
                packages |= {package: version} if version and _known(state) is None else {}
        return programs, packages, {n: state for n, state in repositories.items() if state}


def _known(state: JsonObject | None) -> JsonObject | None:
    return None if state == _NO_REPOSITORY else state


def _names(paths: Sequence[str]) -> list[str]:
    """Return the names of files, with their folders where two have one name."""
    names = [path.rpartition("/")[2] for path in paths]
    both = zip(paths, names, strict=True)
    return [path if names.count(name) > 1 else name for path, name in both]


def _files_named(arguments: Sequence[str]) -> Iterator[Path]:
    """Yield the program, and files that absolute paths behind it name: it may start those."""
    program = shutil.which(arguments[0]) if arguments else None
    if program is not None:
        yield Path(program)
    for argument in arguments[1:]:
        if argument.startswith("/") and _is_file(argument):
            yield Path(argument)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _digest(file: Path) -> Json:
    try:
        return f"sha256:{sha256(file)}"
    except OSError:
        return None


def _python_packages(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield interpreter and top-level package of a program that is a Python package's."""
    program = shutil.which(arguments[0]) if arguments else None
    if program is None:
        return
    if _PYTHON.fullmatch(Path(program).name):
        if "-m" in arguments[1:-1]:
            yield program, arguments[arguments.index("-m") + 1].partition(".")[0]
        return
    content = _beginning(Path(program))
    python = _interpreter(content)
    if python is not None:
        names = dict.fromkeys(name.decode() for name in _IMPORT.findall(content))
        yield from ((python, name) for name in names if name not in sys.stdlib_module_names)


def _interpreter(script: bytes) -> str | None:
    """Return the Python that a script's first lines name; None if it is no script of Python."""
    first, _, rest = script.partition(b"\n")
    words = first.removeprefix(b"#!").decode(errors="replace").split()
    if not first.startswith(b"#!") or not words:
        return None
    if words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    elif words[0] == "/bin/sh" and (found := _LONG_PATH.match(rest)):
        words = [found[1].decode(errors="surrogateescape")]
    python = shutil.which(words[0]) if words else None
    return python if python is not None and _PYTHON.fullmatch(Path(python).name) else None


def _beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_LONGEST_SCRIPT)
    except OSError:
        return b""


def _place_of(python: str, package: str) -> tuple[Path | None, str | None]:
    """Ask an interpreter where it would import a package from, and its distribution's version.

    The package is not imported.
    """
    if not package.isidentifier():
        return None, None
    try:
        said = subprocess.run(
            [python, "-c", _WHERE, package],
            cwd="/",  # what lies in the current folder is not what the step would import
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None, None
    where, _, version = said.stdout.decode(errors="surrogateescape").partition("\n")
    place = Path(where.strip() or "/")
    known = place.exists() and place != Path("/")
    return (place if known else None), version.strip() or None


# -- packages that a class imports


def package_facts(
    packages: Sequence[str], without: Sequence[Path] = ()
) -> tuple[JsonObject, JsonObject]:
    """Return what Python packages are: versions of installed ones, repositories of all."""
    versions: JsonObject = {}
    repositories: JsonObject = {}
    for package in packages:
        place = _imported_from(package)
        state = None if place is None else repository_state(place, without)
        if state is not None:
            repositories[f"package {package}"] = state
        if _known(state) is None:
            versions |= _versions_of(package)
    return versions, repositories


def _imported_from(package: str) -> Path | None:
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    places = [found.origin, *(found.submodule_search_locations or ())] if found else []
    return next((Path(place) for place in places if place and Path(place).exists()), None)


def _versions_of(package: str) -> Mapping[str, Json]:
    for name in _distributions_of(package):
        try:
            return {name: importlib.metadata.version(name)}
        except importlib.metadata.PackageNotFoundError:
            continue
    return {}


def _distributions_of(package: str) -> Iterator[str]:
    yield package
    yield from _by_package().get(package, ())  # reads all there are: only where the name differs


@cache
def _by_package() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()
