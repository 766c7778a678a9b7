"""Whether the steps fit the resource classes and the files that are there."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, cast

from benchyard.case.building import step_id
from benchyard.case.checker import Checker
from benchyard.case.graph import ancestors
from benchyard.case.problems import hint, quote
from benchyard.case.schema_errors import Finding
from benchyard.case.shape import needs_of
from benchyard.errors import BenchyardError
from benchyard.files import inside
from benchyard.model import Json, JsonObject
from benchyard.parameters import NamedFile, settings_of, signature_of
from benchyard.registry import Registry
from benchyard.resource import READ, FileRole, Resource, commands_of


@cache
def _command_checker(method: Callable[..., Any]) -> Checker:
    return Checker(signature_of(method).schema())


@cache
def _settings_checker(resource: type[Resource[Any]]) -> Checker:
    return Checker(settings_of(resource.Settings).schema())


def fitness_findings(document: JsonObject, shared: Path, registry: Registry) -> Iterator[Finding]:
    """Yield what is wrong with resources, commands, parameters and files of a filled document.

    Args:
        document: Has passed the findings of ``shape``.
        shared: The case's ``data/shared``.
        registry: The resource classes that there are.
    """
    fields = cast("dict[str, Any]", document)
    for name, settings in fields.get("resources", {}).items():
        for path, message in _settings_findings(name, settings, registry):
            yield ("resources", name, *path), message
    steps: list[dict[str, Any]] = fields["steps"]
    files: dict[int, list[NamedFile]] = {}
    for position, step in enumerate(steps):
        method = _method(step, registry)
        if isinstance(method, tuple):
            yield ("steps", position, method[0]), method[1]
            continue
        wrong = _command_checker(method).findings(step.get("parameters", {}))
        for path, message in wrong:
            yield ("steps", position, "parameters", *path), _about(step, path, message)
        files[position] = list(signature_of(method).files(step.get("parameters", {})))
    yield from _file_findings(steps, files, shared)


def _about(step: dict[str, Any], path: tuple[str | int, ...], message: str) -> str:
    """Name the command where the message is about its parameters as a whole."""
    return message if path else f"{step['resource']}.{step['command']} {message}"


def _settings_findings(name: str, settings: Json, registry: Registry) -> Iterator[Finding]:
    known = registry.classes.get(name)
    if known is None:
        yield (), _unknown_resource(name, registry)
    else:
        found = _settings_checker(known).findings(settings)
        yield from found or _refused(known, settings)


def _refused(resource: type[Resource[Any]], settings: Json) -> Iterator[Finding]:
    """Let a settings class refuse values; those with references are not known yet."""
    if "${" in repr(settings):
        return
    try:
        resource.Settings(**cast("dict[str, Any]", settings))
    except (ValueError, TypeError, BenchyardError) as error:
        yield (), str(error)


def _unknown_resource(name: str, registry: Registry) -> str:
    if name in registry.unavailable:
        return f"the resource '{name}' is unavailable: {registry.unavailable[name]}"
    return f"unknown resource '{name}'{hint(name, registry.classes)}"


def _method(step: dict[str, Any], registry: Registry) -> Callable[..., Any] | tuple[str, str]:
    resource = registry.classes.get(step["resource"])
    if resource is None:
        return "resource", _unknown_resource(step["resource"], registry)
    known = commands_of(resource)
    if step["command"] not in known:
        what = f"{step['resource']} has no command '{step['command']}'"
        return "command", what + hint(step["command"], known)
    return known[step["command"]]


def _file_findings(
    steps: list[dict[str, Any]], files: Mapping[int, list[NamedFile]], shared: Path
) -> Iterator[Finding]:
    makers = _makers(files)
    needs = needs_of(steps)
    ids = [step_id(step, index) for index, step in enumerate(steps, 1)]
    for position, named in files.items():
        earlier = ancestors(needs, ids[position])
        before = {i for i, identifier in enumerate(ids) if identifier in earlier}
        for file in named:
            message = _file_problem(file, shared, makers, before)
            if message:
                yield ("steps", position, "parameters", *file.path), message
    yield from _races(makers, needs, ids)
    for position, step in enumerate(steps):
        for path, message in _check_file_findings(step, files.get(position), shared):
            yield ("steps", position, "check", path), message


def _races(
    makers: Mapping[str, set[int]], needs: Mapping[str, list[str]], ids: list[str]
) -> Iterator[Finding]:
    """Yield outputs that two steps make at the same time."""
    for name, positions in makers.items():
        for first, second in combinations(sorted(positions), 2):
            ordered = ids[first] in ancestors(needs, ids[second])
            if not (ordered or ids[second] in ancestors(needs, ids[first])):
                message = f"steps {first + 1} and {second + 1} make '{name}' side by side"
                yield ("steps", second), message + "; give each its own, or let one need the other"


def _makers(files: Mapping[int, list[NamedFile]]) -> dict[str, set[int]]:
    """Return what the steps make, normalised, and the positions of its makers."""
    made: dict[str, set[int]] = {}
    for position, named in files.items():
        for file in named:
            if file.role not in READ:
                made.setdefault(os.path.normpath(file.name), set()).add(position)
    return made


def _file_problem(
    file: NamedFile, shared: Path, makers: Mapping[str, set[int]], before: set[int]
) -> str | None:
    if "${env:" in file.name or "${secret:" in file.name:
        return f"'{file.name}' holds a reference; the name of a file must stand in the case"
    there = look(shared, file.name)
    if isinstance(there, str):
        return there
    if file.role not in READ:
        return f"'{file.name}' would overwrite an input of that name" if there else None
    if there and (shared / file.name).exists():  # a link may lead nowhere
        return None
    made_by = _made_by(file.name, makers)
    if made_by & before:
        return None
    if not made_by:
        return f"there is no file '{file.name}' in {shared}, and no step makes it"
    first = min(made_by) + 1
    return f"step {first} makes '{file.name}', but this step does not wait for it (needs)"


def _made_by(name: str, makers: Mapping[str, set[int]]) -> set[int]:
    """Find the steps that make a file, itself or as part of a folder."""
    path = Path(os.path.normpath(name))
    candidates = (str(candidate) for candidate in (path, *path.parents))
    return set[int]().union(*(makers.get(candidate, ()) for candidate in candidates))


def look(shared: Path, name: str) -> bool | str:
    """Tell whether a file is in ``shared``, or say why its name cannot be one inside it."""
    if not name:
        return "must name a file"
    outside = f"'{name}' leads out of data/shared; use a path inside it"
    if name.startswith("/") or ".." in name.split("/"):
        return outside
    if os.path.normpath(name) == ".":
        return f"'{name}' names data/shared itself; name a file in it"
    try:
        status = os.lstat(f"{shared}/{name}")
        # A plain name that is no link cannot lead out: the costly look is for the others.
        suspicious = "/" in name or stat.S_ISLNK(status.st_mode)
    except FileNotFoundError:
        suspicious = "/" in name
        status = None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        return f"'{quote(name)}' cannot be a file name: {reason}"
    if suspicious and inside(shared, name) is None:
        return outside
    return status is not None


def _check_file_findings(
    step: dict[str, Any], files: list[NamedFile] | None, shared: Path
) -> Iterator[tuple[str, str]]:
    check: dict[str, Any] = step.get("check") or {}
    expected = check.get("equal")
    if expected is not None:
        there = look(shared, expected)
        if isinstance(there, str):
            yield "equal", there
        elif not (shared / expected).exists():
            yield "equal", f"there is no file '{expected}' in {shared}"
    outputs = [f.name for f in files or () if f.role is FileRole.OUTPUT]
    wanted = check.get("file")
    if files is not None and wanted is not None and wanted not in outputs:
        yield "file", f"the step makes no output '{wanted}'{hint(wanted, outputs)}"
    if check and wanted is None and len(outputs) > 1:
        yield "file", f"is needed here: the step makes {' and '.join(outputs)}"
