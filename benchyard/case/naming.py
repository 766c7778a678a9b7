"""What the names of a case's resources mean: classes, or own names that say their class."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from benchyard.case.problems import MOST_PROBLEMS, Finding
from benchyard.case.registry import Registry
from benchyard.case.resource import Resource
from benchyard.core.model import Json, folder_of
from benchyard.core.wording import hint, near_miss, quote

#: What an own name may be: it becomes a folder, a host name and a column.
_OWN = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
#: Key among a resource's settings that says its class.
CLASS = "class"
#: Of so many names of its own a case has suggestions.
_MOST_OWN = 100
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
    """

    registry: Registry
    own: Mapping[str, ResourceClass | None] = field(
        default_factory=dict[str, "ResourceClass | None"]
    )
    settings: Mapping[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    findings: tuple[Finding, ...] = ()

    def found(self, name: str) -> tuple[ResourceClass | None, str | None]:
        """Return the class of a name, or the one that was most likely meant and what is wrong."""
        if name in self.own:
            return self.own[name], None
        known = self.registry.classes.get(name)
        if known is not None:
            return known, None
        if name in self.registry.unavailable:
            reason = self.registry.unavailable[name]
            return None, f"the resource '{quote(name)}' is unavailable: {reason}"
        # Among many names of its own a case gets no suggestion: each is compared with each.
        names = {**self.registry.classes, **(self.own if len(self.own) <= _MOST_OWN else {})}
        near = near_miss(name, names, MEANT)
        meant = names[near] if near else None
        return meant, f"unknown resource '{quote(name)}'{hint(name, names)}"


def names_of(resources: Mapping[str, Any], registry: Registry) -> Names:
    """Read the names under ``resources``; what is no object there is passed over."""
    settings: dict[str, dict[str, Json]] = {
        name: cast("dict[str, Json]", given)
        for name, given in resources.items()
        if isinstance(given, dict)
    }
    plain = Names(registry)
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
    return Names(registry, own, members, tuple(found))


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
            message = f"'{quote(name)}' and '{quote(first)}' would have one folder of results"
            yield ("resources", name), f"{message}; name one of them otherwise"
