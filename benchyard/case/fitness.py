"""Whether resources and steps fit the classes and the files that are there."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, cast

from benchyard.case.inputs import Inputs, answer_findings, check_file_findings, file_findings
from benchyard.case.needs import StepNeeds
from benchyard.case.parameters import NamedFile, signature_of
from benchyard.case.problems import MOST_PROBLEMS, Finding, JsonPath
from benchyard.case.registry import Registry, hint_at_class
from benchyard.case.resource import Resource, commands_of
from benchyard.case.shape import Checker, check_findings, meant, read_schema
from benchyard.case.templates import as_declared
from benchyard.core.errors import BenchyardError, SettingsError
from benchyard.core.model import Json, JsonObject, folder_of, ports_named, texts
from benchyard.core.wording import Sentence, hint, near_miss, quote

#: What an own name may be: it becomes a folder, a host name and a column.
_OWN = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
#: Key among a resource's settings that says its class.
CLASS = "class"
#: Of so many names of its own a case has suggestions.
_MOST_OWN = 100
#: Whoever comes from KROWN has a class that is none here.
_KROWN = "; how a class of KROWN's gets here is in docs/integrations/krown.md"
#: From this similarity on, what follows an unknown name is checked as if the near one stood there.
MEANT = 0.7

ResourceClass = type[Resource[Any]]


@dataclass(frozen=True, slots=True)
class Names:
    """The names that the steps of a case may use.

    Args:
        own: Each name under ``resources`` that says its class, with the class, if it is known.
        settings: Name to settings, without the class.
        findings: What is wrong with the names.
        near: Says how a class of a name becomes known that lies near the case.
    """

    registry: Registry
    own: Mapping[str, ResourceClass | None] = field(
        default_factory=dict[str, "ResourceClass | None"]
    )
    settings: Mapping[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    findings: tuple[Finding, ...] = ()
    near: Callable[[str], str | None] = lambda _: None

    def found(self, name: str) -> tuple[ResourceClass | None, str | None]:
        """Return the class of a name, or the one that was most likely meant and what is wrong."""
        if name in self.own:
            return self.own[name], None
        known = self.registry.classes.get(name)
        if known is not None:
            return known, None
        if name in self.registry.unavailable:
            form, why = "the resource '{}' is unavailable: {why}", self.registry.unavailable[name]
            return None, Sentence(form, quote(name), why=why)
        # Among many names of its own a case gets no suggestion: each is compared with each.
        names = {**self.registry.classes, **(self.own if len(self.own) <= _MOST_OWN else {})}
        near = near_miss(name, names, MEANT)
        meant = names[near] if near else None
        told = self.near(name) or hint(name, names)
        told += _KROWN if told.startswith("; known") else ""
        return meant, Sentence("unknown resource '{}'{told}", quote(name), told=told)


def names_of(
    resources: Mapping[str, Any], registry: Registry, near: Callable[[str], str | None]
) -> Names:
    """Read the names under ``resources``; what is no object there is passed over."""
    settings: dict[str, dict[str, Json]] = {
        name: cast("dict[str, Json]", given)
        for name, given in resources.items()
        if isinstance(given, dict)
    }
    plain = Names(registry, near=near)
    own: dict[str, ResourceClass | None] = {}
    found: list[Finding] = []
    for name, given in settings.items():
        if CLASS in given and len(found) <= MOST_PROBLEMS:
            own[name], message = plain.found(str(given[CLASS]))
            if message:
                found.append((("resources", name, CLASS), message))
            if not _OWN.fullmatch(name):
                message = f"'{quote(name)}' has not the form {_OWN.pattern}"
                found.append((("resources", name), message))
            if name in registry.classes and own[name] is not registry.classes[name]:
                message = f"'{name}' is a class, and cannot be the name of another one's resource"
                found.append((("resources", name), message))
    members = {name: without_class(given) for name, given in settings.items()}
    return Names(registry, own, members, tuple(found), near)


def without_class(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings of a resource that are given to its class."""
    return {key: value for key, value in given.items() if key != CLASS}


