"""In what a measured program or Python package stands: a repository, or an installed version."""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from benchyard.environment import work_tree_state
from benchyard.files import sha256
from benchyard.model import Json, JsonObject
from benchyard.subject.code import INSTALLED

#: Folders of what a package manager put there: their repository is not what is measured.
_INSTALLED = INSTALLED | {"node_modules"}
_PYTHON = re.compile(r"python[0-9.]*")
_IMPORT = re.compile(rb"^(?:from|import)\s+([A-Za-z_]\w*)", re.MULTILINE)
#: Scripts that begin a program of a Python package are shorter.
_LONGEST_SCRIPT = 65_536
_SECONDS = 5.0
_WHERE = """
import importlib.util, sys
found = importlib.util.find_spec(sys.argv[1])
places = [found.origin, *(found.submodule_search_locations or ())] if found else []
print(next((place for place in places if place and place != "built-in"), ""))
"""


def repository_state(file: Path) -> JsonObject | None:
    """Return the state of the repository that a file is part of; None if it was installed."""
    place = file.resolve()
    if _INSTALLED & set(place.parts) or any((up / "pyvenv.cfg").is_file() for up in place.parents):
        return None
    return work_tree_state(place if place.is_dir() else place.parent)


# -- programs


def program_facts(arguments: Sequence[str]) -> tuple[JsonObject, JsonObject]:
    """Return what the command line of a step measures.

    Args:
        arguments: The program and what follows it.

    Returns:
        Program to digest, and what led to a repository to that one's state.
    """
    programs: JsonObject = {}
    repositories: JsonObject = {}
    for file in _files_named(arguments):
        name = file.name
        if file.stat().st_mode & 0o111:
            programs[name] = _digest(file)
        repositories[f"program {name}"] = repository_state(file)
    for python, package in _python_packages(arguments):
        place = _place_of(python, package)
        if place is not None:
            repositories[f"package {package}"] = repository_state(place)
    return programs, {name: state for name, state in repositories.items() if state is not None}


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
    first, _, rest = _beginning(Path(program)).partition(b"\n")
    python = first.removeprefix(b"#!").strip().decode(errors="replace")
    if first.startswith(b"#!") and _PYTHON.fullmatch(Path(python).name):
        names = dict.fromkeys(name.decode() for name in _IMPORT.findall(rest))
        yield from ((python, name) for name in names if name not in sys.stdlib_module_names)


def _beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_LONGEST_SCRIPT)
    except OSError:
        return b""


def _place_of(python: str, package: str) -> Path | None:
    """Ask an interpreter where it would import a package from; nothing is imported."""
    if not package.isidentifier():
        return None
    try:
        said = subprocess.run(
            [python, "-c", _WHERE, package],
            cwd="/",  # what lies in the current folder is not what the step would import
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    place = Path(said.stdout.decode(errors="surrogateescape").strip() or "/")
    return place if place.exists() and place != Path("/") else None


# -- packages that a class imports


def package_facts(packages: Sequence[str]) -> tuple[JsonObject, JsonObject]:
    """Return what Python packages are: versions of installed ones, repositories of others."""
    versions: JsonObject = {}
    repositories: JsonObject = {}
    for package in packages:
        place = _imported_from(package)
        state = None if place is None else repository_state(place)
        if state is not None:
            repositories[f"package {package}"] = state
        else:
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
