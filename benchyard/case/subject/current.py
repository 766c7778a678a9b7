"""The subject of a run: as it would be measured now, and as the resources reported it."""

import inspect
import logging
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from benchyard.case.registry import Registry
from benchyard.case.resource import Resource
from benchyard.case.subject.contents import OWN_PACKAGES, code_of, content_hash, declared_files
from benchyard.case.subject.programs import CommandLine, program_facts, python_variables
from benchyard.core.errors import InputError
from benchyard.core.model import Case, Json, JsonObject, at_root, literal, mapped, point_suffix
from benchyard.host.facts import work_tree_state
from benchyard.results.subject import Subject, digested, told_version

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
        InputError: If the case or a class names a repository that is none, or the case files of the
            measured program that are not there.
    """
    case = _at_its_root(case)
    classes = _classes(case, registry)
    without = (results.absolute(), case.folder / "results")
    lines = _command_lines(case, classes)
    programs = program_facts(lines, _imports(classes.values()), case.shared, without)
    programs["repositories"] |= _named(case, classes, without)
    return digested(
        {
            "case": {
                "hash": content_hash(case.folder, case.included),
                "point": point_suffix(case.point),
            },
            "classes": {name: _code_digest(found) for name, found in classes.items()},
            "versions": {
                name: _installed(found, case.settings.get(name, {}))
                for name, found in classes.items()
            },
            **programs,
            **declared_files(case, without),
            "host": platform.node(),
        }
    )


def _at_its_root(case: Case) -> Case:
    """Return a case with paths in place of ``${root:PATH}``, and without escapes."""
    settings = {name: _rooted(given, case) for name, given in case.settings.items()}
    steps = [replace(step, parameters=_rooted(step.parameters, case)) for step in case.steps]
    return replace(case, settings=settings, steps=tuple(steps))


def _rooted(given: Mapping[str, Json], case: Case) -> JsonObject:
    return cast("JsonObject", mapped(at_root(dict(given), case.root), literal))


def with_told(
    subject: Subject, told: Mapping[str, Mapping[str, Json]], imported: Mapping[str, Json]
) -> Subject:
    """Return a subject with what the resources of a run told of themselves.

    Args:
        told: Class name of a resource to its facts, as ``run.json`` has them.
        imported: The same to the distributions that its programs imported.
    """
    known = cast("Mapping[str, JsonObject]", subject.get("versions") or {})
    versions: JsonObject = {
        name: {**before, **_known(told_version(cast("Json", told.get(name))))}
        for name, before in known.items()
    }
    return digested({**subject, "versions": versions, "imported": dict(imported)})


def _known(facts: JsonObject) -> JsonObject:
    return {name: value for name, value in facts.items() if value is not None}


@cache
def _code_digest(resource: type[Resource[Any]]) -> str:
    """Digest the code that this process has imported: later changes are not what it executes."""
    return code_of(resource).digest


def _imports(classes: Iterable[type[Resource[Any]]]) -> list[str]:
    """Return packages that classes import; shipped classes tell the versions of theirs."""
    own = (each for each in classes if each.__module__.partition(".")[0] not in OWN_PACKAGES)
    return sorted({name for each in own for name in code_of(each).packages})


def _installed(resource: type[Resource[Any]], settings: Mapping[str, Json]) -> JsonObject:
    try:
        return told_version(dict(resource.installed(settings)))
    except Exception:  # code of others, and of engines that are away: not knowing is an answer
        logger.debug("%s cannot tell what is installed", resource.__name__, exc_info=True)
        return told_version(None)


def _command_lines(case: Case, classes: Mapping[str, type[Resource[Any]]]) -> Iterator[CommandLine]:
    used = {step.resource for step in case.steps}
    calls = [(step.resource, step.command, step.parameters) for step in case.steps]
    calls += [(name, "", {}) for name in case.resources if name not in used]
    for name, command, parameters in calls:
        if (resource := classes.get(name)) is not None:
            settings = case.settings.get(name, {})
            given = parameters.get("environment") or settings.get("environment")
            variables = python_variables(given if isinstance(given, dict) else {})
            for line in resource.program_lines(settings, command, parameters):
                if line:
                    yield CommandLine(name, tuple(line), variables)


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
