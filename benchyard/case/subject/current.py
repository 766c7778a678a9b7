"""The subject of a run: as it would be measured now, and as the resources reported it."""

import hashlib
import inspect
import logging
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from benchyard.case.registry import Registry
from benchyard.case.resource import Resource
from benchyard.case.subject.code import OWN_PACKAGES, code_of
from benchyard.case.subject.places import Programs, package_facts
from benchyard.core.errors import InputError
from benchyard.core.files import sha256
from benchyard.core.model import Case, Json, JsonObject, point_suffix
from benchyard.host.facts import work_tree_state
from benchyard.results.subject import Subject, digested, told_version

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
    return {name: _digest(file, stamp(file)) for name, file in files.items()}


def digests(inputs: Path, seen: Mapping[str, Stamp]) -> Mapping[str, str]:
    """Return the digest of each input that was seen; each state of the files is read once."""
    return _digests(inputs, tuple(seen.items()))


@lru_cache(maxsize=64)
def _digests(inputs: Path, seen: tuple[tuple[str, Stamp], ...]) -> Mapping[str, str]:
    return {name: sha256(inputs / name) for name, _ in seen}


@lru_cache(maxsize=64)
def _digest(file: Path, _seen: Stamp) -> str:
    return sha256(file)


logger = logging.getLogger(__name__)


def remember_code(case: Case, registry: Registry) -> None:
    """Digest the code of a case's classes now, right after it was imported."""
    for found in _classes(case, registry).values():
        _code_digest(found)


def _classes(case: Case, registry: Registry) -> dict[str, type[Resource[Any]]]:
    names = sorted(case.resources)
    known = registry.classes
    return {n: known[case.class_of(n)] for n in names if case.class_of(n) in known}


def current_subject(case: Case, registry: Registry, results: Path) -> Subject:
    """Return what a run of a case would measure now, as far as that is known without starting it.

    It reads all inputs, unless it read them before and nothing has touched them since.

    Args:
        results: Folder with the runs of the case: what a run writes there is not measured.

    Raises:
        InputError: If the case or a class names a repository that is none.
    """
    classes = _classes(case, registry)
    without = (results, case.folder / "results")
    packages, repositories = _of_classes(classes, without)
    measured = Programs(without)
    for arguments in _command_lines(case, classes):
        measured.add(arguments)
    programs, installed, stands_in = measured.facts()
    return digested(
        {
            "case": {
                "hash": content_hash(case.folder, case.included),
                "point": point_suffix(case.point),
            },
            "classes": {name: _code_digest(found) for name, found in classes.items()},
            "packages": packages | installed,
            "versions": {
                name: _installed(found, case.settings.get(name, {}))
                for name, found in classes.items()
            },
            "programs": programs,
            "repositories": repositories | stands_in | _named(case, classes, without),
            "host": platform.node(),
        }
    )


def with_told(subject: Subject, told: Mapping[str, Mapping[str, Json]]) -> Subject:
    """Return a subject with what the resources of a run told of themselves.

    Args:
        told: Class name of a resource to its facts, as ``run.json`` has them.
    """
    known = cast("Mapping[str, JsonObject]", subject.get("versions") or {})
    versions: JsonObject = {
        name: {**before, **_known(told_version(cast("Json", told.get(name))))}
        for name, before in known.items()
    }
    return digested({**subject, "versions": versions})


def _known(facts: JsonObject) -> JsonObject:
    return {name: value for name, value in facts.items() if value is not None}


@cache
def _code_digest(resource: type[Resource[Any]]) -> str:
    """Digest the code that this process has imported: later changes are not what it executes."""
    return code_of(resource).digest


def _of_classes(
    classes: Mapping[str, type[Resource[Any]]], without: Sequence[Path]
) -> tuple[JsonObject, JsonObject]:
    """Return packages and repositories; shipped classes tell the versions of theirs themselves."""
    own = [one for one in classes.values() if one.__module__.partition(".")[0] not in OWN_PACKAGES]
    return package_facts(sorted({name for one in own for name in code_of(one).packages}), without)


def _installed(resource: type[Resource[Any]], settings: Mapping[str, Json]) -> JsonObject:
    try:
        return told_version(dict(resource.installed(settings)))
    except Exception:  # code of others, and of engines that are away: not knowing is an answer
        logger.debug("%s cannot tell what is installed", resource.__name__, exc_info=True)
        return told_version(None)


def _command_lines(
    case: Case, classes: Mapping[str, type[Resource[Any]]]
) -> Iterator[Sequence[str]]:
    asked = {step.resource for step in case.steps}
    calls = [(step.resource, step.command, step.parameters) for step in case.steps]
    calls += [(name, "", {}) for name in case.resources if name not in asked]
    for name, command, parameters in calls:
        if (found := classes.get(name)) is not None:
            lines = found.program_lines(case.settings.get(name, {}), command, parameters)
            yield from (line for line in lines if line)


def _named(
    case: Case, classes: Mapping[str, type[Resource[Any]]], without: Sequence[Path]
) -> JsonObject:
    """Return the state of the repositories that the case, or a class of it, names."""
    named = {f"repository {name}": case.folder / name for name in case.repositories}
    for own_name, found in classes.items():
        home = Path(inspect.getfile(found)).parent
        named |= {f"repository {own_name} {name}": home / name for name in found.repositories}
    states = {name: work_tree_state(place, without) for name, place in named.items()}
    none = [str(named[name]) for name, state in states.items() if state is None]
    if none:
        raise InputError(
            f"{case.title}: no git repository with a commit: {', '.join(none)}; correct "
            "'repository' under 'subject' of the case, or 'repositories' of the class"
        )
    return {name: state for name, state in states.items() if state is not None}
