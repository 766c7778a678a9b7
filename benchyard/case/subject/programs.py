"""The programs that steps start: their digests, shared objects, environments and repositories."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from benchyard.case.subject.contents import INSTALLED, Stamp, digest, stamp
from benchyard.case.subject.environments import (
    Environment,
    Variables,
    imported,
    installed,
    search_path,
)
from benchyard.core.model import Json, JsonObject
from benchyard.host.facts import work_tree_state

_PYTHON = re.compile(r"(python|pypy)[0-9.]*")
#: A program of a Python package whose interpreter's path is too long for the first line.
_LONG_PATH = re.compile(rb"'''exec' \"?([^\s\"]+)")
_IMPORT = re.compile(rb"^(?:from|import)\s+([A-Za-z_]\w*)", re.MULTILINE)
#: The loader that an ELF file names in its first bytes: glibc's, or musl's.
_LOADER = re.compile(rb"/[\w./+-]*/ld-[\w.-]+")
_MAPPED = re.compile(r"^\s*(\S+) => (/.*) \(0x", re.MULTILINE)
#: Folders of what a package manager put there: their repository is not what is measured.
_INSTALLED = INSTALLED | {"node_modules"}
#: Of what is known to stand in no repository.
_NO_REPOSITORY: JsonObject = {"commit": "none", "changes": "none"}
#: Bytes of a program that are read: scripts that begin a Python package are shorter.
_BEGINNING = 65_536
_SECONDS = 5.0


class CommandLine(NamedTuple):
    """A program and its arguments.

    Args:
        resource: Name of the resource that starts it.
        variables: Added to the lab's environment.
    """

    resource: str
    arguments: tuple[str, ...]
    variables: Variables = ()


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


def program_facts(
    lines: Iterable[CommandLine],
    imports: Iterable[str],
    shared: Path,
    without: Sequence[Path] = (),
) -> dict[str, JsonObject]:
    """Return what a case starts and imports, as the parts of a subject.

    Args:
        lines: The command lines of its steps.
        imports: Top-level packages that its classes import, into the lab's own process.
        shared: The inputs: programs may be among them.
        without: Folders whose files are no part of what is measured.

    Returns:
        ``programs``, ``libraries``, ``packages``, ``environments``, ``repositories``.
    """
    files = {line: [*_files_named(line.arguments, shared)] for line in lines}
    paths = [*dict.fromkeys(file for named in files.values() for file in named)]
    named = dict(zip(_names([str(path) for path in paths]), paths, strict=True))
    # Of an interpreter only its digest is meant.
    states = {
        f"program {name}": repository_state(file, without)
        for name, file in named.items()
        if not _PYTHON.fullmatch(file.name)
    }
    environments: dict[str, dict[str, str]] = {}
    packages: JsonObject = {}
    for (python, variables), uses in _pythons(files, imports).items():
        folders = search_path(python, variables)
        environment = installed(folders, without)
        for resource in dict.fromkeys(resource for resource, _ in uses if resource and folders):
            _add(environment, environments.setdefault(resource, {}))
        for package in dict.fromkeys(package for _, package in uses if package):
            place = _place_of(folders, package)
            state = None if place is None else repository_state(place, without)
            states[f"package {package}"] = state
            if state in (None, _NO_REPOSITORY):
                packages |= _version_of(package, place, environment, folders)
    return {
        "programs": {name: _digest(f) for name, f in named.items() if os.access(f, os.X_OK)},
        "libraries": {
            name: objects for name, f in named.items() if (objects := _shared_objects(f))
        },
        "packages": packages,
        "environments": {name: {**versions} for name, versions in environments.items()},
        "repositories": {name: state for name, state in states.items() if state is not None},
    }


def _add(environment: Environment, versions: dict[str, str]) -> None:
    """Add an environment to others of a resource; where they differ it has both versions."""
    for name, version in environment.items():
        others = versions.get(name, version).split(" and ")
        versions[name] = " and ".join(sorted({version, *others}))


def python_variables(more: Mapping[str, Json]) -> Variables:
    """Return what Python heeds of the lab's environment and of further variables."""
    items = {**os.environ, **more}.items()
    return tuple(sorted((name, str(value)) for name, value in items if name.startswith("PYTHON")))


