"""What a case may set on a service of this host."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypedDict, cast

from benchyard.case.resource import InputFolder
from benchyard.core.errors import InputError, SettingsError
from benchyard.core.model import JsonObject, mapped
from resources._readiness import Readiness, TcpPort, ways_of

#: What stands for the port in texts of the case.
PORT = "${port}"
#: Stands for a port that is not known yet.
_SOME_PORT = 1


class ServiceReadySettings(TypedDict, total=False):
    """When a service is ready: each way that is given must say so.

    ``log`` is a regular expression for a line; ``tcp`` is a port; ``http`` is port and path
    (``8080/path``), or a path alone at its own port; ``command`` is executed on this host.
    """

    log: str
    tcp: int | str
    http: str
    command: list[str]


StopSignal = Literal["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL"]


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """What a case may set; ``${port}`` in a text stands for the port.

    Args:
        arguments: Program and arguments; it must stay in the foreground.
        working_folder: Folder inside ``data/shared``; by default ``data/shared`` itself.
        environment: Variables added to the lab's own.
        port: Of this host's loopback; 0 lets the kernel choose one.
        ready: When it takes commands; by default when its port takes connections.
        ready_seconds: So long it may take until it is ready.
        stop_signal: By what it is asked to end.
        stop_seconds: So long it may take to end then; after that it is killed.
    """

    arguments: list[str] = field(default_factory=list[str])
    working_folder: InputFolder = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    port: int = 0
    ready: ServiceReadySettings = field(default_factory=ServiceReadySettings)
    ready_seconds: float = 120.0
    stop_signal: StopSignal = "SIGTERM"
    stop_seconds: float = 10.0

    def __post_init__(self) -> None:
        wrong = [*self._wrong()]
        if wrong:
            raise SettingsError(wrong)

    def _wrong(self) -> Iterator[tuple[str, str]]:
        if not self.arguments:
            yield "arguments", "arguments is empty; its first item must be the program"
        if not 0 <= self.port < 65536:
            yield "port", f"port is {self.port}; ports are 1 to 65535, and 0 lets the kernel choose"
        if self.ready_seconds <= 0:
            yield "ready_seconds", f"ready_seconds is {self.ready_seconds:g}; it must be above 0"
        if self.stop_seconds < 0:
            yield "stop_seconds", f"stop_seconds is {self.stop_seconds:g}; it must be 0 or more"
        try:
            self.ways(_SOME_PORT)
        except InputError as error:
            yield "ready", str(error)

    def ways(self, port: int) -> list[Readiness]:
        """Return the ways in which it must be ready.

        Raises:
            InputError: If one is no way.
        """
        if not self.ready:
            return [TcpPort(port)] if self.names_port else []
        ready = cast("JsonObject", self.ready)
        given = {name: mapped(way, partial(with_port, port=port)) for name, way in ready.items()}
        if str(given.get("http")).startswith("/"):
            given["http"] = f"{port}{given['http']}"
        return ways_of(given)

    @property
    def names_port(self) -> bool:
        """Whether the program is told its port."""
        return any(PORT in text for text in (*self.arguments, *self.environment.values()))


def with_port(text: str, port: int) -> str:
    """Put the port into a text."""
    return text.replace(PORT, str(port))
