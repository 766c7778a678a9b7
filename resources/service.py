"""Any program of this host that serves, and the programs that ask it."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypedDict, cast

from benchyard.case.resource import InputFolder, Workspace, name_of
from benchyard.core.errors import CommandFailedError, InputError, ResourceError, SettingsError
from benchyard.core.model import Json, JsonObject, mapped
from benchyard.process.usage import Ended
from resources._readiness import Readiness, free_port, is_free, tcp_port, wait_until_ready, ways_of
from resources._server_process import ServerProcess
from resources.process import Call, HostProgram, run_label, usage

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
            return [tcp_port(port)] if self.names_port else []
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


class Service(HostProgram[ServiceSettings]):
    """A program of this host that serves until the run ends."""

    Settings: ClassVar[type[ServiceSettings]] = ServiceSettings
    concurrent: ClassVar[bool] = False
    works_beside: ClassVar[bool] = True

    def __init__(self, settings: ServiceSettings, workspace: Workspace) -> None:
        super().__init__(settings, workspace)
        self._server: ServerProcess | None = None
        self._port = 0

    # -- what it is

    @classmethod
    def program_lines(
        cls, settings: Mapping[str, Json], command: str, parameters: Mapping[str, Json]
    ) -> Iterator[Sequence[str]]:
        """Yield the program that serves, and the one that asks it, with their arguments."""
        del command
        for given in (settings.get("arguments"), parameters.get("arguments")):
            if isinstance(given, list) and given:
                yield [*map(str, given)]

    def port(self) -> int:
        """Return the port at which it serves."""
        return self._port

    # -- life

    def initialize(self) -> None:
        """See that a fixed port is free."""
        self._refuse_taken_port()

    def _refuse_taken_port(self) -> None:
        port = self.settings.port
        if port and not is_free(port):
            raise ResourceError(
                f"{name_of(self)}: port {port} of this host is taken; stop who has it, or let the "
                f"kernel choose one: leave 'port' out and write {PORT}"
            )

    def start(self) -> None:
        """Start the program."""
        self._refuse_taken_port()
        settings = self.settings
        self._port = port = settings.port or free_port()
        log = self._log()
        self._server = ServerProcess(
            f"the service '{name_of(self)}'",
            Call(
                [with_port(word, port) for word in settings.arguments],
                self._folder(settings.working_folder),
                log,
                log,
                environment=self._with_port(settings.environment),
            ),
            run_label(self.workspace),
            self._hear_end,
        )
        self.changed()

    def _log(self) -> Path:
        """Return a file that is not there yet: an earlier instance of the run may have its own."""
        self.workspace.kept.mkdir(parents=True, exist_ok=True)
        names = (f"service{number}.log" for number in ("", *(f"-{n}" for n in range(2, 10_000))))
        files = (self.workspace.kept / name for name in names)
        return next(file for file in files if not file.exists())

    def _with_port(self, variables: Mapping[str, str]) -> dict[str, str]:
        return {name: with_port(value, self._port) for name, value in variables.items()}

    def _hear_end(self) -> None:
        """End who asks it: nobody answers any more."""
        super().abort(None)
        self.changed()

    def wait_until_ready(self) -> None:
        """Wait until it is ready in the ways that the case gives."""
        ways = self.settings.ways(self._port)
        server = self._up()
        wait_until_ready(server, ways, self.settings.ready_seconds)
        if not server.running:
            raise server.died("it became ready")

    def stop(self) -> None:
        """Ask the program to end, and kill it if it does not in time."""
        server = self._server
        if server is not None:
            server.stop(signal.Signals[self.settings.stop_signal], self.settings.stop_seconds)
        super().stop()

    def abort(self, step: str | None = None) -> None:
        """Kill who asks it, and the program itself."""
        super().abort(step)
        if self._server is not None:
            self._server.kill()

    def alive(self) -> bool:
        """Tell whether the program runs."""
        return self._server is not None and self._server.running

    def last_words(self) -> str:
        """Return how it ended, with the end of its log."""
        return self._up().last_words()

    def pids(self, step: str | None = None) -> Sequence[int]:
        """Return the program that serves, and not who asks it."""
        del step
        pid = None if self._server is None else self._server.pid
        return [] if pid is None else [pid]

    def ended(self, step: str | None = None) -> Sequence[Ended]:
        """Return what the kernel accounted for the program that served."""
        del step
        ended = None if self._server is None else self._server.ended
        return [] if ended is None else [ended]

    def _up(self) -> ServerProcess:
        if self._server is None:
            raise ResourceError(f"{name_of(self)} was not started")
        return self._server

    # -- commands

    def _run(self, call: Call) -> Ended:
        """Run a program that asks the service."""
        self._refuse_dead()
        asks = replace(
            call,
            arguments=[with_port(word, self._port) for word in call.arguments],
            environment=self._with_port(call.environment or {}),
        )
        try:
            return super()._run(asks)
        finally:
            # That the service ended is told before how the program did that asked it.
            self._refuse_dead()

    @staticmethod
    def _values(ended: Ended) -> dict[str, Json]:
        """Return what a program used that asks: the names must not pass for the service's."""
        told = usage(ended)
        return {name if name == "exit_code" else f"client_{name}": told[name] for name in told}

    def _refuse_dead(self) -> None:
        server = self._up()
        if not server.running:
            raise CommandFailedError(f"{server.title} ended: {server.last_words()}")
