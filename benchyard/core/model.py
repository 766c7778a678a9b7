"""A loaded case: frozen values without behaviour."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # what decodes dataclasses by their annotations knows no type that names itself
JsonObject: TypeAlias = dict[str, Json]

#: Names of which a project's folder has one.
PROJECT_MARKS = (".git", "benchyard.toml")


class Outcome(StrEnum):
    """How a step, an attempt or a run ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    TOLERATED = "tolerated"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def lets_the_case_go_on(self) -> bool:
        """Whether steps that wait for this one may start."""
        return self in (Outcome.COMPLETED, Outcome.TOLERATED)


@dataclass(frozen=True, slots=True)
class Check:
    """What a step's output must be.

    Args:
        file: Which output, as the step names it; None takes the only one.
        rows: Number of records (a CSV's header is not one).
        sha256: Hexadecimal digest of the whole output.
        equal: File in ``data/shared`` with the expected content.
        equal_to: Id of an earlier step with the same answer.
        pattern: Regular expression that must be found in the output.
        tolerance: Relative difference that two numbers of equal answers may have.
        any_order: Whether the lines of equal answers may come in another order.
    """

    file: str | None = None
    rows: int | None = None
    sha256: str | None = None
    equal: str | None = None
    equal_to: str | None = None
    pattern: str | None = None
    tolerance: float = 0.0
    any_order: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One command of one resource with parameters.

    Args:
        index: Position in the case, from 1.
        timeout: Seconds for one execution of the command, or None.
        retry_delay: Seconds between two attempts.
        measure: False for set-up: recorded, kept out of the statistics.
        warmup: Unmeasured executions before the measured ones.
        repeat: Measured executions in one run.
    """

    index: int
    id: str
    name: str
    resource: str
    command: str
    parameters: Mapping[str, Json] = field(default_factory=dict[str, Json])
    needs: tuple[str, ...] = ()
    timeout: float | None = None
    retries: int = 0
    retry_delay: float = 0.0
    may_fail: bool = False
    expect_failure: bool = False
    measure: bool = True
    warmup: int = 0
    repeat: int = 1
    check: Check | None = None

    @property
    def ports_of(self) -> tuple[str, ...]:
        """Names of the resources whose ports the parameters refer to."""
        return ports_named(dict(self.parameters))

    @property
    def label(self) -> str:
        """Name for files and task runs, such as ``03-load``."""
        return f"{self.index:02d}-{slug(self.name)}"


@dataclass(frozen=True, slots=True)
class Requires:
    """Requirements on the testbed; without any, every testbed will do.

    Args:
        tags: It must have all of them.
        hosts: It must be one of them; empty means any.
        memory_bytes: Memory that it must have, or None.
        cores: Cores that it must have, or None.
        docker: Whether a Docker engine must answer there.
    """

    tags: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    memory_bytes: int | None = None
    cores: int | None = None
    docker: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One point of one declared pipeline.

    Args:
        folder: Where ``metadata.json`` lies, absolute.
        point: Values of the matrix at this point; empty without a matrix.
        settings: Name of a resource to its settings.
        classes: Own name of a resource to its class; all others are named as their classes are.
        requires: What the testbed must be.
        repositories: Folders in the repositories of what is measured, from the case's folder on.
        files: Globs of the measured program's sources, from the root on.
        build: Globs of what its build makes, from the root on.
        cooldown: Seconds of rest before a run of it, where nobody asks for others; None leaves it
            open.
        confirm: How a version of what is measured is built and executed, to confirm a slowdown:
            ``command``, ``build``, ``shell``, ``versions``, ``timeout``; empty if nobody knows.
        included: Files with steps of the case, beside its metadata.json.
        points: How many points the matrix has; 1 without a matrix.
    """

    folder: Path
    id: str
    name: str
    description: str
    steps: tuple[Step, ...]
    tags: tuple[str, ...] = ()
    point: Mapping[str, Json] = field(default_factory=dict[str, Json])
    settings: Mapping[str, Mapping[str, Json]] = field(
        default_factory=dict[str, Mapping[str, Json]]
    )
    classes: Mapping[str, str] = field(default_factory=dict[str, str])
    requires: Requires = Requires()
    repositories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    cooldown: float | None = None
    confirm: Mapping[str, Any] = field(default_factory=dict[str, Any])
    included: tuple[Path, ...] = ()
    points: int = 1

    def class_of(self, resource: str) -> str:
        """Return the name of the class that a resource's name stands for."""
        return self.classes.get(resource, resource)

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources that are used, in the order of first need."""
        names = (name for step in self.steps for name in (*step.ports_of, step.resource))
        return tuple(dict.fromkeys(names))

    @property
    def title(self) -> str:
        """Name with the point of the matrix: ``tpch[scale=0.01]``."""
        return self.name + point_suffix(self.point)

    @property
    def shared(self) -> Path:
        """The folder with the inputs."""
        return self.folder / "data" / "shared"

    @property
    def root(self) -> Path:
        """The project's folder: the nearest one at or above the case with a mark of a project.

        Without a mark it is the current folder, or for a case elsewhere the one that it lies in.
        """
        above = (self.folder, *self.folder.parents)
        marked = (up for up in above if any((up / mark).exists() for mark in PROJECT_MARKS))
        current = Path.cwd()
        return next(marked, current if current in above else self.folder.parent)


def object_in(facts: Mapping[str, Json], name: str) -> JsonObject:
    """Return an object among facts; an empty one if there is none."""
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


def mapped(value: Json, text: Callable[[str], str], name: Callable[[str], str] = str) -> Json:
    """Return ``value`` with ``text`` called on every string, and ``name`` on every key."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [mapped(item, text, name) for item in value]
    if isinstance(value, dict):
        return {name(key): mapped(item, text, name) for key, item in value.items()}
    return value


