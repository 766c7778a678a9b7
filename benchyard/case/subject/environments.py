"""Python environments: the distributions that an interpreter can import, and their versions.

Everything is read from the folders that the interpreter imports from; it starts once, to list them.
Sources: "Recording installed projects" and "Recording the Direct URL Origin of installed
distributions", both PyPA specifications.
"""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from benchyard.case.subject.contents import INSTALLED, Stamp, digest_of_files, project_files, stamp
from benchyard.core.model import Json
from benchyard.host.facts import ask_git, work_tree_state

#: Normalized name of a distribution to its version: "1.0", or "1.0 (commit …)".
Environment = Mapping[str, str]
#: Variables of the environment that Python heeds, sorted.
Variables = tuple[tuple[str, str], ...]

_SEARCH_PATH = "import sys; print(*filter(None, sys.path), sep='\\n')"
_SECONDS = 5.0
_METADATA = (".dist-info", ".egg-info")
#: Files of an editable project that its modules are made of.
_CODE = frozenset({".py", ".so", ".pyd"})
#: Characters of a digest or commit that a version shows.
_SHORT = 10


class Distribution(NamedTuple):
    """One installed distribution.

    Args:
        name: Normalized as PEP 503 says.
        version: With commit or digest where ``direct_url.json`` says that no index has it.
        place: Its metadata.
        project: Folder of the sources, of an editable installation.
    """

    name: str
    version: str
    place: Path
    project: Path | None


def installed(folders: Sequence[Path], without: Sequence[Path]) -> Environment:
    """Return the distributions that an interpreter can import.

    Args:
        folders: Its search path.
        without: Folders whose files are no part of an editable project: results.
    """
    return {each.name: _version(each, without) for each in _distributions(folders)}


def imported(
    modules: Iterable[str], folders: Iterable[str | Path], without: Sequence[Path]
) -> Environment:
    """Return the distributions that files of modules belong to.

    Args:
        modules: Paths of the files.
        folders: Where their interpreter imports from.
        without: As for ``installed``.
    """
    known = _distributions(tuple(map(Path, folders)))
    owners = {path: each for each in known for path in _owned(each)}
    found: set[Distribution] = set()
    for module in map(Path, modules):
        places = (module.with_name(module.name.partition(".")[0]), *module.parents)
        owning = (owners[str(place)] for place in places if str(place) in owners)
        editable = (each for each in known if each.project in places)
        found |= {*[*owning, *editable][:1]}
    return {each.name: _version(each, without) for each in sorted(found)}


def search_path(python: str, variables: Variables) -> tuple[Path, ...]:
    """Return the folders that an interpreter imports from; none if it does not answer."""
    try:
        return _search_path(python, variables)
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()


@lru_cache(maxsize=64)
def _search_path(python: str, variables: Variables) -> tuple[Path, ...]:
    environment = {**os.environ, **dict(variables)}
    # What lies in the current folder is not what the step would import.
    answer = subprocess.run(
        [python, "-c", _SEARCH_PATH],
        cwd="/",
        env=environment,
        capture_output=True,
        timeout=_SECONDS,
        check=True,
    )
    return tuple(map(Path, answer.stdout.decode(errors="surrogateescape").splitlines()))


def _distributions(folders: Sequence[Path]) -> list[Distribution]:
    """Return the distributions of a search path; the first folder with a name decides."""
    found: dict[str, Distribution] = {}
    for folder in reversed(folders):
        with suppress(OSError):
            places = [place for place in sorted(folder.iterdir()) if place.suffix in _METADATA]
            read = [_distribution(place, _stamps(place)) for place in places]
            found |= {each.name: each for each in read if each is not None}
    return [*found.values()]


def _stamps(place: Path) -> tuple[Stamp, ...]:
    files = (place / "METADATA", place / "PKG-INFO", place / "direct_url.json", place)
    return tuple(stamp(file) for file in files if file.exists())


@lru_cache(maxsize=8192)
def _distribution(place: Path, _seen: tuple[Stamp, ...]) -> Distribution | None:
    read = metadata.Distribution.at(place)
    try:
        if not all(key in read.metadata for key in ("Name", "Version")):
            return None
        name = re.sub(r"[-_.]+", "-", read.metadata["Name"]).lower()
        version = read.version.strip()
        origin: Any = json.loads(read.read_text("direct_url.json") or "{}")
        # setup.py develop leaves the metadata beside the sources.
        beside = place.suffix == ".egg-info" and place.parent.name not in INSTALLED
        project = place.parent if beside else None
        if origin.get("dir_info", {}).get("editable"):
            project = Path(unquote(urlsplit(str(origin["url"])).path))
        elif "vcs_info" in origin:
            version += f" (commit {origin['vcs_info']['commit_id'][:_SHORT]})"
        elif origin:  # RECORD has the digest of each file
            lines = (line for line in _record(place) if ".dist-info/" not in line)
            digest = hashlib.sha256("\n".join(sorted(lines)).encode(errors="replace"))
            version += f" (files {digest.hexdigest()[:_SHORT]})"
    except (AttributeError, KeyError, TypeError, ValueError):  # what is left of a distribution
        return None
    return Distribution(name, version, place, project)


def _record(place: Path) -> list[str]:
    """Return the lines of RECORD but for what Python compiled; a file each."""
    lines = (metadata.Distribution.at(place).read_text("RECORD") or "").splitlines()
    return [line for line in lines if ".pyc," not in line]


@lru_cache(maxsize=8192)
def _owned(distribution: Distribution) -> tuple[str, ...]:
    """Return the paths of its modules without suffix, and where RECORD lacks those of packages."""
    place, name = distribution.place, distribution.name.replace("-", "_")
    tops = metadata.Distribution.at(place).read_text("top_level.txt") or name
    listed = [line.partition(",")[0] for line in _record(place)] or tops.split()
    parts = (path.rpartition("/") for path in listed)
    stems = (f"{place.parent}/{folder}/{file.partition('.')[0]}" for folder, _, file in parts)
    return tuple(map(os.path.normpath, stems))


def _version(distribution: Distribution, without: Sequence[Path]) -> str:
    """Return the version; of an editable project with commit and changes, or digest of its code."""
    project, version = distribution.project, distribution.version
    if project is None:
        return version
    tracked = ""
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        tracked = ask_git(project, "ls-files", "--", ".", seconds=_SECONDS)
    state = work_tree_state(project, without) if tracked else None
    if state is None:
        files = (file for file in project_files(project, without) if file.suffix in _CODE)
        return f"{version} (files {_short(digest_of_files(files, project))})"
    changes = state["changes"]
    dirty = "" if changes in ("none", None) else f" with changes {_short(changes)}"
    return f"{version} (commit {_short(state['commit'])}{dirty})"


def _short(digest: Json) -> str:
    return str(digest).removeprefix("sha256:")[:_SHORT]
