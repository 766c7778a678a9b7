"""Settings of resources in containers, and what becomes of them."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from posixpath import normpath
from typing import Any, ClassVar, TypedDict

from benchyard.core.amounts import parse_size
from benchyard.core.errors import InputError, NotReadyError, SettingsError
from benchyard.core.model import JsonObject
from resources._readiness import Awaited, Readiness, asking, is_port, ways_of

NANOSECONDS = 1_000_000_000
_CPUSET = re.compile(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*")
#: Where a container sees the run's ``data/shared``; KROWN's cases rely on it.
SHARED = "/data/shared"
#: The engine makes no container with less. Source: Docker's documentation, ``--memory``.
_LEAST_MEMORY = 6 * 2**20


#: Name of a setting, and what is wrong with it.
Wrong = tuple[str, str]


class HealthCheckSettings(TypedDict, total=False):
    """By what the engine finds a container healthy; seconds."""

    command: list[str]
    interval: float
    timeout: float
    retries: int


class ReadySettings(TypedDict, total=False):
    """When a container is ready: each way that is given must say so.

    ``log`` is a regular expression for a line; ``tcp`` and the port of ``http``
    (``:8080/path`` or ``8080/path``) are the container's; ``command`` is executed in it.
    """

    log: str
    tcp: int
    http: str
    healthy: bool
    command: list[str]


def is_dashed_name(name: str) -> bool:
    """Tell whether a text is an identifier, but for hyphens in it."""
    return name.replace("-", "_").isidentifier()


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """What a case may set; None and empty values leave it to the class, then to the image.

    Args:
        image: Instead of the class's own.
        cpus: CPUs' worth of time, such as 1.5.
        cpuset: CPUs that it may run on, such as ``0-2``.
        memory: Limit, with its unit, such as ``2GB``; it gets no swap beyond it.
        shm_size: Size of ``/dev/shm``, with its unit.
        environment: Variables, added to the class's.
        ulimits: Limits by name, such as ``{"nofile": 65536}``.
        user: Name or id, and group, as ``user:group``.
        ports: Port of the container to the one on this host's loopback, such as
            ``{"5432": 5432}``; 0 lets the kernel choose.
        volumes: Folders of the container that get an empty volume for the run.
        tmpfs: Folders of the container that are in memory, to their size, such as ``64MB``.
        read_only: Whether its root file system cannot be written to.
        ready_seconds: So long it may take until it is ready.
        stop_seconds: So long it may take to end when it is asked to; then it is killed.
    """

    #: A setting by names of the server's own, what one is, and whether a text can be one.
    _named: ClassVar[tuple[str, str, Callable[[str], bool]] | None] = None

    image: str = ""
    cpus: float | None = None
    cpuset: str | None = None
    memory: str | None = None
    shm_size: str | None = None
    environment: dict[str, str] = field(default_factory=dict[str, str])
    ulimits: dict[str, int] = field(default_factory=dict[str, int])
    user: str | None = None
    ports: dict[str, int] = field(default_factory=dict[str, int])
    volumes: list[str] = field(default_factory=list[str])
    tmpfs: dict[str, str] = field(default_factory=dict[str, str])
    read_only: bool = False
    ready_seconds: float = 120.0
    stop_seconds: int = 10

    def __post_init__(self) -> None:
        wrong = [*self.wrong()]
        if wrong:
            raise SettingsError(wrong)

    def wrong(self) -> Iterator[Wrong]:
        """Yield the name of each setting that cannot be, and why."""
        yield from _wrong_sizes(self)
        yield from _wrong_numbers(self)
        yield from _wrong_ports(self)
        yield from _wrong_folders(self)
        yield from self._wrong_names()

    def _wrong_names(self) -> Iterator[Wrong]:
        if self._named is not None:
            setting, kind, is_name = self._named
            for name in getattr(self, setting):
                if not is_name(name):
                    title = type(self).__name__.removesuffix("Settings")
                    yield setting, f"{title}: '{name}' is not the name of a {kind}"

    @property
    def memory_bytes(self) -> int | None:
        """The memory limit in bytes."""
        return None if self.memory is None else parse_size(self.memory)


def _wrong_sizes(settings: ContainerSettings) -> Iterator[Wrong]:
    sizes = {"memory": settings.memory, "shm_size": settings.shm_size}
    sizes |= {f"tmpfs of '{where}'": given for where, given in settings.tmpfs.items()}
    for name, given in sizes.items():
        try:
            if given is not None and parse_size(given) < _LEAST_MEMORY and name == "memory":
                yield name, f"memory is {given}; the engine wants 6MB or more"
        except InputError as error:
            yield name.partition(" ")[0], f"{name}: {error}"


def _wrong_numbers(settings: ContainerSettings) -> Iterator[Wrong]:
    if settings.cpus is not None and settings.cpus <= 0:
        yield "cpus", f"cpus is {settings.cpus}; it must be above 0"
    if settings.cpuset and not _CPUSET.fullmatch(settings.cpuset):
        yield "cpuset", f"cpuset is '{settings.cpuset}'; write it like 0-2 or 0,3"
    if settings.ready_seconds <= 0:
        yield "ready_seconds", f"ready_seconds is {settings.ready_seconds:g}; it must be above 0"
    if settings.stop_seconds < 0:
        yield "stop_seconds", f"stop_seconds is {settings.stop_seconds}; it must be 0 or more"


def _wrong_ports(settings: ContainerSettings) -> Iterator[Wrong]:
    for inside, outside in settings.ports.items():
        if not is_port(inside) or not 0 <= outside < 65536:
            yield "ports", f"the port '{inside}: {outside}' is none; ports are 1 to 65535"
    fixed = Counter(outside for outside in settings.ports.values() if outside)
    for outside, number in fixed.items():
        if number > 1:
            yield "ports", f"port {outside} of this host is given to {number} of the container's"


def _wrong_folders(settings: ContainerSettings) -> Iterator[Wrong]:
    seen: set[str] = {SHARED}
    for name, folders in (("volumes", settings.volumes), ("tmpfs", settings.tmpfs)):
        for folder in folders:
            if not folder.startswith("/"):
                yield name, f"'{folder}' must be an absolute path"
            elif normpath(folder) in seen:
                yield name, f"'{folder}' is mounted twice: each folder of a container is one thing"
            seen.add(normpath(folder))


def _is_healthy(awaited: Awaited) -> bool:
    """Ask the engine whether it finds a container healthy."""
    container: Any = awaited
    health: Any = container.inspected()["State"].get("Health")
    if health is None:
        raise NotReadyError(
            f"the image '{container.spec.image}' has no health check; give 'health_check', or "
            "another way under 'ready'"
        )
    if health["Status"] == "unhealthy":
        tries: list[Any] = health.get("Log") or [{}]
        said = str(tries[-1].get("Output", "")).strip()
        raise NotReadyError(f"{container.title} is unhealthy: {said}")
    return health["Status"] == "healthy"


def readiness(given: ReadySettings) -> list[Readiness]:
    """Return the ways in which a container must be ready.

    Raises:
        InputError: If one is no way.
    """
    healthy = asking("the engine finds it healthy", _is_healthy)
    return [*ways_of(given), *([healthy] if given.get("healthy") else [])]


def health_check(given: HealthCheckSettings) -> JsonObject | None:
    """Return the health check that a case gives, if any, as the engine takes it.

    Raises:
        InputError: If it has no command.
    """
    if not given:
        return None
    command = given.get("command")
    if not command:
        raise InputError("health_check has no 'command'; give program and arguments")
    for name in ("interval", "timeout", "retries"):
        if given.get(name, 1) <= 0:
            raise InputError(f"health_check.{name} is {given.get(name)}; it must be above 0")
    return {
        "Test": ["CMD", *command],
        "Interval": round(given.get("interval", 0.5) * NANOSECONDS),
        "Timeout": round(given.get("timeout", 10.0) * NANOSECONDS),
        "Retries": given.get("retries", 120),
    }


def heap_arguments(limit: int | None) -> tuple[str, str]:
    """Return Java's arguments for a heap of half the memory, all of it taken at the start.

    Java's own default is a quarter. Source: KROWN, which measures engines with half.

    Args:
        limit: Memory in bytes that it may use; None for all that this host has.
    """
    half = usable_memory(limit) // 2
    return f"-Xmx{half}", f"-Xms{half}"


def usable_memory(limit: int | None) -> int:
    """Return bytes: the container's limit, or what this host has.

    Args:
        limit: Bytes, or None without a limit.
    """
    return limit or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