def texts(
    value: Json, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the path and text of every string in ``value``."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list | dict):
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            yield from texts(item, (*path, key))


def escaped(text: str) -> str:
    """Return a text that a case reads as this text, whatever references it seems to hold."""
    return text.replace("${", "$${")


def literal(text: str) -> str:
    """Return what a case means by a text without references: ``$${`` stands for ``${``."""
    return text.replace("$${", "${") if "$" in text else text  # fifty times faster in a long one


#: The port at which a resource serves, within a longer text such as a URL.
_PORT = re.compile(r"(?<!\$)\$\{port:([^{}]*)\}")


def ports_named(value: Json) -> tuple[str, ...]:
    """Return the resources that texts refer to as ``${port:NAME}``, each once."""
    found = (name for _, text in texts(value) for name in _PORT.findall(text))
    return tuple(dict.fromkeys(found))


def with_ports(value: Json, ports: Mapping[str, int]) -> Json:
    """Return ``value`` with the port in place of each ``${port:NAME}`` that is known."""

    def told(found: re.Match[str]) -> str:
        return str(ports.get(found[1], found[0]))

    return mapped(value, lambda text: _PORT.sub(told, text))


#: A path from the project's root on, within a longer text such as an option.
_AT_ROOT = re.compile(r"(?<!\$)\$\{root:([^{}]*)\}")


def at_root(value: Json, root: Path) -> Json:
    """Return ``value`` with an absolute path in place of each ``${root:PATH}``."""
    return mapped(value, lambda text: _AT_ROOT.sub(lambda path: str(root / path[1]), text))


def point_suffix(point: Mapping[str, Json]) -> str:
    """Return ``[scale=0.01,threads=2]``, or nothing for a case without a matrix."""
    if not point:
        return ""
    return "[" + ",".join(f"{name}={plain(value)}" for name, value in point.items()) + "]"


def plain(value: Json) -> str:
    """Write a matrix value as it stands inside a longer string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def folder_of(resource: str) -> str:
    """Return the folder of a resource's results: its name in lower case without _."""
    return resource.lower().replace("_", "")


def slug(text: str) -> str:
    """Reduce a text to what is safe in a file name on every system, 60 characters at most."""
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", text).strip("-.")[:60] or "x"