def folder_findings(used: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield names whose results would lie in one folder.

    Args:
        used: The names in use, with whatever; in the order of their use.
    """
    folders: dict[str, str] = {}
    for name in used:
        first = folders.setdefault(folder_of(name), name)
        if first != name:
            form = "'{}' and '{}' would have one folder of results; name one of them otherwise"
            yield ("resources", name), Sentence(form, quote(name), quote(first))


@cache
def _checker(target: Callable[..., Any]) -> Checker:
    return Checker(signature_of(target).schema())


@dataclass(frozen=True, slots=True)
class _Fit:
    """How one step fits its class.

    Args:
        findings: Their paths begin in the step.
        files: None if nobody knows what the step takes.
        maybe: Texts that may name what it makes then.
    """

    findings: tuple[Finding, ...]
    files: tuple[NamedFile, ...] | None
    maybe: frozenset[str] = frozenset()


class Fitness:
    """Looks at all points of one case.

    Args:
        inputs: The files of the case.
        registry: The resource classes that there are.
    """

    def __init__(self, inputs: Inputs, registry: Registry) -> None:
        self._inputs = inputs
        self._registry = registry
        # Points share steps, each looked at once; kept here, its id stays its own.
        self._fits: dict[tuple[int, ResourceClass | None], tuple[dict[str, Any], _Fit]] = {}
        # The points of a case ask for the same names.
        near = partial(hint_at_class, case=inputs.shared.parents[1], registry=registry)
        self._near = cache(near)

    def as_declared(self, filled: JsonObject, written: JsonObject) -> JsonObject:
        """Return a filled document with texts where the schema, a class or a command has texts."""
        schema = read_schema()
        made = as_declared(filled, written, schema, cast("JsonObject", schema["$defs"]))
        fields, before = cast("dict[str, Any]", made), cast("dict[str, Any]", written)
        names = names_of(fields.get("resources", {}), self._registry, self._near)
        for name, given in fields.get("resources", {}).items():
            resource, _ = names.found(name)
            if resource is not None:
                known = signature_of(resource.Settings).schema()
                one = before["resources"][name]
                fields["resources"][name] = as_declared(given, one, known, {})
        for step, one in zip(fields.get("steps", ()), before.get("steps", ()), strict=True):
            if step is not one and {"resource", "parameters"} <= step.keys():
                resource, _ = names.found(str(step["resource"]))
                method = commands_of(resource).get(step.get("command")) if resource else None
                known = signature_of(method).schema() if method else {}
                step["parameters"] = as_declared(step["parameters"], one["parameters"], known, {})
        return cast("JsonObject", fields)

    def findings(self, document: JsonObject, waiting: StepNeeds) -> Iterator[Finding]:
        """Yield what is wrong with resources, commands, parameters and files of one point.

        Args:
            document: Of the right shape; steps and keys that had none are left out.
            waiting: The order of its steps.
        """
        fields = cast("dict[str, Any]", document)
        names = names_of(fields.get("resources", {}), self._registry, self._near)
        steps: list[dict[str, Any]] = fields.get("steps", [])
        used = {step["resource"]: None for step in steps if "resource" in step}
        served = [ports_named(step.get("parameters", {})) for step in steps]
        used |= dict.fromkeys(name for named in served for name in named)
        yield from _resource_findings(names, used)
        fits: list[_Fit] = []
        for position, step in enumerate(steps):
            resource, message = names.found(step["resource"]) if "resource" in step else (None, "")
            if message:
                yield ("steps", position, "resource"), message
            key = id(step), resource
            if key not in self._fits:
                self._fits[key] = step, _fit(step, resource)
            fit = self._fits[key][1]
            fits.append(fit)
            for path, said in (*fit.findings, *_refused_command(step, resource, names)):
                yield ("steps", position, *path), said
            for said in _portless(served[position], names):
                yield ("steps", position, "parameters"), said
        maybe = set[str]().union(*{fit.maybe for fit in fits})
        files = [fit.files or () for fit in fits]
        yield from file_findings(files, waiting, self._inputs, maybe)
        yield from answer_findings(steps, files, waiting)
        for position, (step, fit) in enumerate(zip(steps, fits, strict=True)):
            for member, said in check_file_findings(step, fit.files, self._inputs):
                yield ("steps", position, "check", member), said


def _fit(step: dict[str, Any], resource: ResourceClass | None) -> _Fit:
    parameters: JsonObject = step.get("parameters", {})
    found = [*check_findings(step)]
    if resource is None or "command" not in step:
        return _unknown(found, parameters)
    name, known = step["command"], commands_of(resource)
    if name not in known:
        form, near = "{} has no command '{}'{near}", hint(name, known)
        found.append((("command",), Sentence(form, step["resource"], quote(name), near=near)))
        name = near_miss(name, known, MEANT)
        if name is None:
            return _unknown(found, parameters)
    method = known[name]
    members, written, wrong = _as_meant(method, parameters)
    for path, message in wrong:
        # A message about the parameters as a whole names the command.
        said = message if path else f"{step['resource']}.{name} {message}"
        found.append((("parameters", *path), said))
    files = signature_of(method).files(members)
    return _Fit(tuple(found), tuple(replace(file, path=written(file.path)) for file in files))


def _unknown(found: Iterable[Finding], parameters: JsonObject) -> _Fit:
    return _Fit(tuple(found), None, frozenset(text for _, text in texts(parameters)))


def _as_meant(
    target: Callable[..., Any], members: JsonObject
) -> tuple[JsonObject, Callable[[JsonPath], JsonPath], list[Finding]]:
    """Read parameters or settings with misspelt names as they are meant.

    Returns:
        Them, what returns a path in them as it is written, and what is wrong with them.
    """
    signature = signature_of(target)
    read = meant(members, frozenset(() if signature.open else signature.annotations))
    found = [(read.written(path), said) for path, said in _checker(target).findings(read.members)]
    for near, key in read.keys.items():
        found.append(((key,), f"is unknown here; did you mean '{near}'?"))
    return read.members, read.written, found


def _refused_command(
    step: dict[str, Any], resource: ResourceClass | None, names: Names
) -> Iterator[Finding]:
    """Let the class refuse a command that cannot work with its settings and parameters."""
    if resource is None or step.get("command") not in commands_of(resource):
        return
    settings = names.settings.get(step["resource"], {})
    yield from resource.refusals(settings, step["command"], step.get("parameters", {}))


def _portless(named: Iterable[str], names: Names) -> Iterator[str]:
    """Say of each resource whose port is referred to why it has none."""
    for name in named:
        resource, message = names.found(name)
        if message:
            yield f"'${{port:{quote(name)}}}': {message}"
        elif resource is not None and resource.port is Resource[Any].port:
            yield f"'${{port:{quote(name)}}}': a {resource.__name__} serves at no port of this host"


def _resource_findings(names: Names, used: Mapping[str, None]) -> Iterator[Finding]:
    yield from names.findings
    for name, settings in names.settings.items():
        resource, message = names.found(name)
        if message:
            yield ("resources", name), message
        if resource is not None:
            for path, said in _settings_findings(resource, settings):
                yield ("resources", name, *path), said
    for name in used.keys() - names.settings.keys():
        resource, message = names.found(name)
        if resource is not None and message is None:
            for _, said in _settings_findings(resource, {}):
                yield ("resources", name), said
    yield from folder_findings({**names.own, **used})


def _settings_findings(resource: ResourceClass, settings: JsonObject) -> Iterator[Finding]:
    members, written, found = _as_meant(resource.Settings, settings)
    yield from found
    # Values with references are not known yet, and what has a wrong type was told of.
    left_out = {path[:1] for path, _ in found}
    left_out |= {(name,) for name, value in settings.items() if "${" in repr(value)}
    rest = {name: value for name, value in members.items() if written((name,)) not in left_out}
    for path, message in _refused(resource, rest):
        # What was left out cannot be missing.
        if not path or written(path)[:1] not in left_out:
            yield written(path), message


def _refused(resource: ResourceClass, settings: JsonObject) -> Iterator[Finding]:
    """Let a settings class refuse values."""
    try:
        resource.Settings(**settings)
    except SettingsError as error:
        for name, message in error.wrong:
            yield (name,), message
    except (ValueError, BenchyardError) as error:
        yield (), str(error)
    except TypeError as error:
        if not _lacks(resource, settings):
            yield (), str(error)


def _lacks(resource: ResourceClass, settings: JsonObject) -> bool:
    return not settings.keys() >= set(signature_of(resource.Settings).required)