def _pythons(
    files: Mapping[CommandLine, Sequence[Path]], imports: Iterable[str]
) -> dict[tuple[str, Variables], list[tuple[str, str]]]:
    """Return each interpreter, with the resources and top-level packages that it is used for."""
    own = [("", name) for name in imports]
    found = {(sys.executable, python_variables({})): own} if own else {}
    for line, named in files.items():
        for file in named:
            if (python := _interpreter(file)) is not None:
                uses = found.setdefault((python, line.variables), [])
                uses += ((line.resource, name) for name in ("", *_packages(file, line.arguments)))
    return found


def _names(paths: Sequence[str]) -> list[str]:
    """Return the names of files, with their folders where two have one name."""
    names = [path.rpartition("/")[2] for path in paths]
    both = zip(paths, names, strict=True)
    return [path if names.count(name) > 1 else name for path, name in both]


def _files_named(arguments: Sequence[str], shared: Path) -> Iterator[Path]:
    """Yield the program, and what it may start: files by absolute path, and interpreters."""
    program, *others = arguments
    path = shutil.which(shared / program if "/" in program else program)
    if path is not None:
        yield Path(path)
    for argument in others:
        if argument.startswith("/") and os.path.isfile(argument):  # noqa: PTH113 - any text
            yield Path(argument)
        elif _PYTHON.fullmatch(argument) and (python := shutil.which(argument)):
            yield Path(python)


def _digest(file: Path) -> Json:
    try:
        return f"sha256:{digest(file)}"
    except OSError:
        return None


# -- shared objects


def _shared_objects(program: Path) -> JsonObject:
    """Return the digests of the shared objects that the loader maps for a program, by name."""
    try:
        objects = _mapped(program, stamp(program))
    except (OSError, subprocess.SubprocessError):
        return {}
    return {name: _digest(Path(file)) for name, file in sorted(objects)}


@lru_cache(maxsize=256)
def _mapped(program: Path, _seen: Stamp) -> tuple[tuple[str, str], ...]:
    """Let the loader list name and path of each; it executes nothing of the program."""
    content = _beginning(program)
    loader = _LOADER.search(content) if content.startswith(b"\x7fELF") else None
    if loader is None:
        return ()
    listed = subprocess.run(
        [loader[0].decode(), "--list", program], capture_output=True, timeout=_SECONDS, check=True
    )
    return tuple(_MAPPED.findall(listed.stdout.decode(errors="surrogateescape")))


# -- programs of Python


def _packages(file: Path, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the top-level packages that an interpreter or a script of one executes."""
    if _PYTHON.fullmatch(file.name):
        if "-m" in arguments[1:-1]:
            yield arguments[arguments.index("-m") + 1].partition(".")[0]
        return
    names = dict.fromkeys(name.decode() for name in _IMPORT.findall(_beginning(file)))
    yield from (name for name in names if name not in sys.stdlib_module_names)


def _interpreter(file: Path) -> str | None:
    """Return the Python that a file is, or that its first lines name; None if there is none."""
    if _PYTHON.fullmatch(file.name):
        return str(file)
    first, _, rest = _beginning(file).partition(b"\n")
    words = first.removeprefix(b"#!").decode(errors="replace").split()
    if not first.startswith(b"#!") or not words:
        return None
    if words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    elif words[0] == "/bin/sh" and (long := _LONG_PATH.match(rest)):
        words = [long[1].decode(errors="surrogateescape")]
    python = shutil.which(words[0]) if words else None
    return python if python is not None and _PYTHON.fullmatch(Path(python).name) else None


def _beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_BEGINNING)
    except OSError:
        return b""


def _place_of(folders: Sequence[Path], package: str) -> Path | None:
    """Return where a package lies on a search path; it is not imported."""
    names = (f"{package}/__init__.py", f"{package}.py", package) if package.isidentifier() else ()
    places = (folder / name for folder in folders for name in names)
    return next((place for place in places if place.exists()), None)


def _version_of(
    package: str, place: Path | None, environment: Environment, folders: Sequence[Path]
) -> Environment:
    """Return the version of a package's distribution, by its name if that is the package's."""
    version = environment.get(package.replace("_", "-").lower())
    if version or place is None:
        return {package: version} if version else {}
    return {name: environment[name] for name in imported([str(place)], folders, ())}
